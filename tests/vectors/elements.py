#!/usr/bin/python3
"""Programs that ask every operation of the library, by its example, what the elements of its result are.

    elements.py      writes tests/vectors/elements_*.tl and hostile_arguments.txt from the examples of
                     src/language/library/tensor and the rules of elements.txt

Both are asked: the type that the compiler gives the result (an element is lent as `&mut f64`, which converts nothing) and
the tensor when the program runs. PyTorch's rules decide what is right; it needs to be installed nowhere.
"""
import glob
import os
import re

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(FOLDER, "../../src/language/library/tensor/*.tl")
NAMES = dict(f="f32", d="f64", i="i64", b="bool")
HEAD = """\
// Written by tests/vectors/elements.py; not to be edited. Says which operation yields other elements than PyTorch's rules say.
fn held(t: Tensor) -> String {
    let one = Tensor::ones_like(t.detach().flatten());
    let text = format("{}", one);
    if text.contains("true") { return "bool" }
    if !text.contains(".") { return "i64" }
    if (one + 1e-10 != one).all() { "f64" } else { "f32" }
}
fn is_f32(x: &mut f32) {}
fn is_f64(x: &mut f64) {}
fn is_i64(x: &mut i64) {}
fn is_bool(x: &mut bool) {}
"""


def examples():
    for path in sorted(glob.glob(LIBRARY)):
        example = None
        for line in open(path):
            if m := re.match(r"\s*/// example: (.*)$", line):
                example = m.group(1)
            elif re.match(r"\s*fn \w+", line):
                if example:
                    yield example
                example = None


def numbers(kind, mark, n, dims):
    """Numbers without two neighbours alike; n of them."""
    if mark.startswith("#"):
        return "i64", [str(i * 7 % int(mark[1:])) for i in range(n)]
    if mark == "?" or kind == "b":
        return "", ["true" if i % 3 else "false" for i in range(n)]
    if kind == "i" and mark == "%":
        return "i64", [str(i * 5 % 7 % 2) for i in range(n)]
    if kind == "i":
        return "i64", [str(1 + i * 5 % 7) for i in range(n)]
    if mark in ("~", "!"):
        k = dims[-1]
        return NAMES[kind], ["3.0" if i % k == i // k % k else "0.25" for i in range(n)]
    return NAMES[kind], ["%.2f" % (0.15 + 0.7 * ((i * 5 + 1) % (n + 1)) / (n + 1)) for i in range(n)]


def operand(text, kind):
    name, shape, mark = re.match(r"(\w)\[([^\]]*)\](.*)$", text).groups()
    dims = [2] if "." in shape or "*" in shape else []
    dims += [int(d) for d in shape.split(",") if d not in ("", "..", "*")]
    n = 1
    for d in dims:
        n *= d
    suffix, all_of_them = numbers(kind, mark, n, dims)
    made = "Tensor::from_vec(vec![%s])" % ", ".join(v + suffix for v in all_of_them)
    return f"let {name} = {made}.reshape([{', '.join(map(str, dims))}]);"


def operands(text, kind):
    return [operand(part, kind) for part in re.findall(r"\w\[[^\]]*\]\S*", text)]


def program(kind, rules):
    out, count = HEAD, 0
    for example in examples():
        wanted = rules[example]["fdib".index(kind)]
        if wanted == "-":
            continue
        first, expression = example.split(": ", 1)
        lets = "".join(f"    {line}\n" for line in operands(first, kind))
        said = expression.replace('"', "'").replace("{", "{{").replace("}", "}}")
        out += f"fn e{count}() -> i64 {{\n{lets}    let r = {expression};\n    let mut v = r.flatten()[0];\n"
        out += f"    is_{NAMES[wanted]}(&mut v);\n"
        out += f"    if held(r) != \"{NAMES[wanted]}\" {{ println(\"{said} holds {{}}\", held(r)); return 1 }}\n    0\n}}\n"
        count += 1
    calls = "".join(f"    wrong += e{i}();\n" for i in range(count))
    return out + f"fn main() {{\n    let mut wrong = 0;\n{calls}    assert(wrong == 0);\n}}\n"


def hostile():
    """The first whole number that an example gives, replaced by what nothing can be done with."""
    for example in examples():
        first, expression = example.split(": ", 1)
        found = [m for m in re.finditer(r"(?<![\w.])-?\d+(?![\w.\]])(?!\.\d)", expression)
                 if not expression[:m.start()].endswith(".")]
        for m in found[:1]:
            for number in (-1000, 4000000000000000000):
                changed = expression[:m.start()] + str(number) + expression[m.end():]
                yield " ".join(operands(first, "f")) + f" let r = {changed}; println(\"{{}}\", r.flatten().len());"


if __name__ == "__main__":
    rules = {}
    for line in open(os.path.join(FOLDER, "elements.txt")):
        if line.strip() and not line.startswith("#"):
            letters, example = line.rstrip("\n").split(" | ", 1)
            rules[example] = letters
    for kind in "fdib":
        with open(os.path.join(FOLDER, f"elements_{NAMES[kind]}.tl"), "w") as f:
            f.write(program(kind, rules))
    with open(os.path.join(FOLDER, "hostile_arguments.txt"), "w") as f:
        f.write("".join(line + "\n" for line in hostile()))
