"""What is recorded: one line a use of an operation, in masu's words and in PyTorch's.

    case(names, masu, torch, operands, **options)

names are the operations that the line covers, as docs/operations.md calls them. Operands are written like the
examples of src/runtime/ops.def: a[2,3] numbers between -2 and 2, + between 0.5 and 2.5, % between 0.1 and 0.9,
#4 whole numbers below 4, ? bools, ~ symmetric and positive definite, ! far from singular; and

    a=1,-2,nan      these numbers          a[2,2]=1,2,3,4    the same in a shape          a[2]-   no gradient

f, inf, nan, F, torch stand ready in the PyTorch expression. Options: types, a string of f (f32), d (f64), i (i64), b (bool):
what a operand without #, ? or an explicit type is made of; grad=False: no gradient is asked for; close: a tolerance.
"""

CASES = []


def case(names, masu, torch, operands, types="fd", grad=True, close=None):
    for type_of in types:
        CASES.append(dict(names=names.split(), masu=masu, torch=torch, operands=operands, type=type_of, grad=grad,
                          close=close))


KINKS = "a=-1000,-100,-20,-6,-3,-2.5,-1,-0.5,-0.0,0,0.5,1,1.5,2.5,3,6,20,100,1000,inf,-inf,nan"
POSITIVE = "a=0,1e-30,0.25,1,2,1000,inf,nan"
SHAPES = ["[2,3]", "[]", "[2,0,3]", "[1,2,1,3,1,2]"]

# ---- one tensor, element by element ------------------------------------------------------------------------------

UNARY = dict(neg="-a", abs="a.abs()", exp="a.exp()", sin="a.sin()", cos="a.cos()", tanh="a.tanh()",
             sigmoid="a.sigmoid()", relu="F.relu(a)", gelu="F.gelu(a)", silu="F.silu(a)", mish="F.mish(a)",
             hardswish="F.hardswish(a)", hardsigmoid="F.hardsigmoid(a)", floor="a.floor()", ceil="a.ceil()",
             round="a.round()", sign="a.sign()", leaky_relu="F.leaky_relu(a)", elu="F.elu(a)")
for name, torch in UNARY.items():
    for shape in SHAPES:
        case(name, f"a.{name}()", torch, "a" + shape, types="f")
    case(name, f"a.t().{name}()", torch.replace("a", "a.t()", 1) if torch == "-a" else f"(lambda a: {torch})(a.t())",
         "a[3,2]", types="d", close=1e-7 if name == "hardsigmoid" else None)
    close = 1e-7 if name == "hardsigmoid" else None  # PyTorch's slope of it is an f32 sixth
    wide = "a=-1000,-100,-20,-6,-3,-2.5,-1,-0.5,-0.0,0,0.5,1,1.5,2.5,3,6,20,100,1000"
    case(name, f"a.{name}()", torch, KINKS if name not in ("mish", "silu", "gelu", "hardswish") else wide, types="d", close=close)
for name in ("log", "sqrt"):
    for shape in SHAPES:
        case(name, f"a.{name}()", f"a.{name}()", "a" + shape + "+", types="f")
    case(name, f"a.{name}()", f"a.{name}()", POSITIVE, types="d")
case("tan", "a.tan()", "a.tan()", "a[2,3]%")
for name, torch in (("neg", "-a"), ("abs", "a.abs()"), ("sign", "a.sign()"), ("relu", "F.relu(a)"), ("exp", "a.exp()"),
                    ("sqrt", "a.abs().sqrt()"), ("sigmoid", "a.sigmoid()")):
    case(name, f"a.{name}()" if name != "sqrt" else "a.abs().sqrt()", torch, "a[5]#9", types="i", grad=False)
case("leaky_relu", "a.leaky_relu(0.2)", "F.leaky_relu(a, 0.2)", KINKS)
case("elu", "a.elu(1.5)", "F.elu(a, 1.5)", KINKS)
case("clamp", "a.clamp(-0.5, 1.0)", "a.clamp(-0.5, 1.0)", KINKS)
case("clamp", "a.clamp(1, 3)", "a.clamp(1, 3)", "a[6]#7", types="i", grad=False)
case("clamp", "a.clamp(1.5, 3.5)", "a.clamp(1.5, 3.5)", "a[6]#7", types="i", grad=False)
case("pow", "a.pow(0.5)", "a.pow(0.5)", "a[6]#7", types="i", grad=False)
case("logical_not", "a.logical_not()", "a.logical_not()", "a=0,1,-2,0.5", grad=False)
case("logical_not", "!a", "a.logical_not()", "a[5]?", types="b", grad=False)

# ---- a tensor and a number ---------------------------------------------------------------------------------------

for name, masu, torch in (("add_scalar", "a + 1.5", "a + 1.5"), ("add_scalar", "a.add_scalar(1.5)", "a + 1.5"),
                          ("sub_scalar", "a - 1.5", "a - 1.5"), ("sub_scalar", "a.sub_scalar(0.5)", "a - 0.5"),
                          ("sub_scalar", "1.5 - a", "1.5 - a"), ("mul_scalar scale", "a * -2.5", "a * -2.5"),
                          ("mul_scalar", "a.mul_scalar(3.0)", "a * 3.0"), ("scale", "a.scale(3.0)", "a * 3.0"),
                          ("div_scalar", "a / 4.0", "a / 4.0"), ("div_scalar", "a.div_scalar(4.0)", "a / 4.0"),
                          ("div_scalar", "2.0 / a", "2.0 / a"), ("rem", "a % 0.7", "a % 0.7"),
                          ("rem", "a % -0.7", "a % -0.7"), ("pow", "a.pow(2.0)", "a.pow(2.0)"),
                          ("pow", "a.pow(3.0)", "a.pow(3.0)"), ("pow", "a.pow(0.0)", "a.pow(0.0)"),
                          ("pow", "a.pow(1.0)", "a.pow(1.0)"), ("pow", "a.pow(-1.0)", "a.pow(-1.0)")):
    case(name, masu, torch, "a[2,3]", types="f")
    case(name, masu, torch, "a=-2,-0.5,0,0.5,3,inf,nan", types="d")
case("pow", "a.pow(0.5)", "a.pow(0.5)", "a=0,0.5,4,inf,nan")
case("pow", "a.pow(2.7)", "a.pow(2.7)", "a[3,2]+")
for masu, torch in (("a + 2", "a + 2"), ("a - 2", "a - 2"), ("2 - a", "2 - a"), ("a * 3", "a * 3"), ("a / 2", "a / 2"),
                    ("a / 2.0", "a / 2.0"), ("7 / (a + 1)", "7 / (a + 1)"), ("a % 3", "a % 3"), ("a % -3", "a % -3"),
                    ("a + 0.5", "a + 0.5"), ("a * 0.5", "a * 0.5"), ("a.pow(2)", "a.pow(2)")):
    case("add mul sub div rem pow", masu, torch, "a[2,3]#9", types="i", grad=False)

# ---- two tensors ---------------------------------------------------------------------------------------------------

for name, op in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("rem", "%")):
    sign = "+" if name in ("div", "rem") else ""
    case(name, f"a {op} b", f"a {op} b", f"a[2,3]{sign} b[2,3]{sign}", types="f")
    case(name, f"a.{name}(b)", f"a {op} b", f"a[2,1,3]{sign} b[4,1]{sign}", types="d")
    case(name, f"a {op} b", f"a {op} b", f"a[]{sign} b[3]{sign}", types="f")
    case(name, f"a {op} b", f"a {op} b", f"a[0,3]{sign} b[3]{sign}", types="f")
    case(name, f"a.t() {op} b", f"a.t() {op} b", f"a[3,2]{sign} b[2,3]{sign}", types="d")
    case(name, f"a {op} a", f"a {op} a", f"a[2,3]{sign}", types="d")
    case(name, f"a {op} (b + 1)", f"a {op} (b + 1)", "a[2,3]#9 b[2,3]#4", types="i", grad=False)
case("div", "a / b", "a / b", "a=1,-1,0,2,inf,nan b=0,0,0,inf,inf,1", types="d")
case("rem", "a % b", "torch.remainder(a, b)", "a=5,-5,5,-5,0.5,-0.5 b=3,3,-3,-3,2,2", types="d")
case("pow", "a.pow(b)", "a.pow(b)", "a[2,3]+ b[3]", types="fd")
case("pow", "a.pow(b)", "a.pow(b)", "a=0,0,2,-2,-2,1 b=0,2,0,2,3,5", types="d")
for relation in ("==", "!=", "<", "<=", ">", ">="):
    case("compare", f"a {relation} b", f"a {relation} b", "a=1,2,3,nan b=2,2,2,nan", types="fd", grad=False)
    case("compare", f"a {relation} 2.0", f"a {relation} 2.0", "a=1,2,3,nan", types="f", grad=False)
    case("compare", f"a {relation} b", f"a {relation} b", "a[2,3]#3 b[3]#3", types="i", grad=False)
case("logical_and", "a.logical_and(b)", "torch.logical_and(a, b)", "a=0,0,1,-2 b=0,3,0,nan", grad=False)
case("logical_or", "a.logical_or(b)", "torch.logical_or(a, b)", "a=0,0,1,-2 b=0,3,0,nan", grad=False)
case("logical_and", "a & b", "a & b", "a[2,3]? b[3]?", types="b", grad=False)
case("logical_or", "a | b", "a | b", "a[2,3]? b[3]?", types="b", grad=False)
case("where_cond", "Tensor::where_cond(c, a, b)", "torch.where(c, a, b)", "c[2,3]? a[2,3] b[3]")
case("maximum", "a.maximum(b)", "torch.maximum(a, b)", "a=1,2,3,nan,1 b=2,2,2,1,nan")
case("minimum", "a.minimum(b)", "torch.minimum(a, b)", "a=1,2,3,nan,1 b=2,2,2,1,nan")
case("masked_fill", "a.masked_fill(m, 0.5)", "a.masked_fill(m, 0.5)", "a[2,3] m[2,3]?")

# ---- creation ------------------------------------------------------------------------------------------------------

for masu, torch, names in (("Tensor::zeros([2, 3])", "torch.zeros(2, 3)", "zeros"),
                           ("Tensor::ones([2, 0])", "torch.ones(2, 0)", "ones"),
                           ("Tensor::full([2, 2], 2.5)", "torch.full((2, 2), 2.5)", "full"),
                           ("Tensor::eye(3)", "torch.eye(3)", "eye"),
                           ("Tensor::new_causal_mask(3)", "torch.full((3, 3), -inf).triu(1)", "new_causal_mask"),
                           ("Tensor::from_vec_u8([65, 66], [2, 1])", "torch.tensor([[65.], [66.]])", "from_vec_u8"),
                           ("Tensor::arange(0, 5)", "torch.arange(0., 5.)", "arange"),
                           ("Tensor::arange(1, 2, 0.25)", "torch.arange(1, 2, 0.25)", "arange"),
                           ("Tensor::arange(5, 0, -2)", "torch.arange(5., 0., -2.)", "arange"),
                           ("Tensor::linspace(-1, 1, 5)", "torch.linspace(-1, 1, 5)", "linspace"),
                           ("Tensor::linspace(2, 3, 1)", "torch.linspace(2, 3, 1)", "linspace"),
                           ("Tensor::from_vec(vec![1.0, 2.5, 3.0, 4.0], [2, 2])",
                            "torch.tensor([[1., 2.5], [3., 4.]])", "from_vec")):
    case(names, masu, torch, "", types="f", grad=False)
case("zeros_like", "Tensor::zeros_like(a)", "torch.zeros_like(a)", "a[2,3]", grad=False)
case("ones_like", "Tensor::ones_like(a)", "torch.ones_like(a)", "a[2,3]", grad=False)
case("ones_like", "Tensor::ones_like(a)", "torch.ones_like(a)", "a[2,3]#3", types="i", grad=False)

# ---- reductions ----------------------------------------------------------------------------------------------------

for name in ("sum", "mean", "prod", "max", "min"):
    torch = {"max": "a.max(dim={}).values", "min": "a.min(dim={}).values"}.get(name, "a." + name + "(dim={})")
    case(name, f"a.{name}()", f"a.{name}()", "a[2,3]")
    case(name, f"a.{name}()", f"a.{name}()", "a[]", types="f")
    for dim in (0, 1, -1):
        case(name, f"a.{name}({dim})", torch.format(dim), "a[2,3,2]", types="f")
    case(name, f"a.{name}(1, true)", torch.format("1, keepdim=True"), "a[2,3]", types="d")
    case(name, f"a.t().{name}(0)", torch.replace("a.", "a.t().", 1).format(0), "a[2,3]", types="d")
case("sum sumall", "a.sumall()", "a.sum()", "a[2,3]", types="f")
for name in ("sum", "prod"):
    case(name, f"a.{name}()", f"a.{name}()", "a[2,0]", types="f")
    case(name, f"a.{name}(0)", f"a.{name}(0)", "a[0,3]", types="f")
    case(name, f"a.{name}()", f"a.{name}()", "a[2,3]#5", types="i", grad=False)
    case(name, f"a.{name}(0)", f"a.{name}(0)", "a[2,3]?", types="b", grad=False)
case("mean", "a.mean()", "a.mean()", "a[2,0]", types="f", grad=False)
case("prod", "a.prod()", "a.prod()", "a=2,0,3", types="d")
case("prod", "a.prod()", "a.prod()", "a=2,0,3,0", types="d")
case("prod", "a.prod(1)", "a.prod(1)", "a[2,3]=2,0,3,1,2,3", types="d")
for name in ("max", "min"):
    case(name, f"a.{name}()", f"a.{name}()", "a=1,3,-2,3,-2,0", types="d")
    case(name, f"a.{name}(0)", f"a.{name}(0).values", "a=1,3,-2,3,-2,0", types="d")
    case(name, f"a.{name}()", f"a.{name}()", "a=1,nan,3", types="d", grad=False)
    case(name, f"a.{name}()", f"a.{name}()", "a[2,3]#9", types="i", grad=False)
for name in ("argmax", "argmin"):
    case(name, f"a.{name}()", f"a.{name}()", "a[2,3]", grad=False)
    case(name, f"a.{name}(1)", f"a.{name}(1)", "a[2,3,2]", grad=False)
    case(name, f"a.{name}(-1)", f"a.{name}(-1)", "a[2,4]#3", types="i", grad=False)
    case(name, f"a.{name}(0)", f"a.{name}(0)", "a=1,nan,3,-4", grad=False)
for name in ("var", "std"):
    case(name, f"a.{name}()", f"a.{name}()", "a[2,3]")
    case(name, f"a.{name}(1)", f"a.{name}(1)", "a[2,3]")
    case(name, f"a.{name}(-1, true)", f"a.{name}(-1, True)", "a[2,3]")
case("norm", "a.norm()", "a.norm()", "a[2,3]")
case("norm", "a.norm()", "a.norm()", "a=0,0,0", types="d")
case("norm", "a.norm(1.0)", "a.norm(1.0)", "a=1,-2,0", types="d")
case("norm", "a.norm(3.0)", "a.norm(3.0)", "a[2,3]", types="d")
case("norm", "a.norm(3.0)", "a.norm(3.0)", "a=0,2,-1", types="d")
case("norm", "a.norm(2.0, 1)", "a.norm(2.0, 1)", "a[2,3]")
case("norm", "a.norm(2.0, 1)", "a.norm(2.0, 1)", "a[2,2]=0,0,3,4", types="d")
case("cumsum", "a.cumsum(1)", "a.cumsum(1)", "a[2,3,2]")
case("cumsum", "a.cumsum(0)", "a.cumsum(0)", "a[4]#5", types="i", grad=False)
case("cumsum", "a.cumsum(0)", "a.cumsum(0)", "a[4]?", types="b", grad=False)
case("topk", "a.topk(2)", "a.topk(2).values", "a[3,4]")
case("topk", "a.topk(2, 0)", "a.topk(2, 0).values", "a[3,4]")
case("topk", "a.topk(2, 1, false)", "a.topk(2, 1, False).values", "a[3,4]")
case("topk_indices", "a.topk_indices(2)", "a.topk(2).indices", "a[3,4]", grad=False)
case("topk_indices", "a.topk_indices(2, 0, false)", "a.topk(2, 0, False).indices", "a[3,4]", grad=False)
case("sort", "a.sort()", "a.sort().values", "a[3,4]")
case("sort", "a.sort(0, true)", "a.sort(0, descending=True).values", "a[3,4]")
case("argsort", "a.argsort()", "a.argsort()", "a[3,4]", grad=False)
case("argsort", "a.argsort(0, true)", "a.argsort(0, descending=True)", "a[3,4]", grad=False)
for name in ("softmax", "log_softmax"):
    for dim, shape in ((0, "[2,3]"), (1, "[2,3,2]"), (-1, "[2,3]"), (0, "[4]"), (1, "[2,0,3]")):
        case(name, f"a.{name}({dim})", f"F.{name}(a, {dim})", "a" + shape)
    case(name, f"a.{name}()", f"F.{name}(a, -1)", "a[2,3]=1000,0,-1000,-inf,0,1", types="d")

# ---- shape ---------------------------------------------------------------------------------------------------------

for names, masu, torch, shape in (
        ("reshape", "a.reshape([3, -1])", "a.reshape(3, -1)", "[2,3,2]"),
        ("view", "a.view([12])", "a.view(12)", "[2,3,2]"),
        ("reshape", "a.t().reshape([2, 3])", "a.t().reshape(2, 3)", "[2,3]"),
        ("transpose", "a.transpose(0, 2)", "a.transpose(0, 2)", "[2,3,4]"),
        ("transpose", "a.transpose(-1, -2)", "a.transpose(-1, -2)", "[2,3,4]"),
        ("t", "a.t()", "a.t()", "[2,3]"), ("permute", "a.permute([2, 0, 1])", "a.permute(2, 0, 1)", "[2,3,4]"),
        ("flatten", "a.flatten()", "a.flatten()", "[2,3,2]"),
        ("flatten", "a.flatten(1)", "a.flatten(1)", "[2,3,2]"),
        ("flatten", "a.flatten(0, 1)", "a.flatten(0, 1)", "[2,3,2]"),
        ("flatten", "a.flatten()", "a.flatten()", "[]"),
        ("squeeze", "a.squeeze(1)", "a.squeeze(1)", "[2,1,3]"),
        ("squeeze", "a.squeeze(0)", "a.squeeze(0)", "[2,1,3]"), ("squeeze", "a.squeeze()", "a.squeeze()", "[1,2,1]"),
        ("unsqueeze", "a.unsqueeze(0)", "a.unsqueeze(0)", "[2,3]"),
        ("unsqueeze", "a.unsqueeze(-1)", "a.unsqueeze(-1)", "[2,3]"),
        ("expand", "a.expand([2, 3, 4])", "a.expand(2, 3, 4)", "[3,1]"),
        ("expand", "a.expand([2, -1, 4])", "a.expand(2, -1, 4)", "[3,1]"),
        ("broadcast_to", "a.broadcast_to([2, 3])", "a.broadcast_to((2, 3))", "[3]"),
        ("slice", "a.slice(1, 1, 3)", "a[:, 1:3]", "[2,4]"), ("slice", "a.slice(0, 0, 0)", "a[0:0]", "[2,4]"),
        ("narrow", "a.narrow(0, 1, 2)", "a.narrow(0, 1, 2)", "[4,2]"),
        ("row", "a[1]", "a[1]", "[3,2]"), ("chunk", "a.chunk(2)[1]", "a.chunk(2)[1]", "[5,2]"),
        ("chunk", "a.chunk(3, 1)[0]", "a.chunk(3, 1)[0]", "[2,5]"),
        ("split", "a.split(2, 1)[2]", "a.split(2, 1)[2]", "[2,5]"),
        ("contiguous", "a.t().contiguous()", "a.t().contiguous()", "[2,3]"),
        ("clone", "a.clone()", "a.clone()", "[2,3]"), ("shallow_clone", "a.shallow_clone()", "a.clone()", "[2,3]"),
        ("tril", "a.tril()", "a.tril()", "[3,4]"), ("tril", "a.tril(1)", "a.tril(1)", "[2,3,3]"),
        ("triu", "a.triu()", "a.triu()", "[3,4]"), ("triu", "a.triu(-1)", "a.triu(-1)", "[4,3]"),
        ("pad", "a.pad([1, 2])", "F.pad(a, (1, 2))", "[2,3]"),
        ("pad", "a.pad([1, 0, 2, 1], 0.5)", "F.pad(a, (1, 0, 2, 1), value=0.5)", "[2,3]"),
        ("repeat_interleave", "a.repeat_interleave(2)", "a.repeat_interleave(2)", "[2,3]"),
        ("repeat_interleave", "a.repeat_interleave(2, 1)", "a.repeat_interleave(2, 1)", "[2,3]")):
    case(names, masu, torch, "a" + shape)
case("cat", "a.cat(b, 1)", "torch.cat([a, b], 1)", "a[2,3] b[2,1]")
case("cat", "Tensor::cat(a, b, 0)", "torch.cat([a, b], 0)", "a[2,3] b[0,3]")
case("cat", "Tensor::cat([a, b, a], -1)", "torch.cat([a, b, a], -1)", "a[2,3] b[2,1]")
case("stack", "Tensor::stack(a, b)", "torch.stack([a, b])", "a[2,3] b[2,3]")
case("stack", "Tensor::stack([a, b, a], 1)", "torch.stack([a, b, a], 1)", "a[2,3] b[2,3]")
case("index_select", "a.index_select(1, i)", "a.index_select(1, i)", "a[2,3] i[5]#3")
case("gather", "a.gather(1, i)", "a.gather(1, i)", "a[2,3] i[2,4]#3")
case("gather", "a.gather(0, i)", "a.gather(0, i)", "a[3,2] i[2,2]#3")
case("embedding", "i.embedding(a)", "F.embedding(i, a)", "i[2,3]#4 a[4,2]")
case("embedding", "a.embedding(i)", "F.embedding(i, a)", "i[3]#4 a[4,2]")

# ---- linear algebra ------------------------------------------------------------------------------------------------

for shapes in ("a[2,3] b[3,4]", "a[3] b[3]", "a[2,3] b[3]", "a[3] b[3,2]", "a[2,1,2,3] b[4,3,2]", "a[2,2,3] b[3,2]",
               "a[2,0] b[0,3]", "a[0,3] b[3,2]"):
    case("matmul", "a.matmul(b)", "a.matmul(b)", shapes)
case("matmul", "a.t().matmul(b.t())", "a.t().matmul(b.t())", "a[3,2] b[4,3]")
case("linear", "a.linear(w)", "F.linear(a, w)", "a[2,3] w[4,3]")
case("linear", "a.linear(w, b)", "F.linear(a, w, b)", "a[2,2,3] w[4,3] b[4]")
case("linear", "a.linear(w, b)", "F.linear(a, w, b)", "a[3] w[4,3] b[4]")
case("trace", "a.trace()", "a.trace()", "a[3,3]")
case("inverse", "a.inverse()", "a.inverse()", "a[3,3]!", types="d", close=1e-10)
case("inverse", "a.inverse()", "a.inverse()", "a[2,3,3]!", types="d", close=1e-10)
case("det", "a.det()", "a.det()", "a[3,3]!", types="d", close=1e-10)
case("det", "a.det()", "a.det()", "a[2,2,2]!", types="d", close=1e-10)
case("solve", "a.solve(b)", "torch.linalg.solve(a, b)", "a[3,3]! b[3,2]", types="d", close=1e-10)
case("solve", "a.solve(b)", "torch.linalg.solve(a, b)", "a[3,3]! b[3]", types="d", close=1e-10)
case("solve", "a.solve(b)", "torch.linalg.solve(a, b)", "a[2,3,3]! b[2,3,2]", types="d", close=1e-10)
case("cholesky", "a.cholesky()", "torch.linalg.cholesky(a)", "a[3,3]~", types="d", close=1e-10)
case("cholesky", "a.cholesky()", "torch.linalg.cholesky(a)", "a[2,3,3]~", types="d", close=1e-10)
case("eigh", "a.eigh().0", "torch.linalg.eigh(a)[0]", "a[3,3]~", types="d", close=1e-9)
case("eigh", "a.eigh().1 * a.eigh().1", "torch.linalg.eigh(a)[1] ** 2", "a[3,3]~", types="d", close=1e-9)
case("eigh", "a.eigh().0", "torch.linalg.eigh(a)[0]", "a[2,3,3]~", types="d", close=1e-9)
for shape in ("[3,3]!", "[4,2]", "[2,4]"):
    case("svd", "a.svd().1", "torch.linalg.svd(a, full_matrices=False)[1]", "a" + shape, types="d", close=1e-9)
    case("svd", "a.svd().0 * a.svd().0", "torch.linalg.svd(a, full_matrices=False)[0] ** 2", "a" + shape, types="d",
         close=1e-9)
    case("svd", "a.svd().2 * a.svd().2", "torch.linalg.svd(a, full_matrices=False)[2] ** 2", "a" + shape, types="d",
         close=1e-9)
case("svd", "a.svd().1", "torch.linalg.svd(a, full_matrices=False)[1]", "a[2,3,2]", types="d", close=1e-9)
case("svd_s", "a.svd_s()", "torch.linalg.svdvals(a)", "a[3,2]", types="d", close=1e-9)
case("svd_u", "a.svd_u() * a.svd_u()", "torch.linalg.svd(a, full_matrices=False)[0] ** 2", "a[3,2]", types="d", close=1e-9)
case("svd_v", "a.svd_v() * a.svd_v()", "torch.linalg.svd(a, full_matrices=False)[2].T ** 2", "a[3,2]", types="d", close=1e-9)
case("eig_values", "a.eig_values()", "torch.linalg.eigh(a)[0]", "a[3,3]~", types="d", close=1e-9)
case("eig_vectors", "a.eig_vectors() * a.eig_vectors()", "torch.linalg.eigh(a)[1] ** 2", "a[3,3]~", types="d", close=1e-9)
case("temperature_scale", "a.temperature_scale(2.5)", "a / 2.5", "a[5]")
case("repetition_penalty", "a.repetition_penalty([1, 3, 1], 2.0)",
     "torch.where(torch.tensor([False, True, False, True, False]), torch.where(a < 0, a * 2, a / 2), a)", "a[5]")
for shape in ("[3,3]!", "[4,2]"):
    case("qr", "a.qr().0", "torch.linalg.qr(a)[0]", "a" + shape, types="d", close=1e-9)
    case("qr", "a.qr().1", "torch.linalg.qr(a)[1]", "a" + shape, types="d", close=1e-9)
case("qr", "a.qr().1", "torch.linalg.qr(a)[1]", "a[2,4]", types="d", close=1e-9)
case("qr", "a.qr().0", "torch.linalg.qr(a)[0]", "a[2,3,2]", types="d", close=1e-9)

# ---- networks ------------------------------------------------------------------------------------------------------

case("conv2d", "a.conv2d(w)", "F.conv2d(a, w)", "a[2,2,4,5] w[3,2,2,3]", close=1e-5)
case("conv2d", "a.conv2d(w, 1, 2)", "F.conv2d(a, w, stride=2, padding=1)", "a[1,2,5,4] w[3,2,3,3]", close=1e-5)
case("conv2d", "a.conv2d(w, b, 1, 1, 2, 2)", "F.conv2d(a, w, b, 1, 1, 2, 2)", "a[1,4,5,5] w[2,2,2,2] b[2]", close=1e-5)
case("conv2d", "a.conv2d(w, b)", "F.conv2d(a, w, b)", "a[1,1,3,3] w[1,1,3,3] b[1]", close=1e-5)
case("conv2d", "a.conv2d(w, [1, 2], [1, 0])", "F.conv2d(a, w, None, (1, 2), (1, 0))", "a[1,2,4,5] w[3,2,2,3]", close=1e-5)
case("conv2d", "a.conv2d(w, b, [1, 2], [1, 0])", "F.conv2d(a, w, b, (1, 2), (1, 0))", "a[1,2,4,5] w[3,2,2,3] b[3]", close=1e-5)
case("conv1d", "a.conv1d(w, 1, 2)", "F.conv1d(a, w, None, 2, 1)", "a[2,2,6] w[3,2,3]", close=1e-5)
case("conv1d", "a.conv1d(w, b)", "F.conv1d(a, w, b)", "a[2,2,6] w[3,2,3] b[3]", close=1e-5)
case("max_pool2d", "a.max_pool2d(2)", "F.max_pool2d(a, 2)", "a[1,2,4,5]")
case("max_pool2d", "a.max_pool2d(3, 1, 1)", "F.max_pool2d(a, 3, 1, 1)", "a[1,2,4,4]")
case("max_pool2d", "a.max_pool2d([2, 3])", "F.max_pool2d(a, (2, 3))", "a[1,2,4,6]")
case("max_pool2d", "a.max_pool2d([2, 3], [1, 2])", "F.max_pool2d(a, (2, 3), (1, 2))", "a[1,2,4,6]")
case("max_pool2d", "a.max_pool2d(2)", "F.max_pool2d(a, 2)", "a[1,1,2,2]=1,3,3,1", types="d")
case("dot", "a.dot(b)", "a.dot(b)", "a[4] b[4]")
case("adaptive_avg_pool2d", "a.adaptive_avg_pool2d(2, 3)", "F.adaptive_avg_pool2d(a, (2, 3))", "a[1,2,5,4]")
case("adaptive_avg_pool2d", "a.adaptive_avg_pool2d(1, 1)", "F.adaptive_avg_pool2d(a, (1, 1))", "a[2,2,3,4]")
case("avg_pool2d", "a.avg_pool2d(2)", "F.avg_pool2d(a, 2)", "a[1,2,4,5]")
case("avg_pool2d", "a.avg_pool2d(3, 1, 1)", "F.avg_pool2d(a, 3, 1, 1)", "a[1,2,4,4]")
case("avg_pool2d", "a.avg_pool2d([2, 3])", "F.avg_pool2d(a, (2, 3))", "a[1,2,4,6]")
case("avg_pool2d", "a.avg_pool2d([2, 3], [1, 2])", "F.avg_pool2d(a, (2, 3), (1, 2))", "a[1,2,4,6]")
case("layer_norm", "a.layer_norm()", "F.layer_norm(a, (4,))", "a[2,3,4]", close=1e-5)
case("layer_norm", "a.layer_norm([3, 4])", "F.layer_norm(a, (3, 4))", "a[2,3,4]", close=1e-5)
case("layer_norm", "a.layer_norm(w, b)", "F.layer_norm(a, (4,), w, b)", "a[3,4] w[4] b[4]", close=1e-5)
case("layer_norm", "a.layer_norm([3, 4], w, b, 0.01)", "F.layer_norm(a, (3, 4), w, b, 0.01)", "a[2,3,4] w[3,4] b[3,4]", close=1e-5)
case("rms_norm", "a.rms_norm()", "a * torch.rsqrt((a * a).mean(-1, keepdim=True) + 1e-6)", "a[2,4]", close=1e-5)
case("rms_norm", "a.rms_norm(w)", "a * torch.rsqrt((a * a).mean(-1, keepdim=True) + 1e-6) * w", "a[2,4] w[4]", close=1e-5)
case("group_norm", "a.group_norm(2)", "F.group_norm(a, 2)", "a[2,4,3]", close=1e-5)
case("group_norm", "a.group_norm(2, w, b)", "F.group_norm(a, 2, w, b)", "a[2,4,3,2] w[4] b[4]", close=1e-5)
case("instance_norm", "a.instance_norm()", "F.instance_norm(a)", "a[2,3,4]", close=1e-5)
case("instance_norm", "a.instance_norm(w, b)", "F.instance_norm(a, weight=w, bias=b)", "a[2,3,2,2] w[3] b[3]", close=1e-5)
case("batch_norm", "a.batch_norm()", "F.batch_norm(a, None, None, training=True)", "a[3,2,4]", close=1e-5)
case("batch_norm", "a.batch_norm(m, v)", "F.batch_norm(a, m, v)", "a[3,2] m[2]- v[2]+-", close=1e-5)
case("batch_norm", "a.batch_norm(m, v, w, b)", "F.batch_norm(a, m, v, w, b)", "a[3,2,2] m[2]- v[2]+- w[2] b[2]", close=1e-5)
case("dropout", "a.dropout(0.5, false)", "F.dropout(a, 0.5, False)", "a[2,3]")
case("dropout", "a.dropout(0.0)", "F.dropout(a, 0.0)", "a[2,3]")
ATTEND = "torch.softmax(a @ k.transpose(-2, -1) / k.shape[-1] ** 0.5{}, -1) @ v"
case("sdpa", "a.sdpa(k, v)", ATTEND.format(""), "a[2,3,2] k[2,4,2] v[2,4,3]", close=1e-5)
case("sdpa", "a.sdpa(k, v, true)", ATTEND.format(" + torch.full((3, 3), -inf).triu(1)"), "a[3,2] k[3,2] v[3,2]", close=1e-5)
case("sdpa", "a.sdpa(k, v, m)", ATTEND.format(" + m"), "a[3,2] k[4,2] v[4,2] m[3,4]", close=1e-5)
case("sdpa", "a.sdpa(k, v, m)", ATTEND.format(" + torch.where(m, 0., -inf)"), "a[3,2] k[4,2] v[4,2] m[3,4]?=1,0,1,1,0,1,0,0,1,1,1,1",
     close=1e-5)

# ---- losses --------------------------------------------------------------------------------------------------------

case("mse_loss", "a.mse_loss(b)", "F.mse_loss(a, b)", "a[2,3] b[2,3]")
case("mse_loss", "Tensor::mse_loss(a, b)", "F.mse_loss(a, b)", "a[4] b[4]")
case("l1_loss", "a.l1_loss(b)", "F.l1_loss(a, b)", "a=1,2,3 b=2,2,1")
case("l1_loss", "Tensor::l1_loss(a, b)", "F.l1_loss(a, b)", "a[2,3] b[2,3]")
case("bce_loss", "a.bce_loss(b)", "F.binary_cross_entropy(a, b)", "a[2,3]% b[2,3]%")
case("bce_loss", "a.bce_loss(b)", "F.binary_cross_entropy(a, b)", "a=0,1,0,1,0.5 b=0,1,1,0,1", types="d",
     close=1e-8)  # an f32 1e-12 there
case("nll_loss", "a.nll_loss(t)", "F.nll_loss(a, t)", "a[4,3] t[4]#3")
case("nll_loss", "a.nll_loss(t)", "F.nll_loss(a, t)", "a[2,3,2] t[2,2]#3")
case("kl_div_loss", "a.kl_div_loss(b)", "F.kl_div(a, b, reduction='mean')", "a[2,3] b[2,3]%")
case("kl_div_loss", "a.kl_div_loss(b)", "F.kl_div(a, b, reduction='mean')", "a=-1,-2,-3 b=0,0.5,0.5", types="d", grad=False)
case("cross_entropy", "a.cross_entropy(t)", "F.cross_entropy(a, t)", "a[4,3] t[4]#3")
case("cross_entropy", "a.cross_entropy(b)", "F.cross_entropy(a, b)", "a[4,3] b[4,3]%")
case("cross_entropy", "a.cross_entropy(t)", "F.cross_entropy(a, t)", "a[2,3]=1000,0,-1000,0,0,5 t[2]#3", types="d")

# ---- in place ------------------------------------------------------------------------------------------------------

for name, op in (("add_assign", "+"), ("sub_assign", "-"), ("mul_assign", "*"), ("div_assign", "/")):
    case(name, "{ let mut y = a.detach(); y." + name + "(b); y }", f"a.detach() {op} b", "a[2,3] b[3]+", grad=False)
case("fill_", "{ let mut y = a.detach(); y.fill_(2.5); y }", "torch.full_like(a, 2.5)", "a[2,3]", grad=False)
