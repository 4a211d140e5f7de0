# The command: build/<preset>/masu.
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tool/*.c)
if(command_sources)
    add_executable(masu ${command_sources})
    target_link_libraries(masu PRIVATE masu_language)
    set_target_properties(masu PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    install(TARGETS masu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
