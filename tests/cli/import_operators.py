"""Operators that take elements between elements, transform, quantize, draw, and run graphs: beside NumPy and PyTorch.

    import_operators.py MASU FOLDER

Operators go into few networks with many outputs, so that few programs are compiled.
"""
import os
import subprocess
import sys

import numpy as np
import torch

from onnx_write import BOOL, FLOAT, FLOAT16, INT8, INT64, UINT8, graph, info, model, node
from tensor_bytes import read_tensors, write_tensors

F = torch.nn.functional
masu, folder = sys.argv[1:3]
made, program = os.path.join(folder, "ops.onnx"), os.path.join(folder, "ops.tl")
random = np.random.default_rng(11)


def reals(*shape):
    return random.standard_normal(shape).astype(np.float32)


def imported(text, *options):
    with open(made, "wb") as file:
        file.write(text)
    return subprocess.run([masu, "import", made, "-o", program, *options], capture_output=True, text=True)


def refused(words, text):
    done = imported(text)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1, (words, done)


def run(text, given, *options):
    done = imported(text, *options)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([masu, "fmt", "--check", program], capture_output=True).returncode == 0, open(program).read()
    write_tensors(folder + "/in.safetensors", given)
    done = subprocess.run([masu, "run", program, folder + "/in.safetensors", folder + "/out.safetensors"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_tensors(folder + "/out.safetensors")


class Many:
    """A network of single operators, each with its own output."""

    def __init__(self, opset):
        self.opset, self.nodes, self.ins, self.outs, self.constants, self.given, self.want = opset, [], [], [], [], {}, {}

    def add(self, kind, inputs, wants, kinds=None, **attributes):
        """inputs: arrays, tuples (array,) for constants of the file, None for what is left out; wants: arrays."""
        at = len(self.nodes)
        names = []
        for i, value in enumerate(inputs):
            if value is None:
                names.append("")
                continue
            is_constant = isinstance(value, tuple)
            array = np.asarray(value[0] if is_constant else value)
            name = f"i{at}_{i}"
            names.append(name)
            if is_constant:
                self.constants.append((name, array))
            else:
                self.ins.append(info(name, list(array.shape), {"float32": FLOAT, "int64": INT64, "bool": BOOL, "int8": INT8, "uint8": UINT8}[str(array.dtype)]))
                self.given[name] = array.astype(np.int64) if array.dtype.itemsize == 1 and array.dtype.kind in "iu" else array
        outs = [f"o{at}_{k}" for k in range(len(wants))]
        for k, want in enumerate(wants):
            want = np.asarray(want)
            kind_of = kinds[k] if kinds else {"f": FLOAT, "i": INT64, "b": BOOL}[want.dtype.kind]
            self.outs.append(info(outs[k], [None] * want.ndim, kind_of))
            self.want[outs[k]] = want
        self.nodes.append(node(kind, names, outs, **attributes))

    def judge(self):
        got = run(model(graph(self.nodes, self.ins, self.outs, self.constants), self.opset), self.given)
        for name, want in self.want.items():
            assert got[name].shape == want.shape and np.allclose(got[name], want, rtol=1e-4, atol=2e-5), (name, got[name], want, self.nodes[int(name[1:].split("_")[0])])


# ---- elements between elements ----------------------------------------------------------------------------------------------
m = Many(20)
x, x3 = reals(2, 3, 5, 4), reals(1, 2, 3, 4, 2)
grid = (random.random((2, 3, 6, 2)) * 3.2 - 1.6).astype(np.float32)
grid3 = (random.random((1, 2, 2, 3, 3)) * 3 - 1.5).astype(np.float32)
for mode, other in [("linear", "bilinear"), ("nearest", "nearest")]:
    for padding in ("zeros", "border", "reflection"):
        for corners in (0, 1):
            m.add("GridSample", [x, grid], [F.grid_sample(torch.tensor(x), torch.tensor(grid), other, padding, bool(corners))], mode=mode, padding_mode=padding, align_corners=corners)
m.add("GridSample", [x, grid], [F.grid_sample(torch.tensor(x), torch.tensor(grid), "bicubic", "zeros", True)], mode="cubic", align_corners=1)
m.add("GridSample", [x3, grid3], [F.grid_sample(torch.tensor(x3), torch.tensor(grid3), "bilinear", "reflection", False)], padding_mode="reflection")
theta, theta3 = reals(2, 2, 3), reals(1, 3, 4)
for corners in (0, 1):
    m.add("AffineGrid", [theta, (np.array([2, 3, 4, 5]),)], [F.affine_grid(torch.tensor(theta), (2, 3, 4, 5), bool(corners))], align_corners=corners)
m.add("AffineGrid", [theta3, np.array([1, 1, 2, 3, 4])], [F.affine_grid(torch.tensor(theta3), (1, 1, 2, 3, 4), False)])


def resized(size, mode, **more):
    return F.interpolate(torch.tensor(x), size=size, mode=mode, **more)


def to(h, w):
    return (np.array([2, 3, h, w]),)


for size in ((9, 7), (3, 2), (5, 9)):
    m.add("Resize", [x, None, None, to(*size)], [resized(size, "bilinear", align_corners=False)], mode="linear")
    m.add("Resize", [x, None, None, to(*size)], [resized(size, "bilinear", align_corners=True)], mode="linear", coordinate_transformation_mode="align_corners")
    m.add("Resize", [x, None, None, to(*size)], [resized(size, "bicubic", align_corners=False)], mode="cubic")
    m.add("Resize", [x, None, None, to(*size)], [resized(size, "nearest")], coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    m.add("Resize", [x, None, None, to(*size)], [resized(size, "nearest-exact")], nearest_mode="round_prefer_ceil")
m.add("Resize", [x, None, None, to(3, 2)], [resized((3, 2), "bilinear", align_corners=False, antialias=True)], mode="linear", antialias=1, exclude_outside=1)
m.add("Resize", [x, None, np.array([1, 1, 2, 3], np.float32)], [x.repeat(2, 2).repeat(3, 3)])
m.add("Resize", [x, None, None, (np.array([10, 9]),)], [resized((10, 8), "nearest")], coordinate_transformation_mode="asymmetric", nearest_mode="floor", axes=[2, 3], keep_aspect_ratio_policy="not_larger")
m.add("Resize", [np.array([[True, False]]), None, (np.array([1, 2], np.float32),)], [np.array([[True, True, False, False]])])


def deformed(x, w, offset, mask, strides, pads, dilations, groups, parts):
    """The sum as the paper has it, element by element."""
    n, outs, (kh, kw) = x.shape[0], w.shape[0], w.shape[2:]
    out = np.zeros((n, outs, *offset.shape[2:]))
    each = x.shape[1] // parts

    def at(image, y, z):
        total, y0, z0 = 0.0, int(np.floor(y)), int(np.floor(z))
        for a in (y0, y0 + 1):
            for b in (z0, z0 + 1):
                if 0 <= a < image.shape[0] and 0 <= b < image.shape[1]:
                    total += (1 - abs(y - a)) * (1 - abs(z - b)) * image[a, b]
        return total

    for index in np.ndindex(out.shape):
        b, o, i, j = index
        first = o // (outs // groups) * w.shape[1]
        for c in range(w.shape[1]):
            for r in range(kh):
                for s in range(kw):
                    part = (first + c) // each * kh * kw + r * kw + s
                    y = i * strides[0] - pads[0] + r * dilations[0] + offset[b, 2 * part, i, j]
                    z = j * strides[1] - pads[1] + s * dilations[1] + offset[b, 2 * part + 1, i, j]
                    out[index] += w[o, c, r, s] * at(x[b, first + c], y, z) * (mask[b, part, i, j] if mask is not None else 1)
    return out.astype(np.float32)


image, w, bias = reals(2, 4, 6, 5), reals(4, 2, 3, 2), reals(4)
offset, mask = reals(2, 2 * 2 * 6, 3, 5), reals(2, 2 * 6, 3, 5)
want = deformed(image, w, offset, mask, (2, 1), (1, 1), (1, 2), 2, 2)
m.add("DeformConv", [image, (w,), offset, (bias,), mask], [want + bias[:, None, None]], strides=[2, 1], pads=[1, 1, 1, 1], dilations=[1, 2], group=2, offset_group=2)
m.add("DeformConv", [image, (w,), offset], [deformed(image, w, offset, None, (2, 1), (1, 1), (1, 2), 2, 2)], strides=[2, 1], pads=[1, 1, 1, 1], dilations=[1, 2], group=2, offset_group=2)

# ---- signals ----------------------------------------------------------------------------------------------------------------
signal, complex_signal = reals(2, 9, 3, 1), reals(2, 9, 3, 2)


def parts(z):
    return np.stack([z.real, z.imag], -1).astype(np.float32)


z = complex_signal[..., 0] + 1j * complex_signal[..., 1]
m.add("DFT", [signal, None, (np.array(1),)], [parts(np.fft.rfft(signal[..., 0], axis=1))], onesided=1)
m.add("DFT", [complex_signal, (np.array(12),), (np.array(1),)], [parts(np.fft.fft(z, 12, axis=1))])
m.add("DFT", [complex_signal, (np.array(5),), np.array(-3)], [parts(np.fft.ifft(z, 5, axis=1))], inverse=1)
m.add("DFT", [complex_signal], [parts(np.fft.fft(z, axis=2))])
long, window = reals(2, 20, 1), reals(8)
frames = np.stack([long[:, k:k + 8, 0] * window for k in range(0, 13, 4)], 1)
m.add("STFT", [long, (np.array(4),), (window,)], [parts(np.fft.rfft(frames, axis=2))])
m.judge()

# ---- quantized, pooled with places, in training ------------------------------------------------------------------------------
m = Many(21)
scale, zero = np.array([0.05, 0.1, 0.02], np.float32), np.array([3, -4, 0], np.int8)
q = np.clip(np.rint(x / scale[:, None, None]) + zero[:, None, None], -128, 127).astype(np.int8)
m.add("QuantizeLinear", [x, (scale,), (zero,)], [q.astype(np.int64)], [INT8])
m.add("QuantizeLinear", [x, (scale[0],)], [np.clip(np.rint(x / scale[0]), 0, 255).astype(np.int64)], [UINT8])
m.add("DequantizeLinear", [q, (scale,), (zero,)], [(q - zero.astype(np.float32)[:, None, None]) * scale[:, None, None]])
blocks = random.random((2, 3, 3, 4)).astype(np.float32) + 0.1
m.add("DequantizeLinear", [q, (blocks,)], [q.astype(np.float32) * blocks.repeat(2, 2)[:, :, :5]], axis=2, block_size=2)
low, high = min(x.min(), 0), max(x.max(), 0)
step = np.float32(high - low) / np.float32(255)
own = np.rint(np.clip(-low / step, 0, 255))
m.add("DynamicQuantizeLinear", [x], [np.clip(np.rint(x / step) + own, 0, 255).astype(np.int64), step, np.int64(own)], [UINT8, FLOAT, UINT8])
a, b = random.integers(0, 256, (2, 3, 4)).astype(np.uint8), random.integers(0, 256, (2, 4, 5)).astype(np.uint8)
product = (a.astype(np.int64) - 120) @ (b.astype(np.int64) - 131) * (0.02 * 0.03 / 0.9) + 118
one = lambda v: (np.array(v, np.float32),)
whole = lambda v: (np.array(v, np.uint8),)
m.add("QLinearMatMul", [a, one(0.02), whole(120), b, one(0.03), whole(131), one(0.9), whole(118)], [np.clip(np.rint(product), 0, 255).astype(np.int64)], [UINT8])
values, places = F.max_pool2d(torch.tensor(x), 2, (2, 1), 1, return_indices=True)
base = np.arange(6).reshape(2, 3, 1, 1) * 20
m.add("MaxPool", [x], [values, places.numpy() + base], kernel_shape=[2, 2], strides=[2, 1], pads=[1, 1, 1, 1])
h, ww = np.divmod(places.numpy(), 4)
m.add("MaxPool", [x], [values, h + ww * 5 + base], kernel_shape=[2, 2], strides=[2, 1], pads=[1, 1, 1, 1], storage_order=1)
values, places = F.max_pool2d(torch.tensor(x), 2, return_indices=True)
back = F.max_unpool2d(values, places, 2).numpy()
flat = places.numpy() // 4 * 4 + places.numpy() % 4 + np.arange(6).reshape(2, 3, 1, 1) * 16
m.add("MaxUnpool", [values.numpy(), flat], [back], kernel_shape=[2, 2], strides=[2, 2])
mean, variance = reals(3), np.abs(reals(3))
net = torch.nn.BatchNorm2d(3, momentum=0.25)
trained = net(torch.tensor(x)).detach().numpy()
batch = x.mean((0, 2, 3)), x.var((0, 2, 3))
m.add("BatchNormalization", [x, (np.ones(3, np.float32),), (np.zeros(3, np.float32),), mean, variance],
      [trained, mean * 0.75 + batch[0] * 0.25, variance * 0.75 + batch[1] * 0.25], momentum=0.75, training_mode=1)
reversed_ = x.copy()
for i, n in enumerate([4, 2]):
    reversed_[i, :, :n] = x[i, :, :n][:, ::-1]
turned = x.transpose(0, 2, 1, 3)
m.add("ReverseSequence", [turned, (np.array([4, 2]),)], [reversed_.transpose(0, 2, 1, 3)], batch_axis=0, time_axis=1)
m.judge()

# ---- graphs inside of operators ----------------------------------------------------------------------------------------------
# a loop that ends by its condition, with an If that sees the loop's own values and those around it, and what each round yields
then = graph([node("Mul", ["v", "two"], ["t1"])], [], [info("t1", [2])], [("two", np.array(2, np.float32))])
other = graph([node("Add", ["v", "x"], ["e1"]), node("Neg", ["e1"], ["e2"])], [], [info("e2", [2])])
swap = [node("Identity", ["next"], ["w2"]), node("Identity", ["w"], ["v2"])]
body = graph([node("ReduceSum", ["v"], ["all"], keepdims=0), node("Less", ["all", "limit"], ["small"]), node("If", ["small"], ["next"], then_branch=then, else_branch=other),
              node("ReduceSum", ["next"], ["sum"], keepdims=0), node("Less", ["sum", "far"], ["go_on"]), node("Cast", ["round"], ["r"], to=FLOAT), node("Add", ["next", "r"], ["seen"])] + swap,
             [info("round", [], INT64), info("on", [], BOOL), info("v", [2]), info("w", [2])], [info("go_on", [], BOOL), info("v2", [2]), info("w2", [2]), info("seen", [2])])
loop = graph([node("Loop", ["most", "start", "x", "y"], ["last", "other", "all_seen"], body=body)],
             [info("most", [], INT64), info("start", [], BOOL), info("x", [2]), info("y", [2])], [info("last", [2]), info("other", [2]), info("all_seen", [None, 2])],
             [("limit", np.array(3, np.float32)), ("far", np.array(40, np.float32))])


def looped(most, x, y):
    v, w, seen, k, go = x, y, [], 0, True
    while go and k < most:
        new = v * 2 if v.sum() < 3 else -(v + x)
        seen.append(new + np.float32(k))
        go = new.sum() < 40
        v, w, k = w, new, k + 1
    return v, w, np.stack(seen) if seen else np.zeros((0, 2), np.float32)


for most in (6, 0):
    x, y = np.array([0.5, 0.75], np.float32), np.array([1.5, 30], np.float32)
    got = run(model(loop), {"most": np.array(most), "start": np.array(True), "x": x, "y": y})
    for name, want in zip(("last", "other", "all_seen"), looped(most, x, y)):
        assert got[name].shape == want.shape and np.allclose(got[name], want), (name, got[name], want)
text = open(program).read()
for words in ["while go_1 && round_1 < most.item() { // Loop", "if small.item() { // If", "} else {", "let v_2: Tensor<f32, 1> = last;" if "v_2" in text else "let v: Tensor<f32, 1> = last;"]:
    assert words in text, (words, text)
# running sums, and the sum of all: the state goes round, one row at a time comes in
step = graph([node("Add", ["state", "row"], ["sum"]), node("Identity", ["sum"], ["shown"])], [info("state", [3]), info("row", [3])], [info("sum", [3]), info("shown", [3])])
scan = graph([node("Scan", ["zero", "rows"], ["total", "sums"], body=step, num_scan_inputs=1)], [info("zero", [3]), info("rows", ["n", 3])], [info("total", [3]), info("sums", ["n", 3])])
rows = reals(4, 3)
got = run(model(scan), {"zero": np.zeros(3, np.float32), "rows": rows})
assert np.allclose(got["total"], rows.sum(0), atol=1e-5) and np.allclose(got["sums"], rows.cumsum(0), atol=1e-5)
# a condition alone, and a branch that is a constant
half = graph([node("Mul", ["h", "half"], ["h2"]), node("Greater", ["h2", "least"], ["more"])], [info("k", [], INT64), info("c", [], BOOL), info("h", [])], [info("more", [], BOOL), info("h2", [])],
             [("half", np.array(0.5, np.float32))])
yes = graph([], [], [info("seven", [])], [("seven", np.array(7, np.float32))])
no = graph([node("Identity", ["end"], ["same"])], [], [info("same", [])])
both = graph([node("Loop", ["", "start", "h0"], ["end"], body=half), node("If", ["start"], ["y"], then_branch=yes, else_branch=no)], [info("start", [], BOOL), info("h0", [])], [info("end", []), info("y", [])],
             [("least", np.array(1, np.float32))])
for start, end, y in ((True, 0.625, 7), (False, 10, 10)):
    got = run(model(both), {"start": np.array(start), "h0": np.array(10, np.float32)})
    assert got["end"] == end and got["y"] == y, got

# ---- boxes, regions, what is there once ----------------------------------------------------------------------------------------
def kept(boxes, scores, most, limit, least, middles):
    """By the areas of all pairs."""
    if middles:
        x, y, w, h = (boxes[..., i] for i in range(4))
        boxes = np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], -1)
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    area, out = (high - low).prod(-1), []
    for b in range(len(scores)):
        for c in range(scores.shape[1]):
            taken = []
            for i in sorted(range(scores.shape[2]), key=lambda i: (-scores[b, c, i], i)):
                both = (np.minimum(high[b, i], high[b]) - np.maximum(low[b, i], low[b])).clip(0).prod(-1)
                parts = both / (area[b, i] + area[b] - both)
                if scores[b, c, i] > least and len(taken) < most and all(parts[k] <= limit for k in taken):
                    taken.append(i)
            out += [[b, c, i] for i in taken]
    return np.array(out, np.int64).reshape(-1, 3)


def aligned(x, regions, batches, size, ratio, scale, shift, largest):
    """Every sample by itself: the four elements around it, weighted."""
    rows, columns = x.shape[2:]

    def around(image, y, z):
        if y < -1 or y > rows or z < -1 or z > columns:
            return np.zeros((4, len(image)))
        y, z = min(max(y, 0), rows - 1), min(max(z, 0), columns - 1)
        i, k = int(y), int(z)
        i1, k1 = min(i + 1, rows - 1), min(k + 1, columns - 1)
        return np.stack([(1 - y + i) * (1 - z + k) * image[:, i, k], (1 - y + i) * (z - k) * image[:, i, k1],
                         (y - i) * (1 - z + k) * image[:, i1, k], (y - i) * (z - k) * image[:, i1, k1]])

    out = np.zeros((len(regions), x.shape[1], *size))
    for r, region in enumerate(regions):
        z0, y0, z1, y1 = region * scale - shift
        tall, wide = ((y1 - y0, z1 - z0) if shift else (max(y1 - y0, 1), max(z1 - z0, 1)))
        tall, wide = tall / size[0], wide / size[1]
        n, m = ratio or int(np.ceil(tall)), ratio or int(np.ceil(wide))
        for h in range(size[0]):
            for w in range(size[1]):
                fours = [around(x[batches[r]], y0 + (h + (i + 0.5) / n) * tall, z0 + (w + (k + 0.5) / m) * wide) for i in range(n) for k in range(m)]
                out[r, :, h, w] = np.max(fours, (0, 1)) if largest else np.sum(fours, (0, 1)) / (n * m)
    return out


m = Many(16)
boxes, scores = (random.integers(0, 12, (2, 15, 4)) / 4).astype(np.float32), (random.integers(0, 9, (2, 3, 15)) / 8).astype(np.float32)
boxes[:, :, 2:] += 0.125 # none is empty
for most, limit, least, middles in [(4, 0.3, 0.2, 0), (15, 0.0, -1, 1), (2, 0.5, 0.5, 1), (3, 1.0, 2.0, 0)]:
    m.add("NonMaxSuppression", [boxes, scores, (np.array([most]),), np.array([limit], np.float32), (np.array([least], np.float32),)], [kept(boxes, scores, most, np.float32(limit), least, middles)], center_point_box=middles)
m.add("NonMaxSuppression", [boxes, scores], [np.zeros((0, 3), np.int64)])
image, regions, batches = reals(2, 3, 7, 9), np.array([[0.5, 1, 6.5, 5], [-3, -2, 4, 9], [2, 2, 2.25, 2.5], [8, 6, 20, 12.5]], np.float32), np.array([0, 1, 1, 0])
for size, ratio, scale, how, mode in [((2, 3), 2, 1.0, "half_pixel", "avg"), ((3, 2), 0, 0.5, "output_half_pixel", "avg"), ((1, 1), 3, 1.25, "output_half_pixel", "max"), ((2, 2), 0, 1.0, "half_pixel", "max")]:
    want = aligned(image, regions, batches, size, ratio, scale, 0.5 if how == "half_pixel" else 0, mode == "max")
    m.add("RoiAlign", [image, regions, batches], [want], output_height=size[0], output_width=size[1], sampling_ratio=ratio, spatial_scale=scale, coordinate_transformation_mode=how, mode=mode)
m.add("MaxRoiPool", [image, np.array([[1, 1, 1, 4, 3], [0, 8, 6, 30, 30]], np.float32)], [np.stack([
    np.stack([image[1, :, 1:3, 1:3].max((1, 2)), image[1, :, 1:3, 3:5].max((1, 2)), image[1, :, 2:4, 1:3].max((1, 2)), image[1, :, 2:4, 3:5].max((1, 2))], -1).reshape(3, 2, 2),
    np.stack([image[0, :, 6, 8]] + [np.zeros(3)] * 3, -1).reshape(3, 2, 2)])], pooled_shape=[2, 2])
few = random.integers(0, 3, (4, 2, 3)).astype(np.float32)
for axis in (None, 0, 2, -2):
    want = np.unique(few, True, True, True, axis=axis)
    m.add("Unique", [few], [want[0], want[1], want[2].reshape(-1), want[3]], **({} if axis is None else dict(axis=axis)))
come = np.array([7, 2, 7, 3, 2, 2])
m.add("Unique", [come], [np.array([7, 2, 3]), np.array([0, 1, 3]), np.array([0, 1, 0, 2, 1, 1]), np.array([2, 3, 1])], sorted=0)
m.judge()

# ---- halves of floats ----------------------------------------------------------------------------------------------------------
w16 = reals(4, 5).astype(np.float16)
halves = graph([node("Cast", ["x"], ["h"], to=FLOAT16), node("MatMul", ["h", "w"], ["m"]), node("ConstantOfShape", ["n"], ["c"], value=np.array([-0.3125], np.float16)), node("Add", ["m", "c"], ["s"]),
                node("Tanh", ["s"], ["t"]), node("Cast", ["t"], ["y"], to=FLOAT)], [info("x", [3, 4])], [info("y", [3, 5])], [("w", w16), ("n", np.array([5]))])
refused("elements of type float16 are not supported; --widen computes with them as f32", model(halves))
x = reals(3, 4)
assert np.allclose(run(model(halves), {"x": x}, "--widen")["y"], np.tanh(x @ w16.astype(np.float32) - 0.3125), atol=1e-6)

# ---- what is drawn, and what is refused --------------------------------------------------------------------------------------
p = np.full(4000, 0.25, np.float32)
got = run(model(graph([node("Bernoulli", ["p"], ["y"]), node("RandomUniformLike", ["p"], ["u"], low=2.0, high=4.0), node("RandomNormal", [], ["n"], shape=[4000], mean=1.0, scale=0.5)],
                      [info("p", [4000])], [info("y", [4000]), info("u", [4000]), info("n", [4000])]), 21), {"p": p})
assert set(got["y"]) == {0, 1} and 0.2 < got["y"].mean() < 0.3
assert got["u"].min() >= 2 and got["u"].max() < 4 and 2.9 < got["u"].mean() < 3.1
assert 0.9 < got["n"].mean() < 1.1 and 0.45 < got["n"].std() < 0.55
ends = [info("x", [2, 3])], [info("y", [2, 3])]
refused("operator Bernoulli, node that yields `y`, opset 17: attribute `seed` is not supported", model(graph([node("Bernoulli", ["x"], ["y"], seed=1.0)], *ends)))
refused("a loop without an end", model(graph([node("Loop", ["", "", "x"], ["y"], body=half)], [info("x", [])], [info("y", [])], [("least", np.array(1, np.float32))])))
refused("a condition and two graphs are wanted", model(graph([node("If", ["x"], ["y"], then_branch=yes, else_branch=no)], [info("x", []), info("end", [])], [info("y", [])])))
refused("a branch does not yield what the operator does", model(graph([node("If", ["c"], ["y", "z"], then_branch=yes, else_branch=no)], [info("c", [], BOOL), info("end", [])], [info("y", []), info("z", [])])))
refused("attribute `scan_input_directions` is not supported", model(graph([node("Scan", ["zero", "rows"], ["t", "s"], body=step, num_scan_inputs=1, scan_input_directions=[1])], [info("zero", [3]), info("rows", [4, 3])], [info("t", [3]), info("s", [4, 3])])))
refused("its graph takes 2 values and yields 2, which does not fit", model(graph([node("Loop", ["n", "", "zero"], ["t"], body=step)], [info("n", [], INT64), info("zero", [3])], [info("t", [3])])))
refused("mode = \"sinc\" is not known", model(graph([node("GridSample", ["x", "g"], ["y"], mode="sinc")], [info("x", [1, 1, 2, 2]), info("g", [1, 1, 1, 2])], [info("y", [1, 1, 1, 1])]), 20))
refused("either scales or sizes are wanted", model(graph([node("Resize", ["x"], ["y"])], *ends), 19))
refused("by scales runtimes do not agree", model(graph([node("Resize", ["x", "r", "s"], ["y"], coordinate_transformation_mode="tf_crop_and_resize")], *ends,
                                                    [("r", np.zeros(4, np.float32)), ("s", np.ones(2, np.float32))]), 19))
refused("a zero of type uint8 for a result of type int8", model(graph([node("QuantizeLinear", ["x", "s", "z"], ["y"])], [info("x", [2, 3])], [info("y", [2, 3], INT8)], [("s", np.array(1, np.float32)), ("z", np.array(1, np.uint8))]), 21))
