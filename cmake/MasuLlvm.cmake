# masu_llvm: LLVM 19's C interface as a library to link. Its headers are on the include path of the files in
# src/language/codegen and of no others.
find_program(MASU_LLVM_CONFIG NAMES llvm-config-19 llvm-config REQUIRED)

function(masu_ask_llvm variable)
    execute_process(COMMAND ${MASU_LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE answer
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${variable} ${answer} PARENT_SCOPE)
endfunction()

masu_ask_llvm(llvm_version --version)
if(NOT llvm_version MATCHES "^19\\.")
    message(FATAL_ERROR "masu needs LLVM 19; ${MASU_LLVM_CONFIG} is version ${llvm_version}")
endif()
masu_ask_llvm(llvm_include --includedir)
masu_ask_llvm(llvm_folder --libdir)
masu_ask_llvm(llvm_libraries --link-shared --libs core orcjit native passes)
string(REPLACE " " ";" llvm_libraries "${llvm_libraries}")

add_library(masu_llvm INTERFACE)
target_link_directories(masu_llvm INTERFACE ${llvm_folder})
target_link_libraries(masu_llvm INTERFACE ${llvm_libraries})

file(GLOB_RECURSE codegen_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/language/codegen/*.c)
set_source_files_properties(${codegen_sources} PROPERTIES COMPILE_OPTIONS "-isystem;${llvm_include}")
