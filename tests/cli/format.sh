# scripts/check_format.sh: every C file is written as .clang-format says, no line is longer than 120 characters and no declaration
# is torn by its comment; and the script sees each kind of fault in a small tree. .git-blame-ignore-revs names commits that exist.
tree=$MASU_TMP/tree
mkdir -p "$tree/src"
cp .clang-format "$tree"
printf '/* %0114d */\n' 0 >"$tree/src/right.c"
if MASU_LENGTH=$(sh scripts/check_format.sh "$tree" 2>&1); then installed=yes; else installed=; fi
printf '/* é%0114d */\n' 0 >"$tree/src/long.c"
expect_status 1 sh scripts/check_format.sh "$tree"
grep -q '^src/long.c:1:' "$MASU_TMP.stdout" || fail 'a line of 121 characters is not seen'
! grep -q right.c "$MASU_TMP.stdout" || fail 'a line of 120 characters is called long'
rm "$tree/src/long.c"
printf 'int first(int a,\n          int b); /* whole */\n' >"$tree/src/torn.h"
expect_status 1 sh scripts/check_format.sh "$tree"
grep -q '^src/torn.h:2:' "$MASU_TMP.stdout" || fail 'a torn declaration is not seen'
rm "$tree/src/torn.h"
if [ -d .git ] || [ -f .git ]; then
    grep -v '^#' .git-blame-ignore-revs | while read -r commit; do
        git cat-file -e "$commit^{commit}" 2>/dev/null || git rev-parse --is-shallow-repository | grep -q true ||
            fail ".git-blame-ignore-revs: $commit is not a commit"
    done
fi
if [ -z "$installed" ]; then
    expect_status 77 sh scripts/check_format.sh
    skip "${MASU_LENGTH#check_format: } is installed; the length of lines was checked"
fi
expect_status 0 sh scripts/check_format.sh
printf 'int  f( void ) { if (1) { return 2; } }\n' >"$tree/src/crooked.c"
expect_status 1 sh scripts/check_format.sh "$tree"
grep -q 'src/crooked.c:1:' "$MASU_TMP.stderr" || fail 'a crooked line is not seen'
