# masu vmlog: what a log adds up to, and a picture in which everything of it is.
log=$MASU_TMP/log
cat >"$log" <<'TEXT'
# a note
0,extent-add,1,4194304,1073741824,1073741824,0,0
1,piece-add,1,0,4194304,0,0,1
2,map,1,4194304,4194304,0,0,1
3,alloc,1,4194304,4000000,4194304,2097152,0
4,free,1,4194304,4000000,4194304,0,0
5,unmap,1,4194304,4194304,0,0,1
6,map,1,41943040,4194304,0,0,1
7,alloc,1,41943040,4000000,8388608,2097152,0
8,piece-cut,1,2,2097152,2097152,0,1
9,refused,1,0,99,0,0,0
this is no event
TEXT
expect_status 0 "$MASU" vmlog "$log" -o "$MASU_TMP/out.svg"
expect_in_stdout '10 events, 1 notes, 1 lines not understood'
expect_in_stdout '1 pieces moved, 1 blocks live at the end'
expect_in_stdout 'at most 4.0 MiB mapped, 4.0 MiB in the stock'
expect_stderr ''
grep -q '^<svg ' "$MASU_TMP/out.svg" || fail 'no picture'
# Two blocks (each: its addresses, and what was asked for), and the piece: before, after, and in two halves.
[ "$(grep -c "^<rect x='[0-9.]*' y='[0-9.]*'.*#cfe3f5'/>$" "$MASU_TMP/out.svg")" = 2 ] || fail "blocks: $(cat "$MASU_TMP/out.svg")"
[ "$(grep -c "stroke='#2f6f4f' stroke-width" "$MASU_TMP/out.svg")" = 4 ] || fail "pieces: $(cat "$MASU_TMP/out.svg")"
[ "$(grep -c "^<path .*#d1495b" "$MASU_TMP/out.svg")" = 2 ] || fail "moves and refusals: $(cat "$MASU_TMP/out.svg")"
! grep -qi nan "$MASU_TMP/out.svg" || fail 'a number is none'

# A piece that is cut and joined again: one, two, one, and none behind its end.
cat >"$MASU_TMP/joined" <<'TEXT'
0,extent-add,1,4194304,1073741824,1073741824,0,0
1,piece-add,1,0,4194304,0,0,1
2,map,1,4194304,4194304,0,0,1
3,piece-cut,1,2,1048576,3145728,0,1
4,piece-join,1,2,4194304,3145728,0,1
5,unmap,1,4194304,4194304,0,0,1
6,alloc,2,4096,10,10,0,0
7,free,2,4096,10,10,0,0
TEXT
expect_status 0 "$MASU" vmlog "$MASU_TMP/joined" -o "$MASU_TMP/joined.svg"
sed -n "s/^<rect x='\([0-9.]*\)' y='[0-9.]*' width='\([0-9.]*\)' height='\([0-9.]*\)'.*stroke='#2f6f4f' stroke-width.*/\1 \2 \3/p" \
    "$MASU_TMP/joined.svg" | awk '
    NR == 1 { wide = $2; high = $3; from = $1 }
    { if ($2 != wide) print "piece " NR " lasts " $2 ", not one event, " wide }
    NR == 2 || NR == 3 { heights += $3; if ($1 - from - wide > 0.02 || from + wide - $1 > 0.02) print "a half begins elsewhere" }
    NR == 4 && ($3 != high || $1 - from - 2 * wide > 0.03) { print "what is joined is not one" }
    END { if (NR != 4 || heights != high) print NR " pieces, halves of " heights " of " high }' >"$MASU_TMP/joined.txt"
[ ! -s "$MASU_TMP/joined.txt" ] || fail "$(cat "$MASU_TMP/joined.txt")"

"$MASU" vmlog - <"$log" >"$MASU_TMP.again" || fail 'not from standard input'
grep -q '^10 events' "$MASU_TMP.again" || fail "from standard input: $(cat "$MASU_TMP.again")"
expect_status 1 "$MASU" vmlog /nowhere/log
expect_in_stderr 'cannot read /nowhere/log'
: >"$MASU_TMP/empty"
expect_status 1 "$MASU" vmlog "$MASU_TMP/empty"
expect_in_stderr 'no event in it'
expect_status 1 "$MASU" vmlog "$log" -o /nowhere/out.svg
expect_status 2 "$MASU" vmlog
expect_status 2 "$MASU" vmlog "$log" -o
expect_status 2 "$MASU" vmlog "$log" "$log"
expect_status 2 "$MASU" vmlog --log "$log"
