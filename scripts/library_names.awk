# Literals that are names of the library, in comparisons (strcmp, strncmp, is, is_named, check_same_text) and in tables
# of constants; `names`: a file with one name a line, and how often it is declared there does not matter.
BEGIN { while ((getline name < names) > 0) library[name] = 1 }
FNR == 1 { table = 0 }
/(^| )const [^;=]*\] = \{/ || /static const struct( [a-z_]+)? \{/ { table = 1 }
{
    compares = /(strcmp|strncmp|is|is_named|check_same_text)\(/
    rest = $0
    while ((compares || table) && match(rest, /"[A-Za-z][A-Za-z0-9_]*"/)) {
        word = substr(rest, RSTART + 1, RLENGTH - 2)
        if (word in library) print FILENAME ":" FNR ": " word
        rest = substr(rest, RSTART + RLENGTH)
    }
}
table && /\};/ { table = 0 }
