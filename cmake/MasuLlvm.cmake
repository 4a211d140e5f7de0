# masu_llvm: LLVM 19's C interface as a library to link. Its headers are on the include path of the files in
# src/language/codegen and of no others.
#
# LLVM is linked in as archives where the system has them (Debian's llvm-19-dev does): relocating the one big
# shared object costs every start of masu some 40 ms, which is more than checking a thousand lines takes.
# Only what is referred to is kept. Without the archives the shared object serves, only slower. A program that starts
# seldom is linked to the shared object too, in a tenth of the time: its property MASU_LLVM_SHARED says so.
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

set(llvm_components core orcjit native passes)
set(MASU_LLVM_IS_STATIC OFF)
if(EXISTS ${llvm_folder}/libLLVMCore.a)
    set(MASU_LLVM_IS_STATIC ON)
    masu_ask_llvm(llvm_libraries --link-static --libs ${llvm_components})
    masu_ask_llvm(llvm_system --link-static --system-libs ${llvm_components})
    # libstdc++'s relocations are a tenth of the time of a short check. A sanitizer brings its own `new`.
    if(MASU_SANITIZE)
        set(llvm_standard_library -lstdc++)
    else()
        set(llvm_standard_library -l:libstdc++.a)
    endif()
    # --as-needed: the list names what any part of LLVM may want (libxml2, libz3), not what these parts do.
    set(llvm_libraries "${llvm_libraries} -Wl,--gc-sections -Wl,--push-state,--as-needed ${llvm_system} ${llvm_standard_library} -Wl,--pop-state")
    separate_arguments(llvm_libraries UNIX_COMMAND "${llvm_libraries}")
endif()
masu_ask_llvm(llvm_shared --link-shared --libs ${llvm_components})

add_library(masu_llvm_shared INTERFACE)
target_link_libraries(masu_llvm_shared INTERFACE -Wl,--push-state,--as-needed ${llvm_shared} -Wl,--pop-state)
add_library(masu_llvm_archives INTERFACE)
target_link_libraries(masu_llvm_archives INTERFACE ${llvm_libraries})
add_library(masu_llvm INTERFACE)
target_link_directories(masu_llvm INTERFACE ${llvm_folder})
if(MASU_LLVM_IS_STATIC AND EXISTS ${llvm_folder}/libLLVM.so)
    set(shared $<BOOL:$<TARGET_PROPERTY:MASU_LLVM_SHARED>>)
    target_link_libraries(masu_llvm INTERFACE
        $<${shared}:masu_llvm_shared> $<$<NOT:${shared}>:masu_llvm_archives>)
elseif(MASU_LLVM_IS_STATIC)
    target_link_libraries(masu_llvm INTERFACE masu_llvm_archives)
else()
    target_link_libraries(masu_llvm INTERFACE masu_llvm_shared)
endif()

file(GLOB_RECURSE codegen_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/language/codegen/*.c)
set_source_files_properties(${codegen_sources} PROPERTIES COMPILE_OPTIONS "-isystem;${llvm_include}")
