# scripts/check_counts.sh: the tree has no more of each row than its table allows; and each row finds in a small tree
# the places that it is for, and only these.
expect_status 0 sh scripts/check_counts.sh "$MASU_BUILD"
rows=$(sed -n 's|^\([a-z_]*\) *[0-9][0-9]* *[0-9][0-9]* .*|\1|p' scripts/check_counts.sh | wc -l)
[ "$(grep -c 'of at most' "$MASU_TMP.stdout")" -eq "$rows" ] || fail "not every row was counted"
tree=$MASU_TMP/tree
mkdir -p "$tree/src/language/front" "$tree/integrations" "$tree/include" "$tree/docs"
cp -r scripts "$tree"
for page in README ARCHITECTURE CONTRIBUTING; do echo "It stands alone. An instance is no value, and nobody asks." >"$tree/$page.md"; done
printf 'What is read is known.\nWhat is it?\n' >"$tree/docs/page.md"
cat >"$tree/src/language/front/check_context.h" <<'TEXT'
/* Of a list, the first. Likewise. */
/* What is told. */
typedef struct check_part {
    int d;
} check_part;
typedef struct checker {
    int a, b; /* of; two */
    char *c;
} checker;
TEXT
six='one(1);
two(2);
three(3); /* anew */
four(4);
    five(5);
six(6);'
printf 'void f(void) {\n%s\n}\n' "$six" >"$tree/src/one.c"
printf 'void g(void) {\n    // another beginning\n%s\n    break;\n}\n' "$six" >"$tree/src/two.c"
awk 'BEGIN { for (i = 0; i <= 600; i++) print "x" i ";" }' >"$tree/src/long.c"
cat >"$tree/src/language/front/names.c" <<'TEXT'
static const char *const names[] = {"rev", "other",
                                    "len"};
bool f(const char *a) { return strcmp(a, "rev") == 0 || is(a, "fn"); }
expr *g(void) { return build_method("rev"); }
TEXT
cat >"$tree/src/language/front/promises.c" <<'TEXT'
/* What must stay true: a is one. */
TEXT
cat >"$tree/src/language/front/kept.c" <<'TEXT'
/* What must stay true: a is one. */
void h(int a) { MASU_DEBUG_ASSERT(a == 1); }
TEXT
counted() { # NAME NUMBER
    MASU_COUNTED=$tree sh scripts/check_counts.sh --list "$1" >"$MASU_TMP/list"
    [ "$(wc -l <"$MASU_TMP/list")" -eq "$2" ] || fail "$1: expected $2: $(cat "$MASU_TMP/list")"
}
counted long_files 1
counted repeats 1
counted checker_fields 3
counted library_names 4
counted unasserted 1
counted no_noun 3
counted stands 3
counted nobody 3
counted anew 2
counted likewise 1
counted of_sentences 1
counted told 1
counted likewise_words 1
counted what_comments 1
counted what_sentences 1
# Three objects in a circle, one outside it.
circle='x/a.a:one.c.o:0000000000000000 T one
x/a.a:one.c.o:                 U two
x/a.a:two.c.o:0000000000000000 T two
x/a.a:two.c.o:                 U three
x/a.a:three.c.o:0000000000000010 D three
x/a.a:three.c.o:                 U one
x/a.a:three.c.o:                 U malloc
x/a.a:four.c.o:0000000000000000 T four
x/a.a:four.c.o:                 U one'
[ "$(echo "$circle" | awk -f scripts/file_cycles.awk | sort | tr '\n' ' ')" = 'one.c.o three.c.o two.c.o ' ] || fail 'the circle'
# More than the table allows fails, and says where.
sed 's/^likewise  *[0-9]*/likewise 0/' scripts/check_counts.sh >"$tree/scripts/check_counts.sh"
expect_status 1 sh "$tree/scripts/check_counts.sh" "$MASU_BUILD" likewise
expect_in_stdout 'src/language/front/check_context.h:1:'
