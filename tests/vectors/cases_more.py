"""More of what is recorded: rarer operations, sums over several dimensions, rows by numbers; and what
cases.py has once more with a view as operand and a result that is used twice.
"""
import re

from cases import CASES, KINKS, SHAPES, case

# ---- one tensor, element by element ----------------------------------------------------------------------------------

UNARY = dict(trunc=("a.trunc()", ""), log1p=("a.log1p()", "+"), log2=("a.log2()", "+"), log10=("a.log10()", "+"),
             expm1=("a.expm1()", ""), exp2=("torch.exp2(a)", ""), rsqrt=("a.rsqrt()", "+"), erf=("a.erf()", ""),
             softplus=("F.softplus(a)", ""), asin=("a.asin()", "%"), acos=("a.acos()", "%"), atan=("a.atan()", ""),
             sinh=("a.sinh()", ""), cosh=("a.cosh()", ""), square=("a.square()", ""), reciprocal=("a.reciprocal()", "+"),
             relu6=("F.relu6(a)", ""), hardtanh=("F.hardtanh(a)", ""), selu=("F.selu(a)", ""), celu=("F.celu(a)", ""),
             log_sigmoid=("F.logsigmoid(a)", ""), softsign=("F.softsign(a)", ""), frac=("a.frac()", ""))
for name, (torch, flags) in UNARY.items():
    for shape in SHAPES:
        case(name, f"a.{name}()", torch, "a" + shape + flags, types="f")
    case(name, f"a.t().{name}()", f"(lambda a: {torch})(a.t())", "a[3,2]" + flags, types="d")
for name in ("log1p", "expm1", "erf", "softplus", "atan", "trunc", "log_sigmoid", "softsign", "relu6", "hardtanh"):
    case(name, f"a.{name}()", UNARY[name][0], "a=1e-12,-1e-9,0.5,2.5,-0.75,3,6,15,-15", types="d")
case("trunc", "a.trunc()", "a.trunc()", "a[5]#9", types="i", grad=False)
case("log2", "a.log2()", "a.log2()", "a=1,2,4,0,inf,nan", types="fd", grad=False)
case("celu", "a.celu(1.5)", "F.celu(a, 1.5)", "a[2,3]")
case("hardtanh", "a.hardtanh(-0.5, 0.7)", "F.hardtanh(a, -0.5, 0.7)", "a[2,3]")
case("clamp_min", "a.clamp_min(-0.5)", "a.clamp_min(-0.5)", "a[2,3]")
case("clamp_max", "a.clamp_max(0.5)", "a.clamp_max(0.5)", "a[2,3]")
case("prelu", "a.prelu(w)", "F.prelu(a, w)", "a[2,3] w[1]")
case("glu", "a.glu()", "F.glu(a)", "a[2,4]")
case("glu", "a.glu(0)", "F.glu(a, 0)", "a[4,3]")
case("floor_divide", "a.floor_divide(b)", "torch.floor(a / b)", "a[2,3] b[3]+")
case("lerp", "a.lerp(b, 0.3)", "torch.lerp(a, b, 0.3)", "a[2,3] b[2,3]")
for name in ("isnan", "isinf", "isfinite"):
    case(name, f"a.{name}()", f"a.{name}()", KINKS, grad=False)
case("logical_xor", "a.logical_xor(b)", "torch.logical_xor(a, b)", "a[2,3]? b[3]?", types="b", grad=False)
for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    case(name, f"a.{name}(b)", f"a.{name}(b)", "a=1,2,3,nan b=2,2,2,nan", grad=False)
    case(name, f"a.{name}(b)", f"a.{name}(b)", "a[2,3]#3 b[3]#3", types="i", grad=False)

for name, op in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("rem", "%")):
    case(name, f"a.{name}(b)", f"a {op} b", "a[2,1,3]+ b[4,1]+", types="f", close=1e-5)
case("sumall", "a.sumall()", "a.sum()", "a[3,2,2]", types="d")

# ---- reductions --------------------------------------------------------------------------------------------------------

for name in ("any", "all"):
    case(name, f"a.{name}(1)", f"a.{name}(1)", "a[2,3]?", types="b", grad=False)
    case(name, f"a.{name}(0, true)", f"a.bool().{name}(0, True)", "a=0,0,1,nan", types="fd", grad=False)
    case(name, f"[a.{name}()]", f"a.{name}().reshape(1)", "a[2,3]?", types="b", grad=False)
for name, torch in (("amax", "a.amax"), ("amin", "a.amin")):
    case(name, f"a.{name}(1)", f"{torch}(1)", "a[2,3]")
    case(name, f"a.{name}(-1, true)", f"{torch}(-1, True)", "a[2,3]")
case("logsumexp", "a.logsumexp(1)", "a.logsumexp(1)", "a[2,3]")
case("logsumexp", "a.logsumexp(0, true)", "a.logsumexp(0, True)", "a[3,2]")
case("logsumexp", "a.logsumexp(0)", "a.logsumexp(0)", "a=1000,999,-1000", types="d")
case("median", "a.median()", "a.median()", "a[2,3]")
case("median", "a.median()", "a.median()", "a[5]")
case("cumprod", "a.cumprod(1)", "a.cumprod(1)", "a[2,4]+")
case("cumprod", "a.cumprod(0)", "a.cumprod(0)", "a=2,0,3,4")
case("diff", "a.diff()", "a.diff()", "a[2,4]")
case("diff", "a.diff(1, 0)", "a.diff(1, 0)", "a[3,2]")
for name in ("sum", "mean", "max", "min", "var"):
    torch = {"max": "amax", "min": "amin"}.get(name, name)
    for dims in ("[0, 2]", "[-1, -2]", "[1]"):
        case(name, f"a.{name}({dims})", f"a.{torch}({dims})", "a[2,3,2]")
    case(name, f"a.{name}([0, 1], true)", f"a.{torch}([0, 1], True)", "a[3,2,2]")
for name in ("argmax", "argmin"):
    case(name, f"a.{name}(1, true)", f"a.{name}(1, True)", "a[2,3]", grad=False)

# ---- shapes --------------------------------------------------------------------------------------------------------------

case("flip", "a.flip(-1)", "a.flip(-1)", "a[2,3]")
case("flip", "a.flip([0, 1])", "a.flip([0, 1])", "a[2,3]")
case("roll", "a.roll(1, -1)", "a.roll(1, -1)", "a[2,3]")
case("roll", "a.roll(-2, 0)", "a.roll(-2, 0)", "a[3,2]")
case("roll", "a.roll(2)", "a.roll(2)", "a[2,3]")
case("roll", "a.roll(1, 0)", "a.roll(1, 0)", "a[0,3]", types="f")
case("diagonal", "a.diagonal()", "a.diagonal()", "a[3,4]")
case("diagonal", "a.diagonal()", "a.diagonal()", "a[3,2,2]")
case("diag", "a.diag()", "a.diag()", "a[3]")
case("diag", "a.diag()", "a.diag()", "a[3,3]")
case("select", "a.select(1, -1)", "a.select(1, -1)", "a[2,3]")
case("select", "a.select(0, 1)", "a.select(0, 1)", "a[2,3]")
case("unbind", "a.unbind()[1]", "a.unbind()[1]", "a[3,2]")
case("unbind", "a.unbind(1)[0]", "a.unbind(1)[0]", "a[3,2]")
case("repeat", "a.repeat([2, 1, 2])", "a.repeat(2, 1, 2)", "a[2,3]")
case("repeat", "a.repeat([0, 2])", "a.repeat(0, 2)", "a[2,3]", types="f")
case("expand_as", "a.expand_as(b)", "a.expand_as(b)", "a[3] b[2,3]-")
case("view_as", "a.view_as(b)", "a.view_as(b)", "a[2,3] b[3,2]-")
case("unflatten", "a.unflatten(0, [2, 3])", "a.unflatten(0, (2, 3))", "a[6,2]")
case("vstack", "Tensor::vstack([a, b])", "torch.vstack([a, b])", "a[2,3] b[1,3]")
case("hstack", "Tensor::hstack([a, b])", "torch.hstack([a, b])", "a[2,3] b[2,1]")
case("masked_select", "a.masked_select(m)", "a.masked_select(m)", "a[2,3] m[2,3]?")
case("masked_select", "a[a > 0.0]", "a[a > 0.0]", "a[2,3]")
case("nonzero", "a.nonzero()", "a.nonzero()", "a[2,3]#2", types="i", grad=False)
case("nonzero", "a.nonzero()", "a.nonzero()", "a[2,0]", types="f", grad=False)
case("index_select", "a[t]", "a[t]", "a[4,2] t[3]#4")
case("index_select", "a[t]", "a[t]", "a[4] t[2,2]#4")
case("index_select", "a[t - 4]", "a[t - 4]", "a[4,2] t[3]#4")
case("scatter_add", "a.scatter_add(1, i, s)", "a.scatter_add(1, i, s)", "a[2,4] i[2,3]#4 s[2,3]")
case("scatter_add", "a.scatter_add(0, i, s)", "a.scatter_add(0, i, s)", "a[3,2] i[4,2]#3 s[4,2]")

# ---- products --------------------------------------------------------------------------------------------------------------

case("inverse", "a.inverse()", "a.inverse()", "a[2,3,3]!", types="f", close=1e-4)
case("det", "a.det()", "a.det()", "a[2,3,3]!", types="f", close=1e-3)
case("solve", "a.solve(b)", "torch.linalg.solve(a, b)", "a[3,3]! b[3,2]", types="f", close=1e-4)
case("cholesky", "a.cholesky()", "torch.linalg.cholesky(a)", "a[3,3]~", types="f", close=1e-4)
case("outer", "a.outer(b)", "torch.outer(a, b)", "a[2] b[3]")
case("cdist", "a.cdist(b)", "torch.cdist(a, b)", "a[3,2] b[4,2]", close=1e-5)
case("cosine_similarity", "a.cosine_similarity(b, 1)", "F.cosine_similarity(a, b, 1)", "a[2,3] b[2,3]")
case("normalize", "a.normalize()", "F.normalize(a)", "a[2,3]")
case("normalize", "a.normalize(1.0, 0)", "F.normalize(a, 1.0, 0)", "a[2,3]")
case("matrix_power", "a.matrix_power(3)", "torch.matrix_power(a, 3)", "a[3,3]", close=1e-5)
case("matrix_power", "a.matrix_power(-2)", "torch.matrix_power(a, -2)", "a[3,3]!", close=1e-5)
case("matrix_power", "a.matrix_power(0)", "torch.matrix_power(a, 0)", "a[3,3]")
case("pinverse", "a.pinverse()", "torch.linalg.pinv(a)", "a[4,3]", types="d", close=1e-8)
case("pinverse", "a.pinverse()", "torch.linalg.pinv(a)", "a[2,4]", types="d", close=1e-8)
case("lstsq", "a.lstsq(b)", "torch.linalg.lstsq(a, b).solution", "a[4,3] b[4,2]", types="d", close=1e-8)
case("logdet", "a.logdet()", "a.logdet()", "a[3,3]~", types="d", close=1e-10)
for text, operands in (("ij,jk->ik", "a[2,3] b[3,4]"), ("bij,bkj->bik", "a[2,3,2] b[2,4,2]"), ("i,j->ij", "a[2] b[3]"),
                       ("ij,ij->", "a[2,3] b[2,3]"), ("ij,j->i", "a[2,3] b[3]"), ("bhqd,bhkd->bhqk", "a[1,2,2,3] b[1,2,3,3]"),
                       ("ij,jk", "a[2,3] b[3,2]"), ("ijk,ilk->jl", "a[2,3,2] b[2,2,2]")):
    case("einsum", f'Tensor::einsum("{text}", a, b)', f'torch.einsum("{text}", a, b)', operands, types="d")
for text, operands in (("ij->ji", "a[2,3]"), ("ii->", "a[3,3]"), ("ii->i", "a[3,3]"), ("ij->j", "a[2,3]"), ("ijk->ki", "a[2,3,2]")):
    case("einsum", f'Tensor::einsum("{text}", a)', f'torch.einsum("{text}", a)', operands, types="f")
case("einsum", 'Tensor::einsum("ij,jk,kl->il", [a, b, c])', 'torch.einsum("ij,jk,kl->il", a, b, c)', "a[2,3] b[3,2] c[2,2]", close=1e-5)

# ---- networks ----------------------------------------------------------------------------------------------------------------

case("one_hot", "t.one_hot(4)", "F.one_hot(t, 4).float()", "t[2,3]#4", types="i", grad=False)
case("smooth_l1_loss", "a.smooth_l1_loss(b)", "F.smooth_l1_loss(a, b)", "a=1,2,3,0 b=2.5,2.5,1,0.25")
case("smooth_l1_loss", "a.smooth_l1_loss(b, 0.5)", "F.smooth_l1_loss(a, b, beta=0.5)", "a[2,3] b[2,3]")
case("huber_loss", "a.huber_loss(b, 0.7)", "F.huber_loss(a, b, delta=0.7)", "a[2,3] b[2,3]")
case("bce_with_logits", "a.bce_with_logits(b)", "F.binary_cross_entropy_with_logits(a, b)", "a=-30,-1,0,2,15 b=0,1,1,0,1", types="fd")
case("max_pool1d", "a.max_pool1d(2)", "F.max_pool1d(a, 2)", "a[1,2,5]")
case("max_pool1d", "a.max_pool1d(3, 1, 1)", "F.max_pool1d(a, 3, 1, 1)", "a[2,1,5]")
case("avg_pool1d", "a.avg_pool1d(2)", "F.avg_pool1d(a, 2)", "a[1,2,6]")
case("avg_pool1d", "a.avg_pool1d(3, 2, 1)", "F.avg_pool1d(a, 3, 2, 1)", "a[1,2,6]")
case("upsample_nearest2d", "a.upsample_nearest2d(2)", "F.interpolate(a, scale_factor=2)", "a[1,2,2,3]")
case("pixel_shuffle", "a.pixel_shuffle(2)", "F.pixel_shuffle(a, 2)", "a[1,8,2,3]")
case("conv_transpose2d", "a.conv_transpose2d(w, 2, 0)", "F.conv_transpose2d(a, w, None, 2, 0)", "a[1,2,3,3] w[2,3,2,2]", close=1e-5)
case("conv_transpose2d", "a.conv_transpose2d(w, 1, 1)", "F.conv_transpose2d(a, w, None, 1, 1)", "a[2,2,3,2] w[2,1,3,3]", close=1e-5)
case("conv_transpose2d", "a.conv_transpose2d(w, 3, 1)", "F.conv_transpose2d(a, w, None, 3, 1)", "a[1,1,2,3] w[1,2,3,2]", close=1e-5)
case("conv2d", "a.conv2d(w, b, 1, 1)", "F.conv2d(a, w, b, 1, 1)", "a[2,4,3] w[3,2,3,3] b[3]", types="d", close=1e-10)
case("conv1d", "a.conv1d(w, b)", "F.conv1d(a, w, b)", "a[2,4] w[3,2,3] b[3]", types="d", close=1e-10)
case("max_pool2d", "a.max_pool2d(2)", "F.max_pool2d(a, 2)", "a[2,4,4]", types="d")
case("avg_pool2d", "a.avg_pool2d(2, 1)", "F.avg_pool2d(a, 2, 1)", "a[2,4,4]", types="d")
case("nll_loss", "a.nll_loss(t)", "F.nll_loss(a, t)", "a[3,4] t[3]#4", types="d")
ANGLES = "torch.outer(torch.arange(3.), 10000.0 ** (-torch.arange(0., 4., 2.) / 4))"
case("rope_new_cos", "Tensor::rope_new_cos(4, 3, 10000.0)", ANGLES + ".cos()", "", types="f", grad=False)
case("rope_new_sin", "Tensor::rope_new_sin(4, 3, 10000.0)", ANGLES + ".sin()", "", types="f", grad=False)
TURN = "torch.cat([a[..., :2] * c - a[..., 2:] * s, a[..., 2:] * c + a[..., :2] * s], -1)"
case("apply_rope", "a.apply_rope(c, s)", TURN, "a[2,3,4] c[3,2] s[3,2]")
case("apply_rope", "a.apply_rope(c, s)", "a * c + torch.cat([-a[..., 2:], a[..., :2]], -1) * s", "a[1,2,3,4] c[3,4] s[3,4]")
case("full_like", "Tensor::full_like(a, 2.5)", "torch.full_like(a, 2.5)", "a[2,3]", grad=False)
for name in ("allclose", "equal"):
    for b in ("1,2,3", "1,2,3.000001", "1,2,4"):
        case(name, f"[a.{name}(b)]", f"torch.tensor([torch.{name}(a, b)])", f"a=1,2,3 b={b}", types="d", grad=False)

# ---- names that people bring along ----------------------------------------------------------------------

for name, torch, operands in (
        ("fmod(b)", "a.fmod(b)", "a[2,3] b[3]+"), ("fmod(0.7)", "a.fmod(0.7)", "a[2,3]"), ("atan2(b)", "a.atan2(b)", "a[2,3] b[3]"),
        ("hypot(b)", "a.hypot(b)", "a[2,3] b[3]"), ("copysign(b)", "a.copysign(b)", "a[2,3] b[2,3]"), ("asinh()", "a.asinh()", "a[2,3]"),
        ("atanh()", "a.atanh()", "a[2,3]%"), ("erfc()", "a.erfc()", "a[2,3]"), ("logit()", "a.logit()", "a[2,3]%"),
        ("sinc()", "a.sinc()", "a[2,3]"), ("tanhshrink()", "F.tanhshrink(a)", "a[2,3]"), ("softshrink()", "F.softshrink(a)", "a[2,3]"),
        ("hardshrink()", "F.hardshrink(a)", "a[2,3]"), ("threshold(0.1, 0.7)", "F.threshold(a, 0.1, 0.7)", "a[2,3]"),
        ("softmin(1)", "F.softmin(a, 1)", "a[2,3]"), ("quick_gelu()", "a * torch.sigmoid(1.702 * a)", "a[2,3]"),
        ("xlogy(b)", "torch.xlogy(a, b)", "a[2,3] b[2,3]+"), ("deg2rad()", "torch.deg2rad(a)", "a[2,3]"),
        ("rad2deg()", "torch.rad2deg(a)", "a[2,3]"), ("affine(2.0, 1.0)", "a * 2 + 1", "a[2,3]"), ("rsub(b)", "torch.rsub(a, b)", "a[2,3] b[3]"),
        ("addcmul(b, c, 0.5)", "torch.addcmul(a, b, c, value=0.5)", "a[2,3] b[2,3] c[2,3]"),
        ("addcdiv(b, c, 0.5)", "torch.addcdiv(a, b, c, value=0.5)", "a[2,3] b[2,3] c[2,3]+"),
        ("median(1)", "a.median(1).values", "a[2,4]"), ("kthvalue(2)", "a.kthvalue(2).values", "a[2,3]"),
        ("quantile(0.3)", "a.quantile(0.3)", "a[2,3]"), ("quantile(0.3, 1)", "a.quantile(0.3, 1)", "a[2,4]"),
        ("cummax(1)", "a.cummax(1).values", "a[2,4]"), ("cummin(0)", "a.cummin(0).values", "a[4,2]"),
        ("logcumsumexp(1)", "a.logcumsumexp(1)", "a[2,4]"), ("trapz(0.5)", "torch.trapz(a, dx=0.5)", "a[2,4]"),
        ("dist(b)", "torch.dist(a, b)", "a[2,3] b[2,3]"), ("cov()", "a.cov()", "a[2,4]"), ("corrcoef()", "a.corrcoef()", "a[2,4]"),
        ("var_mean().0", "torch.var_mean(a)[0]", "a[2,3]"), ("std_mean().1", "torch.std_mean(a)[1]", "a[2,3]"),
        ("rot90()", "a.rot90()", "a[2,3]"), ("rot90(2)", "a.rot90(2)", "a[2,3]"), ("rot90(-1)", "a.rot90(-1)", "a[2,3]"),
        ("rot90(1, [1, 2])", "a.rot90(1, [1, 2])", "a[2,3,2]"), ("rot90(1, [1, 0])", "a.rot90(1, [1, 0])", "a[2,3]"),
        ("fliplr()", "a.fliplr()", "a[2,3]"), ("flipud()", "a.flipud()", "a[2,3]"), ("movedim(0, 2)", "a.movedim(0, 2)", "a[2,3,4]"),
        ("movedim(-1, 0)", "a.movedim(-1, 0)", "a[2,3,4]"), ("repeat(2, 3)", "a.repeat(2, 3)", "a[2,2]"), ("tile([2])", "a.tile((2,))", "a[2,3]"),
        ("unfold(1, 3, 2)", "a.unfold(1, 3, 2)", "a[2,5]"), ("unfold(0, 2, 1)", "a.unfold(0, 2, 1)", "a[3,2]"),
        ("tensor_split(3)[1]", "a.tensor_split(3)[1]", "a[5,2]"), ("diag_embed()", "torch.diag_embed(a)", "a[2,3]"),
        ("diagflat()", "torch.diagflat(a)", "a[2,2]"), ("take(i)", "a.take(i)", "a[2,3] i[2,2]#6"),
        ("take_along_dim(i, 1)", "torch.take_along_dim(a, i, 1)", "a[2,3] i[2,2]#3"), ("index_add(0, i, s)", "a.index_add(0, i, s)", "a[4,2] i[3]#4 s[3,2]"),
        ("index_add(1, i, s)", "a.index_add(1, i, s)", "a[2,4] i[3]#4 s[2,3]"), ("index_fill(0, i, 0.5)", "a.index_fill(0, i, 0.5)", "a[4,2] i[2]#4"),
        ("scatter(1, s.detach().argsort(1), s)", "a.scatter(1, s.detach().argsort(1), s)", "a[2,4] s[2,2]"),
        ("scatter(0, s.detach().argsort(0), s)", "a.scatter(0, s.detach().argsort(0), s)", "a[4,3] s[2,3]"),
        ("addmm(b, c, 0.5, 2.0)", "torch.addmm(a, b, c, beta=0.5, alpha=2)", "a[4] b[2,3] c[3,4]"), ("inner(b)", "torch.inner(a, b)", "a[2,3] b[4,3]"),
        ("cross(b, 1)", "torch.cross(a, b, 1)", "a[2,3] b[2,3]"), ("cross(b)", "torch.cross(a, b, 0)", "a[3] b[3]"), ("kron(b)", "torch.kron(a, b)", "a[2,3] b[2,2]"),
        ("tensordot(b, 2)", "torch.tensordot(a, b, 2)", "a[2,3,4] b[3,4,2]"), ("slogdet().1", "a.slogdet()[1]", "a[3,3]!"),
        ("matrix_exp()", "torch.matrix_exp(a)", "a[3,3]"), ("svdvals()", "torch.linalg.svdvals(a)", "a[3,2]"),
        ("adaptive_avg_pool2d([2, 3])", "F.adaptive_avg_pool2d(a, (2, 3))", "a[1,2,5,4]"), ("adaptive_max_pool2d(2)", "F.adaptive_max_pool2d(a, 2)", "a[1,2,4,4]"),
        ("upsample_bilinear2d(2)", "F.interpolate(a, scale_factor=2, mode='bilinear', align_corners=False)", "a[1,2,2,3]"),
        ("upsample_bilinear2d(3, true)", "F.interpolate(a, scale_factor=3, mode='bilinear', align_corners=True)", "a[1,1,2,3]"),
        ("global_avg_pool2d()", "F.adaptive_avg_pool2d(a, 1)", "a[1,2,3,2]"), ("pixel_unshuffle(2)", "F.pixel_unshuffle(a, 2)", "a[1,1,4,4]"),
        ("channel_shuffle(2)", "a.reshape(1, 2, 2, 2, 2).transpose(1, 2).reshape(1, 4, 2, 2)", "a[1,4,2,2]"),
        ("zero_pad2d(1)", "F.pad(a, (1, 1, 1, 1))", "a[1,1,2,3]"), ("reflection_pad2d(2)", "F.pad(a, (2, 2, 2, 2), mode='reflect')", "a[1,1,3,3]"),
        ("replication_pad2d(2)", "F.pad(a, (2, 2, 2, 2), mode='replicate')", "a[1,1,3,3]"), ("pairwise_distance(b)", "F.pairwise_distance(a, b)", "a[2,3] b[2,3]"),
        ("margin_ranking_loss(b, y * 2 - 1, 0.3)", "F.margin_ranking_loss(a, b, y * 2 - 1, 0.3)", "a[4] b[4] y[4]#2"),
        ("hinge_embedding_loss(y * 2 - 1)", "F.hinge_embedding_loss(a, y * 2 - 1)", "a[4] y[4]#2"),
        ("soft_margin_loss(y * 2 - 1)", "F.soft_margin_loss(a, y * 2 - 1)", "a[4] y[4]#2"),
        ("cosine_embedding_loss(b, y * 2 - 1, 0.2)", "F.cosine_embedding_loss(a, b, y * 2 - 1, 0.2)", "a[3,4] b[3,4] y[3]#2"),
        ("triplet_margin_loss(b, c)", "F.triplet_margin_loss(a, b, c)", "a[2,3] b[2,3] c[2,3]"), ("poisson_nll_loss(b)", "F.poisson_nll_loss(a, b)", "a[2,3] b[2,3]+"),
        ("gaussian_nll_loss(b, v)", "F.gaussian_nll_loss(a, b, v)", "a[2,3] b[2,3] v[2,3]+"), ("nansum()", "a.nansum()", "a[2,3]")):
    case(name.split("(")[0], "a." + name, torch, operands, types="d", close=1e-6 if "bilinear" in name else 1e-9)
case("acosh", "(a + 1.0).acosh()", "(a + 1.0).acosh()", "a[2,3]+", types="d")
case("asinh", "a.asinh()", "a.asinh()", "a=-1e6,-1e-9,1e-12,0.5,3e4", types="d", grad=False)
case("atan2", "a.atan2(b)", "a.atan2(b)", "a=0,0,1,-1,2,-2,3,-3 b=1,-1,0,0,-2,-2,4,4", types="d", grad=False)
case("eigvalsh", "(a + a.t()).eigvalsh()", "torch.linalg.eigvalsh(a + a.t())", "a[3,3]", types="d", close=1e-9)
case("nan_to_num", "a.nan_to_num()", "a.nan_to_num()", "a=1,nan,inf,-inf,-2", types="f", grad=False)
case("heaviside", "a.heaviside(b)", "torch.heaviside(a, b)", "a=-1,0,2 b=5,6,7", types="f", grad=False)
for name, torch, operands in (("isin(b)", "torch.isin(a, b)", "a[2,3]#4 b[2]#4"), ("count_nonzero(1)", "a.count_nonzero(1)", "a[2,3]#2"),
                              ("mode()", "a.mode().values", "a[2,9]#3"), ("unique()", "a.unique()", "a[2,5]#4"), ("bincount(6)", "a.bincount(minlength=6)", "a[7]#4"),
                              ("long()", "a.long()", "a[3]#9"), ("float()", "a.float()", "a[3]#9"), ("bool()", "a.bool()", "a[5]#2"),
                              ("one_hot()", "F.one_hot(a).float()", "a[5]#3")):
    case(name.split("(")[0], "a." + name, torch, operands, types="i", grad=False)
case("isclose", "a.isclose(b)", "a.isclose(b)", "a=1,2,inf b=1,2.1,inf", types="d", grad=False)
case("histc", "a.histc(4, -1.0, 1.0)", "a.histc(4, -1, 1)", "a[9]", types="f", grad=False)
case("searchsorted", "a.searchsorted(b)", "torch.searchsorted(a, b)", "a=1,2,4 b=0,1,1.5,4,9", types="d", grad=False)
case("bucketize", "b.bucketize(a)", "torch.bucketize(b, a)", "a=1,2,4 b=0,1,1.5,4,9", types="d", grad=False)
for name, torch in (("cartesian_prod(a, b)", "torch.cartesian_prod(a, b)"), ("column_stack([a, b])", "torch.column_stack([a, b])"),
                    ("meshgrid(a, b).0 + b", "torch.meshgrid(a, b, indexing='ij')[0] + b"), ("meshgrid(a, b).1 * a", "torch.meshgrid(a, b, indexing='ij')[1] * a")):
    case(name.split("(")[0], "Tensor::" + name, torch, "a[3] b[3]", types="d")
for name, torch in (("concat([a, b], 1)", "torch.cat([a, b], 1)"), ("concatenate([a, b])", "torch.cat([a, b])"), ("dstack([a, b])", "torch.dstack([a, b])"),
                    ("block_diag([a, b, a])", "torch.block_diag(a, b, a)")):
    case(name.split("(")[0], "Tensor::" + name, torch, "a[2,3] b[2,3]", types="d")
case("logspace", "Tensor::logspace(-1.0, 2.0, 4)", "torch.logspace(-1, 2, 4)", "", types="f", grad=False, close=1e-5)
case("tri", "Tensor::tri(3)", "torch.ones(3, 3).tril()", "", types="f", grad=False)

# ---- forms with PyTorch's arguments, and what few programs use -----------------------------------------------------------

for name, torch, operands in (("erfinv()", "a.erfinv()", "a[2,3]%"), ("lgamma()", "a.lgamma()", "a[2,3]+"), ("digamma()", "a.digamma()", "a[2,3]+")):
    case(name.split("(")[0], "a." + name, torch, operands, close=1e-5 if name == "digamma()" else None)
case("erfinv", "a.erfinv()", "a.erfinv()", "a=-1,-0.999999999,-0.6,0,1e-9,0.3,0.99,1,1.5", types="d", grad=False, close=1e-9)
case("lgamma", "a.lgamma()", "a.lgamma()", "a=-2.5,-0.5,1,2,30,1e6", types="d", grad=False)
case("digamma", "a.digamma()", "a.digamma()", "a=-2.5,-0.5,0.001,1,5.9,30,1e6", types="d", close=1e-9)
for name, torch, operands in (
        ("max(b)", "torch.max(a, b)", "a[2,3] b[3]"), ("min(b)", "torch.min(a, b)", "a[2,3] b[3]"), ("max(0.25)", "a.clamp(min=0.25)", "a[2,3]"),
        ("var(false)", "a.var(False)", "a[2,3]"), ("var(1, false, true)", "a.var(1, False, True)", "a[2,3]"), ("std(false)", "a.std(False)", "a[2,3]"),
        ("std(1, false, true)", "a.std(1, False, True)", "a[2,3]"), ("std([0, 2])", "a.std([0, 2])", "a[2,3,2]"),
        ("norm(3.0, [0, 2])", "a.norm(3, [0, 2])", "a[2,3,2]"), ("norm(2.0, 1, true)", "a.norm(2, 1, True)", "a[2,3]"),
        ("norm(F64::infinity())", "a.abs().max()", "a[2,3]"), ("topk(2, 1, true, true)", "a.topk(2)[0]", "a[2,4]"),
        ("clamp(-b, b)", "a.clamp(-b, b)", "a[2,3] b[3]+"), ("gelu(\"tanh\")", "F.gelu(a, approximate='tanh')", "a[2,3]"),
        ("softplus(2.0, 1.0)", "F.softplus(a, 2, 1)", "a[2,3]"), ("squeeze([0, -2])", "a[0, :, 0]", "a[1,2,1,3]"),
        ("pad([1, 2], \"reflect\")", "F.pad(a, [1, 2], 'reflect')", "a[2,3,4]"), ("pad([2, 1], \"replicate\")", "F.pad(a, [2, 1], 'replicate')", "a[2,3,4]"),
        ("pad([2, 1], \"circular\")", "F.pad(a, [2, 1], 'circular')", "a[2,3,4]"), ("split([2, 3])[1]", "a.split([2, 3])[1]", "a[5,2]"),
        ("repeat_interleave([2, 1], 0)", "a.repeat_interleave(torch.tensor([2, 1]), 0)", "a[2,3]"), ("index_select(1, vec![2, 0])", "a[:, [2, 0]]", "a[2,3]"),
        ("max_pool2d([2, 3], [1, 2], [1, 1])", "F.max_pool2d(a, [2, 3], [1, 2], [1, 1])", "a[1,2,4,6]"),
        ("avg_pool2d([2, 3], [1, 2], [1, 1])", "F.avg_pool2d(a, [2, 3], [1, 2], [1, 1])", "a[1,2,4,6]"),
        ("conv2d(w, b, [1, 2], [1, 0], [2, 1], 2)", "F.conv2d(a, w, b, [1, 2], [1, 0], [2, 1], 2)", "a[1,2,6,5] w[2,1,2,2] b[2]"),
        ("conv2d(w, None, 2, 1)", "F.conv2d(a, w, None, 2, 1)", "a[2,2,5,4] w[3,2,2,3]"), ("linear(w, Some(b))", "F.linear(a, w, b)", "a[2,3] w[2,3] b[2]"),
        ("layer_norm(3)", "F.layer_norm(a, [3])", "a[2,3]"), ("layer_norm(w)", "F.layer_norm(a, [4], w)", "a[2,4] w[4]"),
        ("batch_norm(m, v, w, b, true)", "F.batch_norm(a, m.detach().clone(), v.detach().clone(), w, b, True)", "a[3,2] m[2]- v[2]-=1,2 w[2] b[2]"),
        ("batch_norm(m, v, w, b, false, 0.1, 0.001)", "F.batch_norm(a, m, v, w, b, False, 0.1, 0.001)", "a[3,2] m[2]- v[2]-=1,2 w[2] b[2]"),
        ("mse_loss(b, \"sum\")", "F.mse_loss(a, b, reduction='sum')", "a[2,3] b[2,3]"), ("mse_loss(b, \"none\")", "F.mse_loss(a, b, reduction='none')", "a[2,3] b[2,3]"),
        ("l1_loss(b, \"sum\")", "F.l1_loss(a, b, reduction='sum')", "a[2,3] b[2,3]"), ("bce_loss(b, \"sum\")", "F.binary_cross_entropy(a, b, reduction='sum')", "a[2,3]% b[2,3]-%"),
        ("nll_loss(t, \"none\")", "F.nll_loss(a, t, reduction='none')", "a[4,3] t[4]#3"), ("cross_entropy(t, \"sum\")", "F.cross_entropy(a, t, reduction='sum')", "a[4,3] t[4]#3"),
        ("cross_entropy(t, w)", "F.cross_entropy(a, t, w)", "a[4,3] t[4]#3 w[3]-=1,2,0.5"), ("cross_entropy(t, 0.1)", "F.cross_entropy(a, t, label_smoothing=0.1)", "a[4,3] t[4]#3"),
        ("nll_loss(t, w)", "F.nll_loss(a, t, w)", "a[4,3] t[4]#3 w[3]-=1,2,0.5"),
        ("sdpa(k, v, None, 0.0, true)", "((a @ k.t() / 2 ** 0.5).masked_fill(torch.ones(3, 3).tril() == 0, -inf)).softmax(-1) @ v", "a[3,2] k[3,2] v[3,2]")):
    case(name.split("(")[0], "a." + name, torch, operands, close=2e-5 if "norm" in name else None)
case("kl_div_loss", "a.kl_div_loss(b, \"batchmean\")", "F.kl_div(a, b, reduction='batchmean')", "a[2,3] b[2,3]+")
for name, torch, operands in (
        ("amax([0, 2])", "a.amax([0, 2])", "a[2,3,2]"), ("amin([0, 2], true)", "a.amin([0, 2], True)", "a[2,3,2]"), ("logsumexp([0, 2])", "a.logsumexp([0, 2])", "a[2,3,2]"),
        ("nanmean()", "a.nanmean()", "a[2,3]"), ("flip(0, 1)", "a.flip(0, 1)", "a[2,3]"), ("roll([1, -1], [0, 1])", "a.roll([1, -1], [0, 1])", "a[2,3]"),
        ("round(1)", "a.round(decimals=1)", "a[2,3]"), ("diagonal(1, 1, 2)", "a.diagonal(1, 1, 2)", "a[2,3,4]"), ("diag(-1)", "a.diag(-1)", "a[3]"), ("diag(1)", "a.diag(1)", "a[2,3]"),
        ("index_copy(0, [2, 0], s)", "a.index_copy(0, torch.tensor([2, 0]), s)", "a[4,2] s[2,2]"), ("masked_scatter(m, s)", "a.masked_scatter(m, s)", "a[2,3] m[2,3]? s[2,3]"),
        ("cdist(b, 3.0)", "torch.cdist(a, b, 3)", "a[3,2] b[4,2]"), ("tensordot(b, [1, 2], [2, 0])", "torch.tensordot(a, b, [[1, 2], [2, 0]])", "a[2,3,4] b[4,2,3]"),
        ("baddbmm(b, c)", "a.baddbmm(b, c)", "a[2,2,4] b[2,2,3] c[2,3,4]"),
        ("conv_transpose2d(w, b, 2, 1, 1)", "F.conv_transpose2d(a, w, b, 2, 1, 1)", "a[1,2,3,3] w[2,2,3,3] b[2]"),
        ("conv_transpose1d(w, 2, 1)", "F.conv_transpose1d(a, w, None, 2, 1)", "a[1,2,4] w[2,3,3]"), ("conv_transpose1d(w, b)", "F.conv_transpose1d(a, w, b)", "a[1,2,4] w[2,3,3] b[3]"),
        ("conv3d(w)", "F.conv3d(a, w)", "a[1,1,3,3,3] w[2,1,2,2,2]"), ("conv3d(w, b, 2, 1)", "F.conv3d(a, w, b, 2, 1)", "a[1,2,3,3,4] w[2,2,2,2,2] b[2]"),
        ("adaptive_max_pool2d([2, 3])", "F.adaptive_max_pool2d(a, [2, 3])", "a[1,2,5,4]"), ("adaptive_avg_pool1d(2)", "F.adaptive_avg_pool1d(a, 2)", "a[1,2,5]"),
        ("interpolate([2, 5])", "F.interpolate(a, [2, 5])", "a[1,2,3,3]"), ("interpolate([2, 5], \"bilinear\")", "F.interpolate(a, [2, 5], mode='bilinear')", "a[1,2,3,3]"),
        ("unfold([2, 3], 1, 1, 2)", "F.unfold(a, [2, 3], 1, 1, 2)", "a[1,2,4,4]"),
        ("rnn_tanh_cell(h, w, v, b, c)", "torch.rnn_tanh_cell(a, h, w, v, b, c)", "a[2,3] h[2,2] w[2,3] v[2,2] b[2] c[2]"),
        ("gru_cell(h, w, v, b, c)", "torch.gru_cell(a, h, w, v, b, c)", "a[2,3] h[2,2] w[6,3] v[6,2] b[6] c[6]"),
        ("lstm_cell(h, s, w, v, b, c).0", "torch.lstm_cell(a, (h, s), w, v, b, c)[0]", "a[2,3] h[2,2] s[2,2] w[8,3] v[8,2] b[8] c[8]"),
        ("lstm_cell(h, s, w, v, b, c).1", "torch.lstm_cell(a, (h, s), w, v, b, c)[1]", "a[2,3] h[2,2] s[2,2] w[8,3] v[8,2] b[8] c[8]"),
        ("multi_margin_loss(t)", "F.multi_margin_loss(a, t)", "a[4,3] t[4]#3"), ("multilabel_soft_margin_loss(b)", "F.multilabel_soft_margin_loss(a, b)", "a[2,3] b[2,3]-%"),
        ("lu().1", "torch.linalg.lu(a)[1]", "a[3,3]!"), ("lu().2", "torch.linalg.lu(a)[2]", "a[3,3]!")):
    case(name.split("(")[0], "a." + name, torch, operands, types="d", close=1e-6 if "bilinear" in name else 1e-9)
for name, torch, operands in (("...qd,...kd->...qk", "a @ b.transpose(-1, -2)", "a[2,2,3,4] b[2,2,2,4]"), ("bij,bkj->ik", "torch.einsum('bij,bkj->ik', a, b)", "a[2,3,4] b[2,2,4]")):
    case("einsum", "Tensor::einsum(\"" + name + "\", a, b)", torch, operands, types="d")
case("einsum", "Tensor::einsum(\"ij,jk,k->i\", a, b, c)", "torch.einsum('ij,jk,k->i', a, b, c)", "a[2,3] b[3,4] c[4]", types="d")
case("mode", "a.mode(1)", "a.mode(1)[0]", "a[2,9]#3", types="i", grad=False)
case("mode", "a.mode(0)", "a.mode(0)[0]", "a=2,1.5,2,0.5,1.5,2")
case("eye", "Tensor::eye(2, 3)", "torch.eye(2, 3)", "", types="f", grad=False)

# ---- views and second uses -------------------------------------------------------------------------------------------------
#
# For each operation the first case with a matrix or more as `a`: now a is a transposed view, and the result goes into a
# product with itself.


def swapped(text, match):
    lengths = match.group(1).split(",")
    lengths[0], lengths[1] = lengths[1], lengths[0]
    return text.replace(match.group(0), "a[" + ",".join(lengths) + "]", 1)


# view takes no transposed one, nor does kron of PyTorch; PyTorch 1.13 delivers masked_select's gradient to a transposed one in the wrong order (of
# y = [a10, a01], each squared, with the weights -0.4 and 0.1, a01 has 2 * 0.1 * a01, not 2 * -0.4 * a10).
APART = ("view", "view_as", "masked_select", "kron")


def again():
    seen = set()
    for c in list(CASES):
        name, match = c["names"][0], re.search(r"\ba\[(\d+,\d+[\d,]*)\]", c["operands"])
        plain = "=" not in c["operands"] and "~" not in c["operands"] and "!" not in c["operands"]
        if name in seen or name in APART or not c["grad"] or c["type"] != "d" or not match or not plain or "{" in c["masu"]:
            continue
        seen.add(name)
        masu = re.sub(r"\ba\b", "z", c["masu"])
        torch = re.sub(r"\ba\b", "z", c["torch"]).replace(".view(", ".reshape(")
        yield dict(names=c["names"], type="d", grad=True, close=c["close"], operands=swapped(c["operands"], match),
                   masu="{ let z = a.transpose(0, 1); let y = " + masu + "; y * y }",
                   torch=f"(lambda z: (lambda y: y * y)({torch}))(a.transpose(0, 1))")


CASES.extend(again())

# ---- where a gradient has a corner, or an element is no number: found by drawn operands (record_any.py) --------------

case("std", "a.std(1)", "a.std(1)", "a[2,2]=1,1,1,2", types="d")
case("var", "a.var()", "a.var()", "a[0]", types="d", grad=False)
case("cdist", "a.cdist(b)", "torch.cdist(a, b)", "a[2,2]=0,0,3,4 b[2,2]=0,0,3,4", types="d")
case("cosine_similarity", "a.cosine_similarity(b, 1)", "F.cosine_similarity(a, b, 1)", "a[2,2]=0,0,3,4 b[2,2]=1,2,3,4", types="d", close=1e-7)
case("logcumsumexp", "a.logcumsumexp(0)", "a.logcumsumexp(0)", "a=-1000,0,1000", types="d")
case("logcumsumexp", "a.logcumsumexp(0)", "a.logcumsumexp(0)", "a=-inf,0,inf,1", types="d", grad=False)
case("logsumexp", "a.logsumexp(1)", "a.logsumexp(1)", "a[2,0]", types="d")
case("xlogy", "a.xlogy(b)", "torch.xlogy(a, b)", "a=0,0,1,2 b-=2,0.5,3,inf", types="d")
case("median", "a.median()", "a.median()", "a=1,nan,2", grad=False)
case("median", "a.median(1)", "a.median(1).values", "a[2,3]=1,nan,2,5,4,3", grad=False)
case("prelu", "a.prelu(w)", "F.prelu(a, w)", "a[2,3]=0,-1,2,inf,-0.0,3 w=0.25")
case("prelu", "a.prelu(w)", "F.prelu(a, w)", "a[2,3,2] w[3]")
case("diag", "a.diag()", "a.diag()", "a=1,inf,nan")
case("trace", "a.trace()", "a.trace()", "a[2,2]=1,inf,nan,2", grad=False)
case("diag_embed", "a.diag_embed()", "a.diag_embed()", "a=1,inf,nan", grad=False)
case("scatter_add", "a.scatter_add(0, i, s)", "a.scatter_add(0, i, s)", "a[3] i[2]#3 s=inf,1")
case("scatter", "a.scatter(1, i, s)", "a.scatter(1, i, s)", "a[2,3] i[2,2]#2=0,2,1,0 s[2,2]")
case("index_add", "a.index_add(0, i, s)", "a.index_add(0, i, s)", "a[3,2] i[2]#3=1,1 s[2,2]=1,inf,2,3")
case("nansum", "a.nansum()", "a.nansum()", "a=1,inf,nan", grad=False)
case("nan_to_num", "a.nan_to_num()", "torch.nan_to_num(a)", "a=1,inf,-inf,nan", grad=False)
case("isclose", "a.isclose(b)", "a.isclose(b)", "a=1,inf,inf,nan b=inf,inf,1,nan", grad=False)
case("threshold", "a.threshold(0.1, 0.7)", "F.threshold(a, 0.1, 0.7)", "a=0.1,0.2,nan", grad=False)
case("hypot", "a.hypot(b)", "torch.hypot(a, b)", "a=1e20,3 b=1e20,4", types="f")
case("asinh", "a.asinh()", "a.asinh()", "a=1e30,-1e30,inf,0")
case("atan2", "a.atan2(b)", "torch.atan2(a, b)", "a=inf,-inf,1,0 b=inf,1,-inf,-1", types="d", grad=False)
case("fmod", "a.fmod(b)", "torch.fmod(a, b)", "a=1e20,-7,inf b=3,2,2", types="d", grad=False)
case("fmod", "a.fmod(3)", "torch.fmod(a, 3)", "a[5]#9", types="i", grad=False)
case("floor_divide", "a.floor_divide(b)", "torch.div(a, b, rounding_mode='floor')", "a=7,-7,7,-7 b=2,2,-2,-2", types="fdi", grad=False)
case("maximum", "a.maximum(0.1)", "torch.maximum(a, torch.tensor(0.1, dtype=a.dtype))", "a=0.05,0.2")
case("maximum", "a.maximum(16777217)", "a.clamp(min=16777217)", "a=1,2", types="i", grad=False)
case("expand", "a.expand(vec![2, 3])", "a.expand(2, 3)", "a[3]#5", types="i", grad=False)
case("prod", "a.prod(1)", "a.prod(1)", "a[2,3]?", types="b", grad=False)
case("cumprod", "a.cumprod(0)", "a.cumprod(0)", "a[3]?", types="b", grad=False)
case("adaptive_avg_pool2d", "a.adaptive_avg_pool2d(2, 2)", "F.adaptive_avg_pool2d(a, (2, 2))", "a[1,1,2,2]=1,inf,nan,2", grad=False)
case("acosh", "(a + 1.0).acosh()", "(a + 1.0).acosh()", "a[2,3]+")
case("atanh", "a.atanh()", "a.atanh()", "a[2,3]%")
for name, torch in (("atan2", "torch.atan2(a, b)"), ("hypot", "torch.hypot(a, b)"), ("copysign", "torch.copysign(a, b)"),
                    ("fmod", "torch.fmod(a, b)"), ("floor_divide", "torch.div(a, b, rounding_mode='floor')")):
    case(name, f"a.{name}(b)", torch, "a[2,3]+ b[3]+")

# ---- arguments by position are PyTorch's ---------------------------------------------------------------------------------

for name in ("var", "std"):
    for more in ("false", "true, true", "false, true"):
        for dims in ("1", "[0, 1]"):
            case(name, f"a.{name}({dims}, {more})", f"a.{name}({dims}, {more.title()})", "a[2,3]")
    case(name, f"a.{name}(0, false)", f"a.{name}(0, False)", "a[1,3]", types="d")
for name in ("var_mean", "std_mean"):
    case(name, f"a.{name}(0, false).0", f"torch.{name}(a, 0, False)[0]", "a[2,3]")
    case(name, f"a.{name}(1, false, true).1", f"torch.{name}(a, 1, False, True)[1]", "a[2,3]")
    case(name, f"a.{name}([0, 1], false, true).0", f"torch.{name}(a, [0, 1], False, True)[0]", "a[2,3]")
    case(name, f"a.{name}(false).0", f"torch.{name}(a, False)[0]", "a[2,3]")
case("diff", "a.diff(2)", "a.diff(2)", "a[2,4]")
case("diff", "a.diff(2, 0)", "a.diff(2, 0)", "a[3,2]")
case("diff", "a.diff(0)", "a.diff(0)", "a[3,2]")
case("cross", "a.cross(b)", "torch.cross(a, b)", "a[3,3] b[3,3]")
case("vecdot", "a.vecdot(b, 1)", "(a * b).sum(1)", "a[2,3] b[3]")

# ---- further names of PyTorch ----------------------------------------------------------------------------------------------

for name, form, torch, operands in (
        ("cholesky_solve", "a.cholesky_solve((b.matmul(b.t()) + Tensor::eye(3)).cholesky())", "a.cholesky_solve(torch.linalg.cholesky(b @ b.T + torch.eye(3)))", "a[3,2] b[3,3]"),
        ("cholesky_solve", "a.cholesky_solve((b.matmul(b.t()) + Tensor::eye(3)).cholesky().t(), true)", "a.cholesky_solve(torch.linalg.cholesky(b @ b.T + torch.eye(3)).T, True)", "a[3,2] b[3,3]"),
        ("cholesky_inverse", "(b.matmul(b.t()) + Tensor::eye(3)).cholesky().cholesky_inverse()", "torch.cholesky_inverse(torch.linalg.cholesky(b @ b.T + torch.eye(3)))", "b[3,3]"),
        ("solve_triangular", "(a + 3.0).solve_triangular(b, true)", "torch.linalg.solve_triangular(a + 3, b, upper=True)", "a[3,3] b[3,2]"),
        ("solve_triangular", "(a + 3.0).solve_triangular(b, false)", "torch.linalg.solve_triangular(a + 3, b, upper=False)", "a[3,3] b[3,2]"),
        ("cond", "a.cond()", "torch.linalg.cond(a)", "a[3,2]"), ("multi_dot", "Tensor::multi_dot([a, b, a])", "torch.linalg.multi_dot([a, b, a])", "a[2,3] b[3,2]"),
        ("vander", "a.vander(4)", "torch.linalg.vander(a, N=4)", "a[3]"), ("logaddexp", "a.logaddexp(b)", "torch.logaddexp(a, b)", "a[2,3] b[3]"),
        ("fmax", "a.fmax(b)", "torch.fmax(a, b)", "a[2,3] b[3]"), ("fmin", "a.fmin(b)", "torch.fmin(a, b)", "a[2,3] b[3]"),
        ("entr", "a.entr()", "torch.special.entr(a)", "a[2,3]+"), ("ndtr", "a.ndtr()", "torch.special.ndtr(a)", "a[2,3]"),
        ("pdist", "a.pdist()", "torch.pdist(a)", "a[4,2]"), ("addmv", "a.addmv(b, c)", "torch.addmv(a, b, c)", "a[3] b[3,2] c[2]"), ("addr", "a.addr(b, c)", "torch.addr(a, b, c)", "a[3,2] b[3] c[2]")):
    case(name, form, torch, operands, types="d", close=1e-7 if "chol" in name or name == "cond" else 1e-9)
for name, torch, operands in (
        ("a.signbit()", "torch.signbit(a)", "a=-1,-0.0,0,2,-inf"), ("a.isposinf()", "torch.isposinf(a)", "a=-inf,1,inf,nan"), ("a.isneginf()", "torch.isneginf(a)", "a=-inf,1,inf,nan"),
        ("a.fmax(b)", "torch.fmax(a, b)", "a=nan,1,nan,2 b=3,nan,nan,1"), ("a.fmin(b)", "torch.fmin(a, b)", "a=nan,1,nan,2 b=3,nan,nan,1"),
        ("a.logaddexp(b)", "torch.logaddexp(a, b)", "a=-inf,1000,-1000,inf b=-inf,999,1,1")):
    case(name.split("(")[0][2:], name, torch, operands, types="d", grad=False)
case("unique_consecutive", "a.unique_consecutive()", "a.unique_consecutive()", "a[2,5]#2", types="i", grad=False)
case("new_zeros", "a.new_zeros([2, 2])", "a.new_zeros(2, 2)", "a[3]", types="d", grad=False)
case("new_ones", "a.new_ones([2, 2])", "a.new_ones(2, 2)", "a[3]", types="d", grad=False)
case("new_full", "a.new_full([2], 0.1)", "a.new_full((2,), 0.1)", "a[3]", types="d", grad=False)
for name, torch in (("Tensor::tril_indices(3, 4, 1)", "torch.tril_indices(3, 4, 1)"), ("Tensor::triu_indices(4, 3, -1)", "torch.triu_indices(4, 3, -1)"),
                    ("Tensor::hann_window(5)", "torch.hann_window(5)"), ("Tensor::hamming_window(5)", "torch.hamming_window(5)")):
    case(name.split("(")[0][8:], name, torch, "", types="f", grad=False, close=1e-6)
