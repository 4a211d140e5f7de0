# What fuzzing found stays found, and every program of the project goes the same way: compiled and verified after each
# pass, explained, asked about at forty places, laid out. The layout has the same tokens, and laid out again it is the
# same.
expect_status 0 "$MASU_BUILD/tests/fuzz/fuzz_programs" --try tests/fuzz/found/*.tl tests/golden/*.tl examples/*.tl
expect_in_stdout ' 0 findings'

# Broken on purpose, it is noticed: the same seeds give the same mutants, and half of them are refused.
expect_status 0 "$MASU_BUILD/tests/fuzz/fuzz_programs" --seconds=1 --seed=7 --keep="$MASU_TMP" tests/golden/lang_core_tour.tl
expect_in_stdout ', 0 findings'
