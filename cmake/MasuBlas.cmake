# masu_blas: the cblas interface of OpenBLAS, through pkg-config.
find_package(PkgConfig REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
add_library(masu_blas INTERFACE)
target_link_libraries(masu_blas INTERFACE PkgConfig::OPENBLAS)
