"""What masu's operations mean in PyTorch's words, so that the examples of the tables (src/runtime/ops.def and others)
can be evaluated as they stand: `a.topk(2)` is `Meaning(a).topk(2)` here.

An operation that PyTorch's tensors have under the same name with the same arguments needs no line.
"""
import math

import torch
import torch.nn.functional as F


def bare(x):
    if isinstance(x, Meaning):
        return x.tensor
    if isinstance(x, (list, tuple)):
        return type(x)(bare(y) for y in x)
    return x


def wrap(x):
    if isinstance(x, torch.Tensor):
        return Meaning(x)
    return type(x)(wrap(y) for y in x) if isinstance(x, (list, tuple)) else x


class Meaning:
    """A tensor whose methods are masu's."""

    def __init__(self, t):
        self.tensor = t

    def __getattr__(self, name):
        own = WORDS.get(name)
        if own is None and not hasattr(torch.Tensor, name):
            raise NotImplementedError(name)
        call = own or getattr(torch.Tensor, name)
        return lambda *args: wrap(call(self.tensor, *[bare(a) for a in args]))

    def __getitem__(self, at):
        return wrap(self.tensor[bare(at)])

    __hash__ = None


def operator(name):
    def apply(self, other):
        return wrap(getattr(self.tensor, name)(bare(other)))
    return apply


for sign in ("add", "sub", "mul", "truediv", "mod", "radd", "rsub", "rmul", "rtruediv", "lt", "gt", "le", "ge", "and"):
    setattr(Meaning, f"__{sign}__", operator(f"__{sign}__"))
Meaning.__eq__ = operator("__eq__")
Meaning.__ne__ = operator("__ne__")
Meaning.__neg__ = lambda self: wrap(-self.tensor)


class Functions:
    """Tensor::name(…): the method of the first argument, or a function of its own."""

    def __getattr__(self, name):
        def call(*args):
            if name in STATIC:
                return wrap(STATIC[name](*[bare(a) for a in args]))
            return getattr(args[0], name)(*args[1:])
        return call


def along(op, over_several):
    """op(t) or op(t, dim…): the values of PyTorch's pair; several dimensions are over_several's, whose equals share."""
    def apply(t, dim=None, keep=False):
        if dim is None:
            return op(t)
        return over_several(t, dim, keep) if isinstance(dim, list) else op(t, dim, keep).values
    return apply


def whole(t):
    return t if t.is_floating_point() else t.float()


def pool_by(op):
    return lambda t, kernel, stride=0, padding=0: op(t, kernel, stride if stride != 0 else None, padding)


def conv(op):
    def apply(t, w, *rest):
        if rest and isinstance(rest[0], torch.Tensor):
            return op(t, w, *rest)
        if rest and isinstance(rest[0], list):
            return op(t, w, None, *rest)
        padding, stride, dilation, groups = (*rest, 0, 1, 1, 1)[:4] if not rest else (*rest, *(0, 1, 1, 1)[len(rest):])
        return op(t, w, None, stride, padding, dilation, groups)
    return apply


def attend(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    if mask is True:
        scores = scores + torch.full(scores.shape[-2:], -math.inf, dtype=q.dtype).triu(1)
    elif mask is not None and mask is not False:
        scores = scores + mask
    return torch.softmax(scores, -1) @ v


def layer_norm(t, *rest):
    shape = list(t.shape[-1:])
    if rest and isinstance(rest[0], list):
        shape, rest = rest[0], rest[1:]
    return F.layer_norm(t, shape, *rest)


def rms_norm(t, w=None, eps=1e-6):
    y = t * torch.rsqrt((t * t).mean(-1, keepdim=True) + eps)
    return y if w is None else y * w


def batch_norm(t, m=None, v=None, w=None, b=None):
    """With mean and variance given these are operands like others: F.batch_norm takes no gradient of them."""
    if m is None:
        return F.batch_norm(t, None, None, training=True)
    line = [1, -1] + [1] * (t.dim() - 2)
    y = (t - m.reshape(line)) / (v.reshape(line) + 1e-5).sqrt()
    return y if w is None else y * w.reshape(line) + b.reshape(line)


def rope(t, c, s):
    half = t.shape[-1] // 2
    x, y = t[..., :half], t[..., half:]
    return torch.cat([x * c - y * s, x * s + y * c], -1)


def standardise(t, eps):
    d = t - t.mean(-1, keepdim=True)
    return d / ((d * d).mean(-1, keepdim=True) + eps).sqrt()


def quantile(t, q, dim=None):
    return torch.quantile(t.flatten(), q) if dim is None else torch.quantile(t, q, dim)


def scatter_any(t, dim, i, s):
    return t.scatter_add(dim, i, s)


WORDS = dict(
    sum=lambda t, *a: t.sum(*a), prod=lambda t, *a: t.prod(*a), sumall=lambda t: t.sum(),
    mean=lambda t, *a: whole(t).mean(*a), max=along(torch.max, torch.amax), min=along(torch.min, torch.amin), 
    norm=lambda t, *a: t.norm(*a), amax=torch.amax,
    amin=torch.amin, median=along(torch.median, None),
    kthvalue=lambda t, k, d=-1: t.kthvalue(k, d).values, cummax=lambda t, d: t.cummax(d).values,
    cummin=lambda t, d: t.cummin(d).values, topk=lambda t, *a: t.topk(*a).values,
    topk_indices=lambda t, *a: t.topk(*a).indices, sort=lambda t, d=-1, r=False: torch.sort(t, dim=d, descending=r, stable=True).values,
    argsort=lambda t, d=-1, r=False: torch.sort(t, dim=d, descending=r, stable=True).indices,
    any=lambda t, d, k=False: t.bool().any(d, k), all=lambda t, d, k=False: t.bool().all(d, k),
    logsumexp=lambda t, d=-1, k=False: t.logsumexp(d, k), softmax=lambda t, d=-1: F.softmax(whole(t), d),
    log_softmax=lambda t, d=-1: F.log_softmax(whole(t), d), softmin=lambda t, d=-1: F.softmin(whole(t), d),
    quantile=quantile, unique=lambda t: t.unique(), bincount=lambda t, n=0: t.bincount(minlength=n),
    mode=lambda t, d=-1: t.mode(d).values, count_nonzero=lambda t, d: t.count_nonzero(d),
    histc=lambda t, n, a, b: t.histc(n, a, b), var_mean=lambda t, *a: torch.var_mean(t, *a), std_mean=lambda t, *a: torch.std_mean(t, *a),
    trapz=lambda t, dx=1.0: torch.trapz(t, dx=dx), dist=lambda t, b, p=2.0: torch.dist(t, b, p), cov=torch.cov,
    corrcoef=torch.corrcoef, diff=torch.diff,
    sum_keepdim=lambda t, d: t.sum(d, True), mean_keepdim=lambda t, d: t.mean(d, True),
    max_keepdim=lambda t, d: t.max(d, True).values, min_keepdim=lambda t, d: t.min(d, True).values,
    nansum=lambda t: t.nansum(), __standardise=standardise,
    rem=torch.remainder, add_scalar=lambda t, s: t + s, sub_scalar=lambda t, s: t - s, scale=lambda t, s: t * s,
    mul_scalar=lambda t, s: t * s, div_scalar=lambda t, s: t / s, shallow_clone=lambda t: t.clone(), gelu=F.gelu, silu=F.silu,
    mish=F.mish, hardswish=F.hardswish, hardsigmoid=F.hardsigmoid, softplus=F.softplus,
    leaky_relu=F.leaky_relu, elu=F.elu, selu=F.selu, celu=F.celu, relu6=F.relu6, hardtanh=F.hardtanh,
    log_sigmoid=F.logsigmoid, softsign=F.softsign, prelu=F.prelu, glu=lambda t, d=-1: F.glu(t, d),
    tanhshrink=F.tanhshrink, softshrink=lambda t, b=0.5: F.softshrink(t, b), hardshrink=lambda t, b=0.5: F.hardshrink(t, b),
    threshold=F.threshold, quick_gelu=lambda t: t * torch.sigmoid(1.702 * t), affine=lambda t, m, c: t * m + c,
    rsub=lambda t, b: b - t, erfc=torch.erfc, logit=lambda t, e=0.0: torch.logit(t, e if e > 0 else None),
    addcmul=lambda t, a, b, v=1.0: torch.addcmul(t, a, b, value=v), isin=lambda t, b: torch.isin(t, b),
    addcdiv=lambda t, a, b, v=1.0: torch.addcdiv(t, a, b, value=v), nan_to_num=lambda t, n=0.0: torch.nan_to_num(t, n),
    isclose=lambda t, b, *a: torch.isclose(t, b, *a), floor_divide=lambda t, b: torch.div(t, b, rounding_mode="floor"),
    clamp_min=lambda t, x: t.clamp(min=x), clamp_max=lambda t, x: t.clamp(max=x),
    float=lambda t: t.float(), double=lambda t: t.double(), long=lambda t: t.long(), int=lambda t: t.long(),
    bool=lambda t: t.bool(), shape=lambda t: torch.tensor(t.shape, dtype=torch.int64),
    flatten=lambda t, *a: t.flatten(*a) if t.dim() or not a else t.flatten(),
    transpose=lambda t, a=0, b=1: t.transpose(a, b), t=lambda t: t.transpose(-2, -1),
    slice=lambda t, d, f, to, step=1: t.index_select(d, torch.arange(f, to, step)),
    cat=lambda t, b, d=0: torch.cat([t, b], d), gather=lambda t, *a: t.gather(*(a if len(a) == 2 else (0, *a))),
    index_select=lambda t, d, i: t.index_select(d, i), embedding=lambda t, b: F.embedding(t, b),
    repeat_interleave=lambda t, *a: t.repeat_interleave(*a), flip=lambda t, d: t.flip(d), roll=lambda t, n, d=None: t.roll(n, d),
    pad=lambda t, *a: F.pad(t, a[0], value=a[1] if len(a) > 1 else 0.0) if isinstance(a[0], list) else
    F.pad(t, a[:2], value=a[2] if len(a) > 2 else 0.0),
    diagonal=lambda t: t.diagonal(0, 0, 1), diag=lambda t: t.diag(), repeat=lambda t, *a: t.repeat(*a),
    expand_as=lambda t, b: t.expand_as(b), unflatten=lambda t, d, n: t.unflatten(d, n), tile=lambda t, n: t.tile(n),
    unfold=lambda t, d, n, s: t.unfold(d, n, s), tensor_split=lambda t, n, d=0: t.tensor_split(n, d),
    rot90=lambda t, k=1, d=(0, 1): torch.rot90(t, k, d), take_along_dim=lambda t, i, d: torch.take_along_dim(t, i, d),
    index_fill=lambda t, d, i, v: t.index_fill(d, i, v), index_add=lambda t, d, i, s: t.index_add(d, i, s),
    scatter=lambda t, d, i, s: t.scatter(d, i, s), diag_embed=lambda t: t.diag_embed(), diagflat=lambda t: t.diagflat(),
    masked_select=lambda t, m: t.contiguous().masked_select(m), view_as=lambda t, b: t.reshape(b.shape), masked_fill=lambda t, m, v: t.masked_fill(m, v),
    standard=None, linear=F.linear, conv2d=conv(F.conv2d), conv1d=conv(F.conv1d), max_pool2d=pool_by(F.max_pool2d),
    avg_pool2d=pool_by(F.avg_pool2d), max_pool1d=pool_by(F.max_pool1d), avg_pool1d=pool_by(F.avg_pool1d),
    adaptive_avg_pool2d=lambda t, *a: F.adaptive_avg_pool2d(t, a[0] if len(a) == 1 else a),
    adaptive_max_pool2d=lambda t, *a: F.adaptive_max_pool2d(t, a[0] if len(a) == 1 else a),
    layer_norm=layer_norm, rms_norm=rms_norm, group_norm=lambda t, *a: F.group_norm(t, *a),
    instance_norm=lambda t, w=None, b=None: F.instance_norm(t, weight=w, bias=b), batch_norm=batch_norm,
    dropout=lambda t, p, train=True: F.dropout(t, p, train), sdpa=attend, mse_loss=F.mse_loss, l1_loss=F.l1_loss,
    bce_loss=F.binary_cross_entropy, nll_loss=F.nll_loss, kl_div_loss=lambda t, b: F.kl_div(t, b, reduction="mean"),
    cross_entropy=F.cross_entropy, smooth_l1_loss=lambda t, b, beta=1.0: F.smooth_l1_loss(t, b, beta=beta),
    huber_loss=lambda t, b, delta=1.0: F.huber_loss(t, b, delta=delta), bce_with_logits=F.binary_cross_entropy_with_logits,
    upsample_nearest2d=lambda t, n: F.interpolate(t, scale_factor=n), pixel_shuffle=F.pixel_shuffle,
    pixel_unshuffle=F.pixel_unshuffle, channel_shuffle=lambda t, g: t.unflatten(1, (g, -1)).transpose(1, 2).flatten(1, 2),
    conv_transpose2d=lambda t, w, s=1, p=0: F.conv_transpose2d(t, w, None, s, p), apply_rope=rope,
    upsample_bilinear2d=lambda t, n: F.interpolate(t, scale_factor=n, mode="bilinear", align_corners=False),
    global_avg_pool2d=lambda t: t.mean((-2, -1), True), zero_pad2d=lambda t, n: F.pad(t, (n,) * 4),
    reflection_pad2d=lambda t, n: F.pad(t, (n,) * 4, mode="reflect"), cross=torch.cross,
    replication_pad2d=lambda t, n: F.pad(t, (n,) * 4, mode="replicate"),
    pairwise_distance=lambda t, b, *a: F.pairwise_distance(t, b, *a), margin_ranking_loss=F.margin_ranking_loss,
    hinge_embedding_loss=lambda t, s: F.hinge_embedding_loss(t, s), soft_margin_loss=lambda t, s: F.soft_margin_loss(t, s),
    cosine_embedding_loss=F.cosine_embedding_loss, triplet_margin_loss=F.triplet_margin_loss,
    poisson_nll_loss=lambda t, b: F.poisson_nll_loss(t, b), gaussian_nll_loss=lambda t, b, v: F.gaussian_nll_loss(t, b, v),
    cosine_similarity=lambda t, b, d=1: F.cosine_similarity(t, b, d), normalize=lambda t, p=2.0, d=1: F.normalize(t, p, d),
    cdist=lambda t, b: ((t.unsqueeze(-2) - b.unsqueeze(-3)) ** 2).sum(-1).sqrt(), dot=lambda t, b: t.dot(b),
    vecdot=lambda t, b, dim=-1: (t * b).sum(dim),
    matrix_power=lambda t, n: t.matrix_power(n), pinverse=lambda t: t.pinverse(), lstsq=lambda t, b: torch.linalg.pinv(t) @ b,
    solve=torch.linalg.solve, cholesky=torch.linalg.cholesky, eigh=lambda t: tuple(torch.linalg.eigh(t)),
    svd=lambda t: tuple(torch.linalg.svd(t, full_matrices=False)), qr=lambda t: tuple(torch.linalg.qr(t)),
    slogdet=lambda t: tuple(torch.slogdet(t)), eigvalsh=torch.linalg.eigvalsh, svdvals=torch.linalg.svdvals,
    inner=torch.inner, kron=lambda t, b: torch.kron(t.contiguous(), b.contiguous()), tensordot=lambda t, b, n: torch.tensordot(t, b, n), matrix_exp=torch.matrix_exp,
    addmm=lambda t, a, b, beta=1.0, alpha=1.0: torch.addmm(t, a, b, beta=beta, alpha=alpha),
)
del WORDS["standard"]

STATIC = dict(
    zeros_like=torch.zeros_like, ones_like=torch.ones_like, where_cond=torch.where,
    cat=lambda p, *a: torch.cat(p, *a) if isinstance(p, list) else torch.cat([p, a[0]], *a[1:]),
    stack=lambda p, *a: torch.stack(p, *a) if isinstance(p, list) else
    torch.stack([x for x in (p, *a) if isinstance(x, torch.Tensor)], *[x for x in a if not isinstance(x, torch.Tensor)]),
    concat=torch.cat, concatenate=torch.cat, vstack=torch.vstack, hstack=torch.hstack, column_stack=torch.column_stack,
    dstack=torch.dstack, block_diag=lambda p: torch.block_diag(*p),
    meshgrid=lambda a, b: tuple(torch.meshgrid(a, b, indexing="ij")), cartesian_prod=torch.cartesian_prod,
    einsum=lambda text, *p: torch.einsum(text, *(p[0] if isinstance(p[0], list) else p)),
)
