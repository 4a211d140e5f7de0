# Adapters to other people's software; each a library of its own that sees include/ only.
#
#     integrations/cuda ─► libmasu_cuda.so, loaded in front of CUDA programs (LD_PRELOAD)
#     integrations/malloc ─► libmasu-malloc.so, in place of malloc (LD_PRELOAD, or linked)
#     integrations/torch ─► libmasu-torch.so, for PyTorch's CUDAPluggableAllocator
if(TARGET masu_static)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/integrations/cuda/*.c)
    add_library(masu_cuda SHARED ${cuda_sources})
    # Handing dlsym on must be a jump, in every build, and works before a sanitizer is set up: see the files.
    set_source_files_properties(${CMAKE_SOURCE_DIR}/integrations/cuda/resolve.c
        ${CMAKE_SOURCE_DIR}/integrations/cuda/behind.c
        ${CMAKE_SOURCE_DIR}/integrations/cuda/loaded.c PROPERTIES
        COMPILE_OPTIONS "-O2;-fno-sanitize=all;-foptimize-sibling-calls")
    target_link_libraries(masu_cuda PRIVATE masu_options masu_public_includes masu_static ${CMAKE_DL_LIBS})
    # Only the hooks leave it: the program may carry a libmasu of its own. What it means by a hook is its own, whoever
    # else exports the name.
    target_link_options(masu_cuda PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions)
    install(TARGETS masu_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${CMAKE_SOURCE_DIR}/integrations/cuda/masu_cuda.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/masu)
endif()

if(TARGET masu_static)
    file(GLOB torch_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/integrations/torch/*.c)
    add_library(masu_torch SHARED ${torch_sources})
    target_link_libraries(masu_torch PRIVATE masu_options masu_public_includes masu_static Threads::Threads ${CMAKE_DL_LIBS})
    target_compile_options(masu_torch PRIVATE -fvisibility=hidden)
    # Only the functions of masu_torch.h leave it; what it was asked to watch at fork and at the end stays watched.
    target_link_options(masu_torch PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions -Wl,-z,nodelete)
    set_target_properties(masu_torch PROPERTIES OUTPUT_NAME masu-torch)
    install(TARGETS masu_torch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${CMAKE_SOURCE_DIR}/integrations/torch/masu_torch.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/masu)
    install(FILES ${CMAKE_SOURCE_DIR}/integrations/torch/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/masu RENAME torch.md)
endif()

# The Python module, for the stable interface of 3.11 on: one file for every Python from there. Python's headers are all
# that it needs; the interpreter that loads it has the rest.
#
#     integrations/python ─► masu/__init__.abi3.so, the package `masu`, with its types
option(MASU_PYTHON "Build the Python module where Python's headers are (python3-dev)" ON)
if(TARGET masu_static AND MASU_PYTHON)
    find_path(MASU_PYTHON_INCLUDE Python.h PATH_SUFFIXES python3.13 python3.12 python3.11
        DOC "Where Python.h is, of 3.11 or later")
    mark_as_advanced(MASU_PYTHON_INCLUDE)
    if(MASU_PYTHON_INCLUDE)
        file(GLOB python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/integrations/python/*.c)
        add_library(masu_python MODULE ${python_sources})
        target_include_directories(masu_python SYSTEM PRIVATE ${MASU_PYTHON_INCLUDE})
        target_link_libraries(masu_python PRIVATE masu_options masu_public_includes masu_static ${CMAKE_DL_LIBS})
        set_target_properties(masu_python PROPERTIES
            PREFIX "" OUTPUT_NAME __init__ SUFFIX .abi3.so
            LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/masu)
        # Only PyInit_masu leaves it; threads that end later still hand back what they cached.
        target_link_options(masu_python PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions -Wl,-z,nodelete)
        foreach(python_file __init__.pyi executorch.py py.typed)
            configure_file(${CMAKE_SOURCE_DIR}/integrations/python/${python_file} ${CMAKE_BINARY_DIR}/python/masu/${python_file} COPYONLY)
        endforeach()
        cmake_path(GET MASU_PYTHON_INCLUDE FILENAME python_version)
        set(MASU_PYTHON_FOLDER lib/${python_version}/dist-packages CACHE STRING
            "Where the Python module is installed, below the prefix")
        install(TARGETS masu_python LIBRARY DESTINATION ${MASU_PYTHON_FOLDER}/masu)
        install(FILES ${CMAKE_BINARY_DIR}/python/masu/__init__.pyi ${CMAKE_BINARY_DIR}/python/masu/executorch.py
            ${CMAKE_BINARY_DIR}/python/masu/py.typed
            DESTINATION ${MASU_PYTHON_FOLDER}/masu)
    endif()
endif()

# The library is built a second time for it, with metadata from pages, for the C library's malloc is what it replaces.
# No sanitizer goes with that: each replaces malloc itself.
if(TARGET masu_static AND NOT MASU_SANITIZE)
    file(GLOB malloc_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/integrations/malloc/*.c)
    file(GLOB_RECURSE malloc_pool_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/base/*.c
        ${CMAKE_SOURCE_DIR}/src/devices/*.c ${CMAKE_SOURCE_DIR}/src/allocators/*.c)
    # Its versions for several processors would bring a constructor along that asks which one this is, at each start.
    list(FILTER malloc_pool_sources EXCLUDE REGEX "/rng[a-z_]*\\.c$")
    # Each page of the library is resident in each program: small where a call comes by seldom, fast where it is often.
    set(malloc_often_sources ${malloc_pool_sources})
    list(FILTER malloc_often_sources INCLUDE REGEX
        "/(cache|cache_large|process_heap|process_resize|bucket|bucket_lend|bucket_slabs|bestfit|block|free_index)\\.c$")
    list(REMOVE_ITEM malloc_pool_sources ${malloc_often_sources})
    add_library(masu_malloc_often OBJECT ${malloc_often_sources})
    add_library(masu_malloc_seldom OBJECT ${malloc_pool_sources})
    target_compile_options(masu_malloc_often PRIVATE -O2)
    target_compile_options(masu_malloc_seldom PRIVATE -Os)
    foreach(pool masu_malloc_often masu_malloc_seldom)
        target_link_libraries(${pool} PRIVATE masu_options masu_private_includes)
        # Every validity check at every malloc of a program would be too slow for any: that is what the tests of the
        # layers are for.
        target_compile_definitions(${pool} PRIVATE MASU_META_PAGES=1 MASU_HIDDEN=1)
        # No exception passes through it: tables for unwinding would be a sixth of its pages. Debuggers have .debug_frame.
        target_compile_options(${pool} PRIVATE -UMASU_HEAVY -ftls-model=initial-exec -ffunction-sections -fdata-sections
            -fno-asynchronous-unwind-tables)
    endforeach()
    add_library(masu_malloc SHARED ${malloc_sources} $<TARGET_OBJECTS:masu_malloc_often>
        $<TARGET_OBJECTS:masu_malloc_seldom>)
    target_link_libraries(masu_malloc PRIVATE masu_options masu_public_includes ${CMAKE_DL_LIBS})
    target_compile_options(masu_malloc PRIVATE -fno-builtin -ftls-model=initial-exec -fexceptions -fdata-sections)
    set_source_files_properties(${malloc_sources} PROPERTIES COMPILE_OPTIONS -Os)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/integrations/malloc/malloc.c
        ${CMAKE_SOURCE_DIR}/integrations/malloc/new.c PROPERTIES COMPILE_OPTIONS -O2)
    # Only the names of malloc leave it; it means its own by them, and stays for threads that end late.
    target_compile_definitions(masu_malloc PRIVATE MASU_HIDDEN=1)
    target_link_options(masu_malloc PRIVATE -Wl,-Bsymbolic-functions -Wl,--gc-sections -Wl,-z,nodelete -Wl,--as-needed
        -Wl,--no-undefined)
    set_target_properties(masu_malloc PROPERTIES OUTPUT_NAME masu-malloc)
    install(TARGETS masu_malloc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${CMAKE_SOURCE_DIR}/integrations/malloc/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/masu RENAME malloc.md)
endif()
