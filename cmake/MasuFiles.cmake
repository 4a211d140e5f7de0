# masu_files: what files of tensors are read with: Jansson for JSON, zlib for what is deflated.
find_package(PkgConfig REQUIRED)
pkg_check_modules(FILES REQUIRED IMPORTED_TARGET jansson zlib)
add_library(masu_files INTERFACE)
target_link_libraries(masu_files INTERFACE PkgConfig::FILES)
