# Literals that are names, in comparisons (strcmp, strncmp, strstr, is, is_named, check_same_text) and in tables of
# constants: names of the library, of Rust's, of traits. The language's own words are none: keywords, and the types that
# the compiler has without the library.
BEGIN {
    count = split("self Self super crate fn _ i8 i16 i32 i64 u8 u16 u32 u64 usize f32 f64 bool char str String Vec Tensor GradTensor void", word, " ")
    for (i = 1; i <= count; i++) own[word[i]] = 1
}
FNR == 1 { table = 0 }
/(^| )const [^;=]*\] = \{/ || /static const struct( [a-z_]+)? \{/ { table = 1 }
{
    compares = /(strcmp|strncmp|strstr|is|is_named|check_same_text)\(/
    rest = $0
    while ((compares || table) && match(rest, /"[A-Za-z_][A-Za-z0-9_]*"/)) {
        name = substr(rest, RSTART + 1, RLENGTH - 2)
        if (!(name in own)) print FILENAME ":" FNR ": " name
        rest = substr(rest, RSTART + RLENGTH)
    }
}
table && /\};/ { table = 0 }
