# How every file of the project is compiled: dialect, warnings, include paths, sanitizers.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# The tables have one text, beside the code that implements them; <masu/abi.h> includes them as <masu/abi.def>,
# <masu/ops.def>.
set(MASU_GENERATED_INCLUDE ${CMAKE_BINARY_DIR}/include)
foreach(table abi ops)
    configure_file(${CMAKE_SOURCE_DIR}/src/runtime/${table}.def ${MASU_GENERATED_INCLUDE}/masu/${table}.def COPYONLY)
endforeach()
# What each operation does with an element, for the C that `masu build --c` writes.
foreach(table kernels element_functions)
    configure_file(${CMAKE_SOURCE_DIR}/src/runtime/ops/${table}.def ${MASU_GENERATED_INCLUDE}/masu/${table}.def COPYONLY)
endforeach()

# What `masu build --shared` compiles against, where the command lies; an installed one finds it in its prefix.
foreach(header module.h tensor.h export.h status.h status.def)
    configure_file(${CMAKE_SOURCE_DIR}/include/masu/${header} ${MASU_GENERATED_INCLUDE}/masu/${header} COPYONLY)
endforeach()

add_library(masu_options INTERFACE)
target_compile_options(masu_options INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>)
# Nothing reads errno after a function of <math.h>, so that loops with square roots become vectors.
target_compile_options(masu_options INTERFACE -fno-math-errno)
target_compile_definitions(masu_options INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=> $<$<BOOL:${MASU_HEAVY}>:MASU_HEAVY=1>)
# Debian 12's Valgrind does not read what clang writes as DWARF 5.
target_compile_options(masu_options INTERFACE $<$<C_COMPILER_ID:Clang>:-gdwarf-4>)
target_link_libraries(masu_options INTERFACE Threads::Threads m)
if(MASU_WERROR)
    target_compile_options(masu_options INTERFACE -Werror)
endif()
if(MASU_SANITIZE)
    target_compile_options(masu_options INTERFACE
        -fsanitize=${MASU_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
        # gcc would load what the program does not, and the sanitizer would blame the program
        $<$<C_COMPILER_ID:GNU>:-fno-hoist-adjacent-loads>)
    target_link_options(masu_options INTERFACE -fsanitize=${MASU_SANITIZE})
endif()

# What is installed, and what only the project itself may include.
add_library(masu_public_includes INTERFACE)
target_include_directories(masu_public_includes INTERFACE
    ${CMAKE_SOURCE_DIR}/include ${MASU_GENERATED_INCLUDE})
add_library(masu_private_includes INTERFACE)
target_include_directories(masu_private_includes INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(masu_private_includes INTERFACE masu_public_includes)
