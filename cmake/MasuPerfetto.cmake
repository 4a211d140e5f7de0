# masu_perfetto: the messages of Perfetto's traces that masu writes, from our own table of them. protoc-c makes the C.
# The library is linked as an archive: the command's start loads nothing more.
find_program(MASU_PROTOC_C protoc-c REQUIRED)
find_library(MASU_PROTOBUF_C NAMES libprotobuf-c.a REQUIRED)
find_path(MASU_PROTOBUF_C_INCLUDE protobuf-c/protobuf-c.h REQUIRED)
set(perfetto_folder ${CMAKE_BINARY_DIR}/perfetto)
file(MAKE_DIRECTORY ${perfetto_folder})
add_custom_command(
    OUTPUT ${perfetto_folder}/perfetto.pb-c.c ${perfetto_folder}/perfetto.pb-c.h
    COMMAND ${MASU_PROTOC_C} --proto_path=${CMAKE_SOURCE_DIR}/src/tool/export --c_out=${perfetto_folder} perfetto.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/tool/export/perfetto.proto
    VERBATIM)
add_library(masu_perfetto STATIC ${perfetto_folder}/perfetto.pb-c.c)
target_include_directories(masu_perfetto PUBLIC ${perfetto_folder} ${MASU_PROTOBUF_C_INCLUDE})
target_link_libraries(masu_perfetto PUBLIC ${MASU_PROTOBUF_C})
