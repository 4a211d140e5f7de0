# The command: build/<preset>/masu. And what its executables (`masu build`) are linked with: everything below the
# compiler, what the compiler says about errors, and main, as one archive from which the linker takes what it needs.
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tool/*.c)
list(FILTER command_sources EXCLUDE REGEX "/src/tool/native/")
if(command_sources)
    add_library(masu_program STATIC
        ${CMAKE_SOURCE_DIR}/src/tool/native/main.c ${CMAKE_SOURCE_DIR}/src/tool/report.c
        ${CMAKE_SOURCE_DIR}/src/language/native.c ${CMAKE_SOURCE_DIR}/src/language/error_text.c
        ${CMAKE_SOURCE_DIR}/src/language/front/diagnostics.c ${CMAKE_SOURCE_DIR}/src/language/front/source.c
        $<TARGET_OBJECTS:masu_runtime_objects> $<TARGET_OBJECTS:masu_allocators_objects>
        $<TARGET_OBJECTS:masu_devices_objects> $<TARGET_OBJECTS:masu_base_objects>)
    target_link_libraries(masu_program PRIVATE masu_options masu_private_includes)
    set_target_properties(masu_program PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    install(TARGETS masu_program ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

    add_executable(masu ${command_sources})
    target_link_libraries(masu PRIVATE masu_language)
    # At a fixed address LLVM's tables need no relocation: a third of every start.
    target_link_options(masu PRIVATE -no-pie)
    list(JOIN OPENBLAS_LINK_LIBRARIES " " program_libraries)
    set(program_libraries "${program_libraries} -lm -lpthread")
    if(MASU_SANITIZE)
        set(program_libraries "${program_libraries} -fsanitize=${MASU_SANITIZE}")
    endif()
    target_compile_definitions(masu PRIVATE
        MASU_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}" MASU_LINK_LIBRARIES="${program_libraries}")
    add_dependencies(masu masu_program)
    set_target_properties(masu PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    install(TARGETS masu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
