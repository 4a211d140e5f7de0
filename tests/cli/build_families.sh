# The families of faults as executables: what they print, how they end and what their report counts is what `masu run`
# says.
exe=$MASU_TMP/program
. tests/executables.sh

same_as_run_each 5 tests/golden/a*.tl
