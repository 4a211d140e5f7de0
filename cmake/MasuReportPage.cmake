# The page of `masu report`: src/tool/report/page.html with dygraphs, the library of npm that draws its plots, as Debian
# ships it (libjs-dygraphs), put in where the page says so. The page that a report is stays one file; the library's
# licence, which has to go with each copy, is in it.
find_path(DYGRAPHS_FOLDER dygraph.min.js
    PATHS /usr/share/javascript/dygraphs /usr/share/nodejs/dygraphs/dist DOC "The folder of dygraph.min.js")
find_file(DYGRAPHS_LICENCE NAMES copyright LICENSE.txt NO_DEFAULT_PATH
    PATHS /usr/share/doc/libjs-dygraphs ${DYGRAPHS_FOLDER} ${DYGRAPHS_FOLDER}/.. DOC "The licence of dygraphs")
if(NOT DYGRAPHS_FOLDER OR NOT DYGRAPHS_LICENCE)
    message(FATAL_ERROR "dygraphs is missing: dygraph.min.js is ${DYGRAPHS_FOLDER}, its licence ${DYGRAPHS_LICENCE}. "
        "Install libjs-dygraphs (scripts/setup.sh), or say -DDYGRAPHS_FOLDER=… -DDYGRAPHS_LICENCE=…")
endif()

set(report_page ${CMAKE_SOURCE_DIR}/src/tool/report/page.html)
set(report_parts ${DYGRAPHS_FOLDER}/dygraph.min.css ${DYGRAPHS_FOLDER}/dygraph.min.js ${DYGRAPHS_LICENCE})
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/report_page.c
    COMMAND ${CMAKE_COMMAND} -DPAGE=${report_page} -DCSS=${DYGRAPHS_FOLDER}/dygraph.min.css
        -DJS=${DYGRAPHS_FOLDER}/dygraph.min.js -DLICENCE=${DYGRAPHS_LICENCE} -DNAME=report_page
        -DHEADER=tool/report/report.h -DOUT=${CMAKE_BINARY_DIR}/report_page.c
        -P ${CMAKE_SOURCE_DIR}/cmake/join_report_page.cmake
    DEPENDS ${report_page} ${report_parts} ${CMAKE_SOURCE_DIR}/cmake/join_report_page.cmake
        ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake VERBATIM
    COMMENT "Embedding the page of masu report")
target_sources(masu_tool PRIVATE ${CMAKE_BINARY_DIR}/report_page.c)
