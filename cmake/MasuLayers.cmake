# masu_layer(NAME [DEPENDS target…]): the static library masu_NAME from every .c file under src/NAME.
#
# Its objects stand apart as masu_NAME_objects, so that libmasu can be put together from several layers.
# A folder without sources gives an empty library that passes its dependencies on.
function(masu_layer name)
    cmake_parse_arguments(layer "" "" "DEPENDS" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
    if(NOT sources)
        add_library(masu_${name} INTERFACE)
        target_link_libraries(masu_${name} INTERFACE masu_options masu_private_includes ${layer_DEPENDS})
        return()
    endif()
    add_library(masu_${name}_objects OBJECT ${sources})
    target_link_libraries(masu_${name}_objects PRIVATE masu_options masu_private_includes ${layer_DEPENDS})
    add_library(masu_${name} STATIC $<TARGET_OBJECTS:masu_${name}_objects>)
    target_link_libraries(masu_${name} PUBLIC masu_options masu_private_includes ${layer_DEPENDS})
endfunction()
