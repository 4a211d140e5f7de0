"""second.py: writes second_0.tl and so on, which ask of every example of the tables that has a gradient, in f64:

    grad(f, x)                             what an ordinary backward gathers, by kernels
    grad(|t| (grad(f, t) * v).sum(), x)    how that changes along v, by differences

    python3 -B tests/vectors/second.py          writes them anew
    python3 -B tests/vectors/second.py --check  says whether they are what the tables give
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REFUSES = {"digamma"}  # there is no function for its second derivative: tests/golden/grad_second_refused.tl

HEAD = """// Second derivatives of every operation, against differences of first ones: written by tests/vectors/second.py.
fn apart(n: i64, low: f64, high: f64) -> Tensor<f64> {
    let order = Tensor::rand([n]).argsort() as Tensor<f64>;
    let jitter = Tensor::rand([n]) as Tensor<f64>;
    (order + jitter * 0.6 + 0.2) * ((high - low) / (n as f64 + 0.0001)) + low
}
fn far(t: Tensor<f64>) -> Tensor<f64> { t + (Tensor::eye(t.dim(-1)) as Tensor<f64>) * 4.0 }
fn loss(y: Tensor) -> Tensor<f64> {
    let flat = y.flatten();
    (flat * (((Tensor::arange(0, flat.len()) as Tensor<f64>) * 7.0) % 5.0 * 0.25 - 0.4)).sum()
}
fn first(f: fn(Tensor) -> Tensor, x: Tensor<f64>) -> Tensor<f64> {
    let leaf = x.detach(true);
    let y = loss(f(leaf));
    if y.requires_grad() { y.backward(); }
    leaf.grad()
}
fn differ(what: String, how: String, got: Tensor<f64>, want: Tensor<f64>, close: f64) -> i64 {
    let most = ((got - want).abs() / (want.abs() + 1.0)).max().item() as f64;
    if most <= close { return 0 }
    println("{}: {}: {} instead of {}", what, how, got, want);
    1
}
fn check(what: String, f: fn(Tensor) -> Tensor, x: Tensor<f64>) -> i64 {
    let v = (((Tensor::arange(0, x.numel()) as Tensor<f64>) * 3.0) % 7.0 * 0.25 - 0.6).reshape(x.shape());
    let step = v * 0.0001;
    let change = (first(f, x + step) - first(f, x - step)) / 0.0002;
    differ(what, "gradient", grad(|t| loss(f(t)), x), first(f, x), 0.0000001)
        + differ(what, "along v", grad(|s| (grad(|t| loss(f(t)), s) * v).sum(), x), change, 0.0005)
}
"""


def examples():
    text = open(os.path.join(ROOT, "src/runtime/ops.def")).read()
    for m in re.finditer(r'^(UNARY|BINARY)\((\w+),.*?"([^"]*)", "', text, re.M):
        kind, name, operand = m.groups()
        yield name, (f"a[..]{operand}: a.{name}()" if kind == "UNARY" else f"a[..]{operand} b[*]{operand}: a.{name}(b)")
    for m in re.finditer(r'^(?:TENSOR|ELEMENT)\((\w+),.*?"([^"]*: [^"]*)", "', text, re.M):
        if "NO_GRADIENT" not in m.group(0):
            yield m.groups()
    for path in sorted(glob.glob(os.path.join(ROOT, "src/language/library/tensor/*.tl"))):
        example, smooth = None, True
        for line in open(path):
            line = line.strip()
            if line.startswith("///"):
                smooth = smooth and "gradient: no" not in line
                m = re.match(r"/// example: (.*)", line)
                example = m.group(1) if m else example
            elif line.startswith("fn "):
                if example and smooth:
                    yield re.match(r"fn (\w+)", line).group(1), example
                example, smooth = None, True


def operand(name, pattern, kind):
    lengths = []
    for part in filter(None, pattern.split(",")):
        lengths += [2, 3] if part == ".." else [1, 3] if part == "*" else [int(part)]
    n = 1
    for length in lengths:
        n *= length
    shape = ".reshape([" + ", ".join(map(str, lengths)) + "])"
    if kind[:1] == "#":
        return "i64", f"((Tensor::rand([{n}]) * {kind[1:]}.0).floor() as Tensor<i64>){shape}"
    if kind == "?":
        return "bool", f"(Tensor::rand([{n}]) > 0.5){shape}"
    low, high = {"+": (0.5, 2.5), "%": (0.1, 0.9)}.get(kind, (-2.0, 2.0))
    made = f"apart({n}, {low}, {high}){shape}"
    if kind == "~":
        made = f"({made} * 0.1 + {made}.transpose(-2, -1) * 0.1)"
    rank = "" if re.search(r"[.*]", pattern) else f", {len(lengths)}"
    return f"f64{rank}", f"far({made})" if kind in "!~" and kind else made


def case(number, name, example):
    operands, expression = example.split(": ", 1)
    lines, checks, found = [f"fn case_{number}() -> i64 {{"], [], []
    for m in re.finditer(r"(\w)\[([^\]]*)\](\S*)", operands):
        kind, value = operand(*m.groups())
        lines.append(f"    let {m.group(1)}0: Tensor<{kind}> = {value};")
        found.append((m.group(1), kind))
    for x, kind in found:
        if kind.startswith("f64"):
            own = " ".join(f"let {y} = {y}0;" for y, _ in found if y != x)
            checks.append(f'check("{name}: {x}", |x_| {{ let {x} = x_ as Tensor<{kind}>; {own} {expression} }}, {x}0)')
    return "\n".join(lines + ["    " + "\n        + ".join(checks or ["0"]), "}"]) + "\n"


PARTS = 8  # a program may ask for so many forms of generic functions


def is_real(example):
    """Whether an operand has a gradient: one of whole numbers or bools has none."""
    return any(kind[:1] not in ("#", "?") for kind in re.findall(r"\w\[[^\]]*\](\S*)", example.split(": ", 1)[0]))


def program(part):
    cases = [(n, e) for n, e in examples() if n not in REFUSES and is_real(e)][part::PARTS]
    text = HEAD + "".join(case(k, n, e.replace('\\"', '"')) for k, (n, e) in enumerate(cases))
    calls = "".join(f"    bad += case_{k}();\n" for k in range(len(cases)))
    return text + "fn main() {\n    let mut bad = 0;\n" + calls + f'    println("{{}} of {len(cases)} differ", bad);\n}}\n'


for part in range(PARTS):
    path = os.path.join(HERE, f"second_{part}.tl")
    if "--check" not in sys.argv:
        open(path, "w").write(program(part))
    elif open(path).read() != program(part):
        sys.exit(path + " is not what the tables give: python3 -B tests/vectors/second.py")
