# libmasu: base, devices, allocators and planner as one static and one shared library, with all that installing takes.
set(library_objects "")
foreach(layer base devices allocators planner)
    if(TARGET masu_${layer}_objects)
        list(APPEND library_objects $<TARGET_OBJECTS:masu_${layer}_objects>)
    endif()
endforeach()
if(NOT library_objects)
    return()
endif()

add_library(masu_static STATIC ${library_objects})
add_library(masu_shared SHARED ${library_objects})
foreach(kind static shared)
    target_link_libraries(masu_${kind} PRIVATE $<BUILD_INTERFACE:masu_options> Threads::Threads m)
    target_include_directories(masu_${kind} PUBLIC
        $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
        $<BUILD_INTERFACE:${MASU_GENERATED_INCLUDE}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(masu_${kind} PROPERTIES OUTPUT_NAME masu LINKER_LANGUAGE C)
endforeach()
set_target_properties(masu_static PROPERTIES EXPORT_NAME static)
set_target_properties(masu_shared PROPERTIES EXPORT_NAME masu
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
# threads that end after a dlclose still hand back what they cached
target_link_options(masu_shared PRIVATE -Wl,--no-undefined -Wl,-z,nodelete -Wl,--as-needed)

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/masu)
install(TARGETS masu_static masu_shared EXPORT masu_targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT masu_targets NAMESPACE masu:: FILE masu-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/masu-config.cmake.in
    ${CMAKE_BINARY_DIR}/masu-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/masu-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/masu-config.cmake ${CMAKE_BINARY_DIR}/masu-config-version.cmake
    DESTINATION ${package_folder})
# The .pc file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/masu.pc.in ${CMAKE_BINARY_DIR}/masu.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/masu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/masu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(FILES ${CMAKE_SOURCE_DIR}/src/runtime/abi.def ${CMAKE_SOURCE_DIR}/src/runtime/ops.def DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/masu)
