# Adapters to other people's software; each a library of its own that sees include/ only.
#
#     integrations/cuda ─► libmasu_cuda.so, loaded in front of CUDA programs (LD_PRELOAD)
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
