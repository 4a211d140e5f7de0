# `masu check` is linear in the program, also where all of it is one function or one literal: four times the lines may
# cost at most ten times the processor time (a quadratic step takes sixteen), and what takes less than a second passes.
work=$MASU_TMP/evenly
mkdir "$work"

write() { # KIND COUNT
    awk -v kind="$1" -v n="$2" 'BEGIN {
        if (kind == "references") print "fn main() { let mut v = vec![0; 9];"
        else if (kind == "functions") head = ""
        else if (kind == "list") printf "fn main() { let v = ["
        else print "fn main() { let mut s = 0;"
        for (i = 0; i < n; i++) {
            if (kind == "references") printf "    { let r = &mut v; r[%d] += 1; }\n", i % 9
            if (kind == "closures") printf "    let f%d = |x: i64| x + %d; s += f%d(s);\n", i, i, i
            if (kind == "options") printf "    let o%d = Some(%d); if let Some(x) = o%d { s += x; }\n", i, i, i
            if (kind == "lists") printf "    let v%d = vec![s, %d]; s += v%d.len() as i64;\n", i, i, i
            if (kind == "tensors") printf "    let t%d = Tensor::ones([2, 3]) * %d.0; s += t%d.sum(0).dim(0);\n", i, i, i
            if (kind == "list") printf "%d, ", i
            if (kind == "functions") printf "fn f%d(v: &Vec<i64>) -> i64 { v.iter().map(|x| x + %d).sum() }\n", i, i
        }
        if (kind == "references") print "    println!(\"{:?}\", v); }"
        else if (kind == "functions") print "fn main() { println!(\"{}\", f1(&vec![1])); }"
        else if (kind == "list") print "];\n    println!(\"{}\", v.iter().sum::<i64>()); }"
        else print "    println!(\"{}\", s); }"
    }' >"$work/program.tl"
}

# Hundredths of a second of the compiler's own time, the least of three: what the system does for fresh pages varies.
cost() {
    write "$1" "$2"
    least=999999
    for try in 1 2 3; do
        taken=$("$MASU" check "$work/program.tl" >"$work/out" 2>&1 || echo refused
            times >"$work/times"
            awk 'NR == 2 { split($1, t, "m"); print int((t[1] * 60 + t[2]) * 100) }' "$work/times")
        case $taken in *refused*)
            cat "$work/out" >&2
            echo 999999
            return
            ;;
        esac
        [ "$taken" -ge "$least" ] || least=$taken
    done
    echo "$least"
}

for kind in references closures options lists tensors list functions; do
    few=$(cost $kind 1500)
    many=$(cost $kind 6000)
    [ "$many" -le 100 ] || [ "$many" -le $((10 * few)) ] || {
        fail "$kind: 1500 lines take $few hundredths of a second, 6000 take $many"
    }
done
