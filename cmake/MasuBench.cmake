# Measurements: bench/NAME.c becomes build/<preset>/bench/NAME. They see what a user sees, include/ only.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
if(bench_sources AND TARGET masu_static)
    add_custom_target(masu_bench)
    foreach(source IN LISTS bench_sources)
        cmake_path(GET source STEM stem)
        add_executable(bench_${stem} ${source})
        target_link_libraries(bench_${stem} PRIVATE masu_options masu_public_includes masu_static)
        target_compile_definitions(bench_${stem} PRIVATE
            MASU_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MASU_BUILD_DIR="${CMAKE_BINARY_DIR}")
        set_target_properties(bench_${stem} PROPERTIES
            OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
        add_dependencies(masu_bench bench_${stem})
    endforeach()
endif()
