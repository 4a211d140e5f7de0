# The command: build/<preset>/masu and masu-compiler. And what its executables (`masu build`) are linked with:
# everything below the compiler, what the compiler says about errors, and main, as one archive from which the linker
# takes what it needs.
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tool/*.c)
list(FILTER command_sources EXCLUDE REGEX "/src/tool/(native/native_|compiler/|main\\.c$)")
file(GLOB compiler_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tool/compiler/*.c)
if(command_sources)
    add_library(masu_program STATIC
        ${CMAKE_SOURCE_DIR}/src/tool/native/native_main.c ${CMAKE_SOURCE_DIR}/src/tool/native/native_module.c
        ${CMAKE_SOURCE_DIR}/src/tool/native/run_end.c ${CMAKE_SOURCE_DIR}/src/tool/native/run_trace.c ${CMAKE_SOURCE_DIR}/src/tool/native/run_publish.c ${CMAKE_SOURCE_DIR}/src/tool/native/plot.c ${CMAKE_SOURCE_DIR}/src/tool/native/counts_by_line.c
        ${CMAKE_SOURCE_DIR}/src/language/native_error.c ${CMAKE_SOURCE_DIR}/src/language/error_text.c
        ${CMAKE_SOURCE_DIR}/src/language/diagnose/diagnostics.c ${CMAKE_SOURCE_DIR}/src/language/diagnose/source.c
        $<TARGET_OBJECTS:masu_runtime_objects> $<TARGET_OBJECTS:masu_allocators_objects>
        $<TARGET_OBJECTS:masu_devices_objects> $<TARGET_OBJECTS:masu_base_objects>)
    target_link_libraries(masu_program PRIVATE masu_options masu_private_includes)
    set_target_properties(masu_program PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    install(TARGETS masu_program ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

    # Two programs: masu starts at once, masu-compiler holds LLVM and BLAS and is what `masu run` and `masu build`
    # become. Of the archives the linker takes what is referred to, and only masu-compiler names masu_llvm.
    add_library(masu_tool STATIC ${command_sources})
    # The page of `masu report`, with the library that draws its plots, becomes a part of the command.
    include(MasuReportPage)
    include(MasuPerfetto)
    # The screen of `masu top`. The archives: a command that starts at once has no more libraries to search for.
    find_library(NCURSES_LIBRARY NAMES libncursesw.a ncursesw REQUIRED)
    find_library(TINFO_LIBRARY NAMES libtinfo.a tinfo)
    target_link_libraries(masu_tool PUBLIC masu_language masu_models masu_recording masu_perfetto ${NCURSES_LIBRARY}
        $<$<BOOL:${TINFO_LIBRARY}>:${TINFO_LIBRARY}>)
    list(JOIN OPENBLAS_LINK_LIBRARIES " " program_libraries)
    list(JOIN FILES_LINK_LIBRARIES " " file_libraries)
    set(program_libraries "${program_libraries} ${file_libraries} -lm -lpthread")
    if(MASU_SANITIZE)
        set(program_libraries "${program_libraries} -fsanitize=${MASU_SANITIZE}")
    endif()
    target_compile_definitions(masu_tool PRIVATE MASU_COMPILER_FOLDER="${CMAKE_INSTALL_LIBEXECDIR}")

    add_executable(masu ${CMAKE_SOURCE_DIR}/src/tool/main.c)
    add_executable(masu_compiler ${compiler_sources})
    target_compile_definitions(masu_compiler PRIVATE
        MASU_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}" MASU_LINK_LIBRARIES="${program_libraries}")
    foreach(command masu masu_compiler)
        target_link_libraries(${command} PRIVATE masu_tool)
        # At a fixed address LLVM's tables need no relocation: a third of every start. What the system's libraries are
        # searched for costs, too.
        target_link_options(${command} PRIVATE -no-pie -Wl,--gc-sections -Wl,--as-needed)
        set_target_properties(${command} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} SKIP_BUILD_RPATH ${MASU_LLVM_IS_STATIC})
    endforeach()
    set_target_properties(masu_compiler PROPERTIES OUTPUT_NAME masu-compiler)
    add_dependencies(masu masu_compiler)
    add_dependencies(masu_compiler masu_program)
    install(TARGETS masu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(TARGETS masu_compiler RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR})
endif()
