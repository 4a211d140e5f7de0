#!/usr/bin/python3
"""Values and gradients of every operation as PyTorch computes them, as programs that compare masu's with them.

    record.py            writes tests/vectors/operations_*.tl (needs PyTorch; recorded with 1.13)
    record.py --check    derives everything again and compares with what is recorded; status 0, or 1 with what differs,
                         or 77 where there is no PyTorch

The programs need no Python: `masu run tests/vectors/operations_1.tl` says what differs and ends with status 1 then.
Operands come from a generator of its own, so that they are the same everywhere. The gradient is that of the sum of
the result's elements with the weights 0.1, 0.35, 0.6, … (see `loss` in the programs).
"""
import math
import os
import re
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("record.py: PyTorch is not installed here")
    sys.exit(77)
from cases_more import CASES

FOLDER = os.path.dirname(os.path.abspath(__file__))
TYPES = dict(f=torch.float32, d=torch.float64, i=torch.int64, b=torch.bool)
PER_FILE = 170

PRELUDE = """\
// Values and gradients as PyTorch 1.13 computes them, written by tests/vectors/record.py from cases.py. Not to be edited.

fn same(g: f64, w: f64, close: f64) -> bool { g == w || (g != g && w != w) || (g - w).abs() <= close * (1.0 + w.abs()) }
fn same_shape(got: Tensor, want: Tensor) -> bool {
    if got.ndim() != want.ndim() { return false }
    for d in 0..got.ndim() { if got.dim(d) != want.dim(d) { return false } }
    true
}
fn near(name: String, got: Tensor, want: Tensor, close: f64) -> i64 {
    if !same_shape(got, want) {
        println("{}: shape {}, not {}", name, got.shape(), want.shape());
        return 1
    }
    let g = got.flatten() as Tensor<f64>;
    let w = want.flatten() as Tensor<f64>;
    for i in 0..g.len() {
        if !same(g[i], w[i], close) {
            println("{}: element {} is {}, not {}", name, i, g[i], w[i]);
            return 1
        }
    }
    0
}
fn loss(y: Tensor) -> Tensor {
    let flat = y.flatten();
    let n = flat.len();
    (flat * (((Tensor::arange(0, n) as Tensor<f64>) * 7.0) % 5.0 * 0.25 - 0.4)).sum()
}
fn f(v: Tensor<f32, 1>) -> Tensor<f32, 1> { v }
fn d(v: Tensor<f64, 1>) -> Tensor<f64, 1> { v }
fn i(v: Tensor<i64, 1>) -> Tensor<i64, 1> { v }
fn bits(v: Tensor<bool, 1>) -> Tensor<bool, 1> { v }
fn is_f(t: Tensor<f32>) -> Tensor { t }
fn is_d(t: Tensor<f64>) -> Tensor { t }
fn is_i(t: Tensor<i64>) -> Tensor { t }
fn is_b(t: Tensor<bool>) -> Tensor { t }
"""


class Numbers:
    """A linear congruential generator: the same numbers with every version of everything."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 2**32 + 1

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state / 2**64

    def apart(self, n, low, high):
        """n numbers in (low, high), no two alike, in any order; short in binary, so that f32 holds them."""
        order = list(range(n))
        for k in range(n - 1, 0, -1):
            j = int(self.next() * (k + 1))
            order[k], order[j] = order[j], order[k]
        return [round((low + (high - low) * (o + 0.2 + 0.6 * self.next()) / n) * 4096) / 4096 for o in order]


def operand(text, type_of, numbers):
    name, shape, flags, values = re.fullmatch(r"(\w)(?:\[([\d,]*)\])?([-+%?~!]*(?:#\d+)?)(?:=(.*))?", text).groups()
    dtype = TYPES["b" if "?" in flags else "i" if "#" in flags else type_of]
    if values is not None:
        listed = [float(v) for v in values.split(",")]
        lengths = [len(listed)] if shape is None else [int(n) for n in shape.split(",") if n]
        tensor = torch.tensor(listed, dtype=dtype).reshape(lengths)
    else:
        lengths = [int(n) for n in shape.split(",") if n]
        n = math.prod(lengths)
        if "#" in flags:
            listed = [int(numbers.next() * int(flags[flags.index("#") + 1:])) for _ in range(n)]
        elif "?" in flags:
            listed = [numbers.next() < 0.5 for _ in range(n)]
        else:
            low, high = (0.5, 2.5) if "+" in flags else (0.1, 0.9) if "%" in flags else (-2, 2)
            listed = numbers.apart(n, low, high)
        tensor = torch.tensor(listed, dtype=dtype).reshape(lengths)
        if "~" in flags:
            tensor = tensor @ tensor.transpose(-2, -1) + torch.eye(lengths[-1], dtype=dtype)
        if "!" in flags:
            tensor = tensor + 3 * torch.eye(lengths[-1], dtype=dtype)
    return name, tensor, "-" not in flags and tensor.is_floating_point()


def number(x, letter):
    if letter == "b":
        return "true" if x else "false"
    if letter == "i":
        return str(int(x))
    scope = "F64::" if letter == "d" else "F32::"
    if math.isnan(x):
        return scope + "nan()"
    if math.isinf(x):
        return ("-" if x < 0 else "") + scope + "infinity()"
    text = repr(float(x)) if letter == "d" else "%.9g" % x
    return text if "." in text or "e" in text else text + ".0"


def letter_of(tensor):
    return next(k for k, v in TYPES.items() if v == tensor.dtype)


def literal(tensor):
    letter, shape = letter_of(tensor), list(tensor.shape)
    if tensor.numel() == 0:
        full = {"f": "f32", "d": "f64", "i": "i64", "b": "bool"}[letter]
        return f"(Tensor::zeros({shape}) as Tensor<{full}>)"
    flat = tensor.detach().flatten().tolist()
    made = "bits" if letter == "b" else letter  # `b` is an operand's name
    text = f"{made}([{', '.join(number(x, letter) for x in flat)}])"
    return text + (".squeeze(0)" if not shape else "" if len(shape) == 1 else f".reshape({shape})")


def weights(n):
    return (torch.arange(n, dtype=torch.float64) * 7.0) % 5.0 * 0.25 - 0.4


def derive(case, index):
    """The operands, the result and the operands' gradients."""
    numbers = Numbers(index)
    operands = [operand(text, case["type"], numbers) for text in case["operands"].split()]
    tracked = [name for name, _, smooth in operands if smooth and case["grad"]]
    scope = dict(torch=torch, F=F, inf=math.inf, nan=math.nan)
    for name, tensor, _ in operands:
        scope[name] = tensor.clone().requires_grad_(name in tracked)
    result = eval(case["torch"], scope)
    grads = {}
    if tracked:
        (result.flatten().double() * weights(result.numel())).sum().backward()
        grads = {name: scope[name].grad for name in tracked}
    return operands, result.detach(), grads


def tolerance(case, tensor):
    return case["close"] or {"f": 2e-6, "d": 1e-12}.get(letter_of(tensor), 0)


def program(case, index):
    operands, result, grads = derive(case, index)
    title = f"{case['names'][0]} {case['type']} {index}: {case['masu']}".translate(str.maketrans('{}"', "()'"))
    lines = [f"fn case_{index}() -> i64 {{"]
    for name, tensor, _ in operands:
        lines.append(f"    let {name} = {literal(tensor)}{'.detach(true)' if name in grads else ''};")
    lines.append(f"    let y = {case['masu']};")
    want = literal(result)
    lines.append(f"    let {'mut ' if grads else ''}bad = near(\"{title}\", is_{letter_of(result)}(y.detach()), {want}, {tolerance(case, result)});")
    if grads:
        lines.append("    loss(y).backward();")
    for name, grad in grads.items():
        lines.append(f"    bad += near(\"{title}: gradient of {name}\", {name}.grad(), {literal(grad)}, {tolerance(case, grad)});")
    lines += ["    bad", "}"]
    return lines


def programs():
    files = {}
    for start in range(0, len(CASES), PER_FILE):
        chunk = range(start, min(start + PER_FILE, len(CASES)))
        lines = [PRELUDE.rstrip("\n")]
        for index in chunk:
            lines += program(CASES[index], index)
        lines += ["fn main() {", "    let mut bad = 0;"] + [f"    bad += case_{k}();" for k in chunk]
        lines += [f"    println(\"{{}} of {len(chunk)} cases differ\", bad);", "    assert(bad == 0);", "}"]
        files[f"operations_{start // PER_FILE + 1}.tl"] = "\n".join(lines) + "\n"
    return files


def same_text(a, b):
    """Line by line, numbers by value: another PyTorch may round the last digit otherwise."""
    token = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
    for line_a, line_b in zip(a.splitlines(), b.splitlines()):
        if line_a == line_b:
            continue
        close = 1e-4 if "f32" in line_a or " f(" in line_a or "F32" in line_a else 1e-8
        values = list(zip(token.findall(line_a), token.findall(line_b)))
        if token.sub("#", line_a) != token.sub("#", line_b) or any(
                abs(float(x) - float(y)) > close * (1 + abs(float(y))) for x, y in values):
            return f"recorded: {line_b.strip()}\nderived:  {line_a.strip()}"
    return None if a.count("\n") == b.count("\n") else "one of them is longer"


def main():
    status = 0
    for name, text in programs().items():
        path = os.path.join(FOLDER, name)
        if sys.argv[1:] == ["--check"]:
            with open(path, encoding="utf-8") as file:
                difference = same_text(text, file.read())
            if difference:
                print(f"{name}: {difference}")
                status = 1
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(status)


main()
