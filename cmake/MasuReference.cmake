# What users look things up in: manual pages and completions for shells, made from the headers and from what the command
# says of itself, so that they cannot fall behind (scripts/reference).
find_program(MASU_AWK NAMES awk REQUIRED)
set(reference ${CMAKE_SOURCE_DIR}/scripts/reference)
set(reference_out ${CMAKE_BINARY_DIR}/reference)

file(GLOB reference_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/masu/*.h)
list(REMOVE_ITEM reference_headers ${CMAKE_SOURCE_DIR}/include/masu/masu.h)
list(PREPEND reference_headers ${CMAKE_SOURCE_DIR}/include/masu/masu.h)
list(APPEND reference_headers ${CMAKE_SOURCE_DIR}/include/masu/status.def)
add_custom_command(OUTPUT ${reference_out}/libmasu.3
    COMMAND ${CMAKE_COMMAND} -E make_directory ${reference_out}
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${MASU_AWK} -v version=${PROJECT_VERSION} -f ${reference}/roff.awk
        -f ${reference}/library.awk ${reference_headers} > ${reference_out}/libmasu.3
    DEPENDS ${reference_headers} ${reference}/roff.awk ${reference}/library.awk VERBATIM
    COMMENT "Writing libmasu(3)")
set(reference_made ${reference_out}/libmasu.3)
install(FILES ${reference_out}/libmasu.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

if(TARGET masu)
    add_custom_command(OUTPUT ${reference_out}/options.tsv
        COMMAND sh ${reference}/commands.sh $<TARGET_FILE:masu> ${reference_out}
        DEPENDS masu ${reference}/commands.sh ${reference}/roff.awk ${reference}/pages.awk ${reference}/options.awk
            ${reference}/completions.awk VERBATIM
        COMMENT "Writing masu(1), its subcommands, and completions")
    list(APPEND reference_made ${reference_out}/options.tsv)
    install(DIRECTORY ${reference_out}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    install(FILES ${reference_out}/bash/masu DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${reference_out}/zsh/_masu DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${reference_out}/fish/masu.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
add_custom_target(masu_reference ALL DEPENDS ${reference_made})
