# masu_models: the readers of .tflite and .onnx files. flatc and protoc-c turn the two tables of fields into code; what
# they need at run time is linked as archives, so that the command's start loads nothing more.
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
find_program(MASU_FLATC flatc REQUIRED)
find_program(MASU_PROTOC protoc-c REQUIRED)
find_path(MASU_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
find_path(MASU_PROTOBUF_INCLUDE protobuf-c/protobuf-c.h REQUIRED)
find_library(MASU_PROTOBUF_LIBRARY NAMES libprotobuf-c.a protobuf-c REQUIRED)

set(models_generated ${CMAKE_BINARY_DIR}/models)
file(MAKE_DIRECTORY ${models_generated})
add_custom_command(OUTPUT ${models_generated}/tflite_generated.h
    COMMAND ${MASU_FLATC} --cpp -o ${models_generated} ${CMAKE_SOURCE_DIR}/src/models/tflite.fbs
    DEPENDS ${CMAKE_SOURCE_DIR}/src/models/tflite.fbs VERBATIM)
add_custom_command(OUTPUT ${models_generated}/onnx.pb-c.c ${models_generated}/onnx.pb-c.h
    COMMAND ${MASU_PROTOC} --c_out=${models_generated} --proto_path=${CMAKE_SOURCE_DIR}/src/models onnx.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/models/onnx.proto VERBATIM)
set_source_files_properties(${models_generated}/onnx.pb-c.c PROPERTIES COMPILE_OPTIONS -w)

file(GLOB models_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/models/*.c ${CMAKE_SOURCE_DIR}/src/models/*.cc
    ${CMAKE_SOURCE_DIR}/src/models/import/*.c)
file(GLOB import_text CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/models/import/onnx*.tl)
add_custom_command(OUTPUT ${models_generated}/import_library.c
    COMMAND ${CMAKE_COMMAND} "-DTEXT=${import_text}" -DNAME=import_library -DHEADER=models/import/import.h
        -DOUT=${models_generated}/import_library.c -P ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${import_text} ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake VERBATIM)
add_library(masu_models STATIC ${models_sources} ${models_generated}/tflite_generated.h ${models_generated}/onnx.pb-c.c
    ${models_generated}/import_library.c)
target_include_directories(masu_models SYSTEM PRIVATE ${models_generated} ${MASU_FLATBUFFERS_INCLUDE} ${MASU_PROTOBUF_INCLUDE})
# Nothing is thrown: what runs out of memory says so by a value.
target_compile_options(masu_models PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
target_link_libraries(masu_models PUBLIC masu_options masu_private_includes masu_base PRIVATE ${MASU_PROTOBUF_LIBRARY})
# What links C and C++ is linked by the C++ compiler.
target_link_options(masu_models INTERFACE -static-libstdc++ -static-libgcc)
