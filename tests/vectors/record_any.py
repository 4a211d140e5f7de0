#!/usr/bin/python3
"""Every example of the tables of operations on drawn operands, as PyTorch computes it: values and gradients.

    record_any.py            writes tests/vectors/any_*.tl (needs PyTorch; recorded with 1.13)
    record_any.py --check    derives everything again and compares; status 0, or 1, or 77 where there is no PyTorch
    record_any.py --draw N SEED FILE [NAME…]
                             writes a program of N other cases for each example (of these operations)

Operands have ranks 0 to 6, lengths 0 to 3, are rows or views (see VIEWS), hold f32, f64, i64 or bool, sometimes
infinities and what is no number. What is recorded of a tensor are two numbers (see digest), so that a case is a
short line; the program (any_head.tl) draws the same operands again, and compares what an operation makes of views with
what it makes of their copies, bit by bit.
"""
import math
import os
import re
import sys
import warnings

try:
    import torch
except ImportError:
    print("record_any.py: PyTorch is not installed here")
    sys.exit(77)
from examples import examples
from meaning import Functions, bare, wrap

FOLDER = os.path.dirname(os.path.abspath(__file__))
TYPES = dict(f=torch.float32, d=torch.float64, i=torch.int64, b=torch.bool)
LETTERS = "fdib"
VIEWS = ("rows", "transposed", "stepped", "narrowed", "expanded")
WILD = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 16.0, -0.25, 100.0)
PARTS = 3
EACH = 16  # cases of an example


class Draw:
    """The generator that the programs have too."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return (self.state >> 8) % n


def numbers(seed, kind, letter, wild, n):
    """n elements: kind is what stands behind the brackets."""
    draw = Draw(seed)
    if kind[:1] == "#":
        return [draw.below(int(kind[1:])) for _ in range(n)]
    if kind == "?" or letter == "b":
        return [draw.below(2) == 1 for _ in range(n)]
    if letter == "i":
        low, high = (1, 6) if kind == "+" else (0, 2) if kind == "%" else (-4, 5)
        return [low + draw.below(high - low) for _ in range(n)]
    low, high = (2048, 10240) if kind == "+" else (410, 3686) if kind == "%" else (-8192, 8192)
    step = 31 if n % 31 else 37
    listed = []
    for i in range(n):
        at = (i * step + seed) % n
        listed.append((low + (high - low) * (at * 256 + draw.below(128)) // (n * 256)) / 4096)
    if wild:
        listed = [WILD[draw.below(len(WILD))] if draw.below(3) == 0 else x for x in listed]
    return listed


class Operand:
    def __init__(self, text, letter, draw, any_dims, narrow, zero, wild):
        self.name, pattern, self.kind = re.fullmatch(r"(\w)\[([^\]]*)\]([-+%?~!]?(?:#\d+)?)", text).groups()
        self.plain = self.kind in ("", "+", "%")
        self.smooth = self.kind[:1] not in ("#", "?")
        self.letter = "i" if self.kind[:1] == "#" else "b" if self.kind == "?" else letter
        self.wild = wild and self.kind in ("", "+", "%")
        fixed = [p for p in pattern.split(",") if p and p not in ("..", "*")]
        self.shape = []
        for part in pattern.split(","):
            if part == "..":
                self.shape += any_dims[max(0, len(any_dims) + len(fixed) - 6):]
            elif part == "*":
                self.shape += narrow[max(0, len(narrow) + len(fixed) - 6):]
            elif part:
                self.shape.append(int(part))
        self.seed = 1 + draw.below(1 << 20)
        self.view = 0

    def base_shape(self):
        s = list(self.shape)
        if self.view == 1:
            s.reverse()
        elif self.view == 2:
            s.append(2)
        elif self.view == 3:
            s[0] += 2
        elif self.view == 4:
            s[self.seed % len(s)] = 1
        return s

    def base(self):
        s = self.base_shape()
        t = torch.tensor(numbers(self.seed, self.kind, self.letter, self.wild, math.prod(s)),
                         dtype=TYPES[self.letter]).reshape(s)
        if self.kind in ("~", "!"):
            unit = torch.eye(s[-1], dtype=t.dtype) * 4
            t = t + unit if self.kind == "!" else t * 0.25 + t.transpose(-2, -1) * 0.25 + unit
        return t

    def see(self, t):
        if self.view == 1:
            return t.permute(*range(t.dim() - 1, -1, -1))
        if self.view == 2:
            return t[..., 0]
        if self.view == 3:
            return t[1:-1]
        if self.view == 4:
            return t.expand(self.shape)
        return t

    def fields(self):
        kind = {"": 0, "+": 1, "%": 2, "?": 3, "~": 4, "!": 5}.get(self.kind, 6)
        s = self.base_shape()
        below = int(self.kind[1:]) if kind == 6 else 0
        return [LETTERS.index(self.letter), kind, below, self.seed, self.view, int(self.wild), len(s), *s, len(self.shape),
                *self.shape]


def digest(t):
    """Shape, type and where no finite number stands, as one whole number; a weighted sum of the rest."""
    shape = t.dim()
    for n in t.shape:
        shape = shape * 31 + n
    shape = shape * 31 + LETTERS.index(next(k for k, v in TYPES.items() if v == t.dtype))
    total = 0.0
    for i, x in enumerate(t.detach().flatten().double().tolist()):
        if math.isnan(x):
            shape += (i + 1) * 1000003
        elif math.isinf(x):
            shape += (i + 1) * (2000003 if x > 0 else 3000017)
        else:
            total += x * (((i * 37 + 11) % 101) / 64 - 0.7)
    return shape, total


def python_text(expression):
    text = expression.replace("Tensor::", "Tensor.").replace("vec![", "[")
    text = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))
    return re.sub(r"\)\.(\d)\b", r")[\1]", text)


def any_shape(draw, rank, zero):
    while True:
        s = [1 + draw.below(3) for _ in range(rank)]
        if zero and rank:
            s[draw.below(rank)] = 0
        if math.prod(s) <= 36:
            return s


class Case:
    """One example on drawn operands. None of PyTorch's: self.want is None."""

    def __init__(self, k, example, seed, number):
        self.k, self.seed, self.number = k, seed, number
        self.name, self.has_gradient, texts, self.expression = example
        draw = Draw(seed * 7919 + k * 104729 + number * 1299709)
        for _ in range(3):
            draw.below(2)
        generic = any(".." in t or "*" in t for t in texts)
        letter = "fdfdfdibfdifdfdf"[number] if number < 16 else "fdib"[draw.below(4)]
        less = limits(self.name)
        if letter == "i" and "no whole" in less or letter == "b" and ("no whole" in less or "no bools" in less):
            letter = "fd"[number // 2 % 2]
        rank = (k + number) % 7
        wild = number % 5 == 4 and "no wild" not in less and "no ties" not in less
        any_dims = any_shape(draw, rank, generic and number % 4 == 3)
        narrow = [n if draw.below(2) else 1 for n in any_dims][draw.below(len(any_dims) + 1):]
        self.operands = [Operand(t, letter, draw, any_dims, narrow, False, wild) for t in texts]
        self.letter, self.wild = letter, wild
        for o in self.operands:
            o.view = (0, 1, 2, 3, 0, 4, 1, 2, 0, 1, 3, 4, 2, 3, 1, 0)[number] if number < 16 else draw.below(5)
            if o.view == 4 and "no ties" in less:
                o.view = 3
            if not o.shape and o.view in (1, 3, 4) or not o.plain and o.view == 4 or o.kind in ("~", "!"):
                o.view = 0
        # PyTorch's slope of hardsigmoid is an f32 sixth, also in f64.
        self.tracked = self.has_gradient and letter in ("f" if self.name == "hardsigmoid" else "fd")

    def evaluate(self):
        leaves = [o.base() for o in self.operands]
        if self.tracked:
            leaves = [t.requires_grad_(o.smooth) for t, o in zip(leaves, self.operands)]
        scope = {o.name: wrap(o.see(t)) for o, t in zip(self.operands, leaves)}
        y = bare(eval(python_text(self.expression), dict(Tensor=Functions()), scope))
        grads = []
        if self.tracked and y.requires_grad:
            flat = y.flatten()
            weights = torch.tensor([((i * 37 + 11) % 101) / 64 - 0.7 for i in range(len(flat))], dtype=torch.float64)
            (flat * weights).sum().backward()
            grads = [t.grad for t, o in zip(leaves, self.operands) if o.smooth]
            grads = [t.grad if t.grad is not None else torch.zeros_like(t)
                     for t, o in zip(leaves, self.operands) if o.smooth]
        return y.detach(), grads

    def line(self):
        y, grads = self.evaluate()
        fields = [self.k, len(self.operands), int(bool(grads))]
        for o in self.operands:
            fields += o.fields()
        for t in (y, *grads):
            shape, total = digest(t)
            fields += [shape, repr(total) if total else "0.0"]
        return " ".join(str(f) for f in fields)

    def title(self):
        shapes = " ".join(f"{o.name}{o.shape}:{o.letter}:{VIEWS[o.view]}{':wild' if o.wild else ''}" for o in self.operands)
        return f"{self.name}: {self.expression} on {shapes}"


# What is not asked: types that an operation refuses, or for which PyTorch and masu differ on purpose; drawn operands
# on which several answers are right, or PyTorch's depends on the order in which it adds.
LESS = {
    "maximum minimum sign isinf diff": "no bools",
    "avg_pool2d avg_pool1d": "no whole",  # PyTorch's are whole again, masu's real
    "matmul linear scatter_add index_add index_fill isfinite": "no bools",  # PyTorch's stay bools, masu's count
    "topk topk_indices": "no whole, no ties",
    "inverse det solve cholesky eigh svd qr logdet slogdet eigvalsh svdvals pinverse lstsq matrix_exp": "no whole, no wild, no ties",
    "conv1d conv2d conv_transpose2d upsample_bilinear2d": "no whole, no wild",  # infinities times the zeros put between
    "prod var std norm cumprod logit var_mean std_mean digamma lgamma erfinv": "no wild",
    "addcmul addcdiv logit softmin addmm": "no whole",
    "neg rsub cummin isclose square": "no bools",
    "affine threshold heaviside nan_to_num": "no whole",
    "softshrink logcumsumexp soft_margin_loss triplet_margin_loss": "no wild",
    "median": "no ties, no wild",  # PyTorch 1.13 reads beside an expanded view
    "mode": "no wild",  # PyTorch orders what is no number by chance
    "cummax": "no bools",
    "elu selu celu hardtanh relu6 hardswish kthvalue prelu nan_to_num": "no wild",  # PyTorch's own loops differ about gradients of what is no number
    "max_pool2d max_pool1d adaptive_max_pool2d sdpa normalize bce_with_logits trapz dist": "no ties, no wild",
    "logsumexp": "no bools, no wild",
    "cummin cummax pairwise_distance long int upsample_bilinear2d quantile": "no ties, no wild",
    "histc": "no wild, no whole",
    "layer_norm group_norm instance_norm batch_norm rms_norm standardise": "no ties, no wild",
    "kl_div_loss bce_loss nll_loss cross_entropy huber_loss smooth_l1_loss cosine_embedding_loss poisson_nll_loss gaussian_nll_loss": "no wild",
}


def limits(name):
    return ", ".join(reason for names, reason in LESS.items() if name in names.split())


PRELUDE = open(os.path.join(FOLDER, "any_head.tl"), encoding="utf-8").read()


def program(cases, chosen):
    lines = [PRELUDE]
    for k, (name, _, operands, expression) in chosen:
        names = [o[0] for o in operands]
        binds = " ".join(f"let {n} = p[{i}];" for i, n in enumerate(names) if re.search(rf"\b{n}\b", expression))
        lines.append(f"fn op_{k}(p: Vec<Tensor>) -> Tensor {{ {binds} {expression} }}")
    arms = ", ".join(f"{k} => op_{k}(p)" for k, _ in chosen)
    lines.append(f"fn apply(k: i64, p: Vec<Tensor>) -> Tensor {{ match k {{ {arms}, _ => panic(\"no such example\") }} }}")
    names = ", ".join(f"{k} => \"{e[0]}: {e[3]}\"".replace('->', '→') if '"' not in e[3] else f"{k} => \"{e[0]}\"" for k, e in chosen)
    lines.append(f"fn title(k: i64) -> String {{ match k {{ {names}, _ => \"\" }} }}")
    lines.append("fn main() {\n    let mut bad = 0;\n    let cases: Vec<String> = \"" + "\\n".join(cases) + "\".split(\"\\n\");")
    lines.append("    for c in cases { bad += check(c); }\n    println(\"{} of {} cases differ\", bad, cases.len());\n    assert(bad == 0);\n}")
    return "\n".join(lines) + "\n"


def draw_cases(k, example, seed, count):
    for number in range(count):
        yield Case(k, example, seed, number)


def recorded(count, seed, only=()):
    """(cases, examples that have some) of the whole table. What PyTorch refuses is none."""
    lines, chosen = [], []
    for k, example in enumerate(examples()):
        if only and example[0] not in only:
            continue
        try:
            Case(k, example, seed, 0).evaluate()
        except (NotImplementedError, TypeError, AttributeError, SyntaxError, ValueError, IndexError, RuntimeError):
            continue  # meaning.py has no words for this form yet: tests/cli/vectors_any.sh wants a reason
        chosen.append((k, example))
        for case in draw_cases(k, example, seed, count):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    lines.append((k, case.line()))
            except (RuntimeError, TypeError, IndexError):
                if case.letter in "fd" and not case.wild:
                    raise
    return lines, chosen


def programs():
    lines, chosen = recorded(EACH, 1)
    files = {}
    for part in range(PARTS):
        mine = chosen[part::PARTS]
        numbers = {k for k, _ in mine}
        files[f"any_{part + 1}.tl"] = program([line for k, line in lines if k in numbers], mine)
    return files


def same_text(a, b):
    """Word by word, numbers by value."""
    a, b = a.replace("\\n", " "), b.replace("\\n", " ")
    words = list(zip(a.split(), b.split()))
    for x, y in words:
        if x != y and (not re.fullmatch(r"-?[\d.e+-]+", y) or abs(float(x) - float(y)) > 1e-4 * (1 + abs(float(y)))):
            return f"recorded {y}, derived {x}"
    return None if len(a.split()) == len(b.split()) else "one of them is longer"


def main(arguments):
    if arguments[:1] == ["--draw"]:
        lines, chosen = recorded(int(arguments[1]), int(arguments[2]), arguments[4:])
        with open(arguments[3], "w", encoding="utf-8") as file:
            file.write(program([line for _, line in lines], chosen))
        return 0
    status = 0
    for name, text in programs().items():
        path = os.path.join(FOLDER, name)
        if arguments == ["--check"]:
            with open(path, encoding="utf-8") as file:
                difference = same_text(text, file.read())
            if difference:
                print(f"{name}: {difference}")
                status = 1
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return status


sys.exit(main(sys.argv[1:]))
