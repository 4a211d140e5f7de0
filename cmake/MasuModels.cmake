# masu_models: the readers of networks. flatc turns the table of fields into code; the C++ library is linked as an archive, so that
# the command's start loads nothing more.
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
find_program(MASU_FLATC flatc REQUIRED)
find_path(MASU_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)

set(models_generated ${CMAKE_BINARY_DIR}/models)
file(MAKE_DIRECTORY ${models_generated})
add_custom_command(OUTPUT ${models_generated}/tflite_generated.h
    COMMAND ${MASU_FLATC} --cpp -o ${models_generated} ${CMAKE_SOURCE_DIR}/src/models/tflite.fbs
    DEPENDS ${CMAKE_SOURCE_DIR}/src/models/tflite.fbs VERBATIM)

file(GLOB models_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/models/*.c ${CMAKE_SOURCE_DIR}/src/models/*.cc)
add_library(masu_models STATIC ${models_sources} ${models_generated}/tflite_generated.h)
target_include_directories(masu_models SYSTEM PRIVATE ${models_generated} ${MASU_FLATBUFFERS_INCLUDE})
# Nothing is thrown: what runs out of memory says so by a value.
target_compile_options(masu_models PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
target_link_libraries(masu_models PUBLIC masu_options masu_private_includes masu_base)
# What links C and C++ is linked by the C++ compiler.
target_link_options(masu_models INTERFACE -static-libstdc++ -static-libgcc)
