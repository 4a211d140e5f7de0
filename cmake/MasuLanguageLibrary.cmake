# The library of the language, src/language/library/*.tl, becomes a C file of masu_language.
file(GLOB_RECURSE library_texts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/language/library/*.tl)
list(SORT library_texts)
set(library_names ${CMAKE_SOURCE_DIR}/src/language/front/other_names.def)
set(library_source ${CMAKE_BINARY_DIR}/library_text.c)

foreach(part library text index facts)
    list(APPEND embed_sources ${CMAKE_SOURCE_DIR}/cmake/embed_${part}.c)
endforeach()
add_executable(masu_embed ${embed_sources})
target_compile_options(masu_embed PRIVATE -Wall -Wextra -D_GNU_SOURCE)
target_include_directories(masu_embed PRIVATE ${CMAKE_BINARY_DIR}/include)
add_custom_command(OUTPUT ${library_source}
    COMMAND masu_embed ${library_source} ${library_texts} ${library_names}
    DEPENDS masu_embed ${library_texts} ${library_names} VERBATIM
    COMMENT "Embedding the library of the language")
target_sources(masu_language_objects PRIVATE ${library_source})

# The functions of f32 that kernels call, as text: `masu build --c` writes those that a program needs.
set(vector_math ${CMAKE_SOURCE_DIR}/src/runtime/ops/vector_math.h)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/vector_math_text.c
    COMMAND ${CMAKE_COMMAND} -DTEXT=${vector_math} -DNAME=portable_vector_math -DHEADER=language/portable/functions.h
        -DOUT=${CMAKE_BINARY_DIR}/vector_math_text.c -P ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${vector_math} ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake VERBATIM
    COMMENT "Embedding functions of f32")
target_sources(masu_language_objects PRIVATE ${CMAKE_BINARY_DIR}/vector_math_text.c)
