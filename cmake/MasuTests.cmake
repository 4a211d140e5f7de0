# Test programs, into build/<preset>/tests with the folders of the source tree. tests/run.sh finds and runs
# them: one process each, with a timeout.
#
#     tests/unit/<layer>/test_*.c   one cmocka program each, linked to its layer; other .c files of that
#                                   folder are helpers that each of its programs gets
#     tests/model/test_*.c, tests/hostile/test_*.c   likewise, linked to everything that is built
#     tests/fuzz/programs/test_*.c                   random programs of the language
#     tests/fake_cuda/                               libraries that stand for CUDA's where there is none
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
add_custom_target(masu_tests)

# What each file of a test is compiled with; more arguments: the libraries under test.
function(masu_test_target target)
    target_link_libraries(${target} PRIVATE ${ARGN} PkgConfig::CMOCKA)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE
        MASU_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MASU_BUILD_DIR="${CMAKE_BINARY_DIR}"
        $<$<TARGET_EXISTS:masu_language>:MASU_TEST_LANGUAGE=1>)
endfunction()

function(masu_test_folder folder)
    file(GLOB_RECURSE programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/test_*.c)
    file(GLOB_RECURSE helpers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.c)
    list(FILTER helpers EXCLUDE REGEX "/test_[^/]*\\.c$")
    string(MAKE_C_IDENTIFIER ${folder} prefix)
    set(objects)
    if(helpers)
        add_library(${prefix}_helpers OBJECT EXCLUDE_FROM_ALL ${helpers})
        masu_test_target(${prefix}_helpers ${ARGN})
        set(objects $<TARGET_OBJECTS:${prefix}_helpers>)
    endif()
    foreach(source IN LISTS programs)
        cmake_path(GET source STEM stem)
        set(target ${prefix}_${stem})
        add_executable(${target} ${source} ${objects})
        masu_test_target(${target} ${ARGN})
        set_target_properties(${target} PROPERTIES
            OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${folder} MASU_LLVM_SHARED ON)
        add_dependencies(${target} fake_cuda_driver masu_shared) # some open them at run time
        add_dependencies(masu_tests ${target})
    endforeach()
endfunction()

set(top masu_allocators masu_planner)
foreach(layer base devices allocators planner)
    masu_test_folder(unit/${layer} masu_${layer})
endforeach()
foreach(layer runtime language)
    if(TARGET masu_${layer})
        masu_test_folder(unit/${layer} masu_${layer})
        set(top masu_${layer})
    endif()
endforeach()
masu_test_folder(unit/recording masu_recording)
# The readers of masu plan and masu top and the table of masu whatif, without the rest of the command.
add_library(masu_plan_readers STATIC EXCLUDE_FROM_ALL)
foreach(part read_rows read_json json_text read_operators csv_relations file_text judge_parts)
    target_sources(masu_plan_readers PRIVATE ${CMAKE_SOURCE_DIR}/src/tool/plan/${part}.c)
endforeach()
target_sources(masu_plan_readers PRIVATE ${CMAKE_SOURCE_DIR}/src/tool/top/page.c
    ${CMAKE_SOURCE_DIR}/src/tool/whatif/rows.c)
target_link_libraries(masu_plan_readers PUBLIC ${top})
masu_test_folder(unit/tool masu_plan_readers)
masu_test_folder(model ${top})
if(TARGET masu_language)
    masu_test_folder(fuzz/programs masu_language)
endif()
masu_test_folder(hostile ${top})

# Mutated programs through the compiler (make fuzz); the tests give it the findings of earlier runs.
if(TARGET masu_language)
    add_executable(fuzz_programs ${CMAKE_SOURCE_DIR}/tests/fuzz/programs.c
        ${CMAKE_SOURCE_DIR}/tests/fuzz/mutate.c)
    target_link_libraries(fuzz_programs PRIVATE masu_language)
    set_target_properties(fuzz_programs PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fuzz MASU_LLVM_SHARED ON)
    add_dependencies(masu_tests fuzz_programs)
endif()

# What stands for CUDA in tests, under the names by which programs ask for the real one: the driver, the runtime, and
# a program with the runtime beside it and inside it. Never sanitized: other programs are loaded with them.
set(fake_cuda ${CMAKE_SOURCE_DIR}/tests/fake_cuda)
add_library(fake_cuda_driver SHARED ${fake_cuda}/driver.c ${fake_cuda}/memory.c ${fake_cuda}/streams.c
    ${fake_cuda}/lookup.c)
target_link_options(fake_cuda_driver PRIVATE -Wl,-Bsymbolic-functions)
set_target_properties(fake_cuda_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
add_library(fake_cuda_runtime SHARED ${fake_cuda}/runtime.c)
set_target_properties(fake_cuda_runtime PROPERTIES OUTPUT_NAME cudart SOVERSION 12)
target_link_options(fake_cuda_runtime PRIVATE -Wl,--version-script=${fake_cuda}/runtime.map)
add_executable(fake_cuda_program ${fake_cuda}/program.c)
target_link_libraries(fake_cuda_program PRIVATE fake_cuda_runtime)
add_executable(fake_cuda_static_program ${fake_cuda}/program.c ${fake_cuda}/runtime.c)
target_compile_definitions(fake_cuda_static_program PRIVATE FAKE_STATIC=1)
add_executable(fake_cuda_driver_program ${fake_cuda}/driver_program.c)
target_link_libraries(fake_cuda_driver_program PRIVATE fake_cuda_driver)
add_library(fake_cuda_plugin MODULE ${fake_cuda}/scopes.c)
target_compile_definitions(fake_cuda_plugin PRIVATE PLUGIN=1)
target_link_libraries(fake_cuda_plugin PRIVATE fake_cuda_runtime)
add_library(fake_cuda_wrapper SHARED ${fake_cuda}/scopes.c)
target_compile_definitions(fake_cuda_wrapper PRIVATE WRAPPER=1)
add_executable(fake_cuda_host ${fake_cuda}/scopes.c)
# A program that exports the runtime that it carries.
add_executable(fake_cuda_exporting_program ${fake_cuda}/program.c ${fake_cuda}/runtime.c)
set_target_properties(fake_cuda_exporting_program PROPERTIES ENABLE_EXPORTS ON)
foreach(target fake_cuda_driver fake_cuda_runtime fake_cuda_program fake_cuda_static_program fake_cuda_driver_program
        fake_cuda_plugin fake_cuda_wrapper fake_cuda_host fake_cuda_exporting_program)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=)
    target_compile_options(${target} PRIVATE -Wall -Wextra)
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake_cuda
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake_cuda)
    add_dependencies(masu_tests ${target})
endforeach()
if(TARGET masu_cuda)
    add_dependencies(masu_tests masu_cuda masu_torch)
endif()
