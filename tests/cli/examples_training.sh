# The examples that train reach what they are for: a solution, walks that arrive, a ring, letters that become likelier,
# digits that are told apart (of a set made here: stripes whose place is the digit).
awk 'BEGIN { srand(7)
    for (n = 0; n < 900; n++) {
        digit = n % 10
        for (p = 0; p < 64; p++) {
            on = digit < 5 ? int(p / 8) == digit + 1 : p % 8 == digit - 4
            printf "%d,", on ? 10 + int(rand() * 6) : int(rand() * 5)
        }
        print digit
    } }' >"$MASU_TMP/digits.csv"
expect_status 0 "$MASU" run --log "$MASU_TMP/d.csv" --plot "$MASU_TMP/d.svg" examples/digits.tl "$MASU_TMP/digits.csv" 60
grep -E '^6186 numbers trained; (9[5-9]|100)\.[0-9] % of 360 unseen digits are right$' "$MASU_TMP.stdout"
grep -F '>held out<' "$MASU_TMP/d.svg" >/dev/null
expect_status 0 "$MASU" run --log "$MASU_TMP/p.csv" examples/pinn.tl
grep -E 'off by at most 0\.0[0-4]' "$MASU_TMP.stdout"
expect_status 0 "$MASU" run --log "$MASU_TMP/g.csv" examples/grid.tl
grep -E '^(9[5-9]|100) of 100 walks arrive' "$MASU_TMP.stdout"
expect_status 0 "$MASU" run --log "$MASU_TMP/v.csv" examples/vae.tl 600
grep -E '^1[3-9][0-9][0-9] of 2000 points' "$MASU_TMP.stdout"
expect_status 0 "$MASU" run --log "$MASU_TMP/l.csv" examples/letters.tl docs/ownership.md 60
awk -F, '$2 == "loss" { last = $3; if (first == "") first = $3 } END { exit !(last < first - 1) }' "$MASU_TMP/l.csv"
# The judge is not the program's own: 32 rows of one queen each, no two in a column or on a diagonal.
expect_status 0 "$MASU" run --seed 1 --log "$MASU_TMP/q.csv" examples/queens.tl
grep '^[.Q]' "$MASU_TMP.stdout" | awk '{ n = 0
    for (c = 1; c <= NF; c++) if ($c == "Q") { n++; bad += column[c]++ + rising[NR + c]++ + falling[NR - c]++ }
    bad += n != 1 || NF != 32
} END { exit bad || NR != 32 }' || fail 'not a board of 32 queens'
