"""Writes .onnx files, byte by byte after the public description of the format, and compares what `masu plan --json` says of them.

    onnx_files.py MASU FOLDER [KEEP]      KEEP: a folder in which all of them stay
"""
import hashlib
import json
import os
import subprocess
import sys

import numpy as np

from onnx_write import *  # noqa: F403

masu, folder = sys.argv[1:3]
keep = sys.argv[3] if len(sys.argv) > 3 else None
count = 0


def run(made, *options):
    path = os.path.join(folder, "n.onnx")
    for place in [path] + ([os.path.join(keep, hashlib.sha1(made).hexdigest())] if keep else []):
        with open(place, "wb") as file:
            file.write(made)
    return subprocess.run([masu, "plan", path, "--json", *options], capture_output=True, text=True)


def buffers(made, *options):
    done = run(made, *options)
    assert done.returncode == 0, done.stderr
    return {b["id"]: b for b in json.loads(done.stdout)["buffers"]}


def refused(made, words, *options):
    global count
    count += 1
    done = run(made, *options)
    assert done.returncode == 1 and words in done.stderr, (words, done)


def shape(kind, inputs, expected, dtype="float32", **attributes):
    """inputs: shapes of inputs x0, x1, …; an array is a constant; None is left out. expected: of outputs y0, …"""
    global count
    count += 1
    expected = expected if isinstance(expected, list) else [expected]
    names = ["" if x is None else "x%d" % i for i, x in enumerate(inputs)]
    given = [info(n, x, INT64 if n in attributes.get("ints", ()) else FLOAT) for n, x in zip(names, inputs) if isinstance(x, tuple)]
    attributes.pop("ints", None)
    constants = [(n, x) for n, x in zip(names, inputs) if isinstance(x, np.ndarray)]
    outputs = ["y%d" % i for i in range(len(expected))]
    made = model(graph([node(kind, names, outputs, **attributes)], given, [info(o, None, 0) for o in outputs], constants))
    try:
        found = buffers(made)
        for o, e in zip(outputs, expected):
            if e is not None and 0 not in e:
                assert tuple(found[o]["shape"]) == e, (o, found[o]["shape"], e)
        assert 0 in expected[0] or found["y0"]["type"] == dtype, found
    except (AssertionError, KeyError) as error:
        raise SystemExit("%s %s: %s" % (kind, inputs, error))


def ints(*values):
    return np.array(values, np.int64)


# ---- element by element, against numpy -----------------------------------------------------------------------
for kind in "Relu Sigmoid Tanh Softmax Elu LeakyRelu Clip Exp Sqrt Neg HardSwish Erf Identity".split():
    shape(kind, [(2, 3, 5)], (2, 3, 5))
for a, b in [((2, 3), (3,)), ((2, 1, 4), (3, 1)), ((1,), (7, 1, 2)), ((), (2, 2)), ((5, 1), (1, 6)), ((4,), (4,))]:
    for kind in "Add Sub Mul Div Pow Max".split():
        shape(kind, [a, b], np.broadcast_shapes(a, b))
    shape("Less", [a, b], np.broadcast_shapes(a, b), dtype="bool")
shape("Sum", [(2, 1), (3,), (1, 1, 1)], (1, 2, 3))
shape("Cast", [(2, 3)], (2, 3), dtype="uint8", to=UINT8)
shape("QuantizeLinear", [(2, 3), np.array(1, np.float32), np.array(0, np.int8)], (2, 3), dtype="int8")
shape("DequantizeLinear", [(2, 3), np.array(1, np.float32)], (2, 3))
shape("BatchNormalization", [(1, 4, 5), (4,), (4,), (4,), (4,)], (1, 4, 5))

# ---- products, against numpy -----------------------------------------------------------------------------------
for a, b in [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (7, 3, 4)), ((2, 5, 3), (2, 3, 1)), ((8, 3), (2, 3, 4))]:
    shape("MatMul", [a, b], np.matmul(np.zeros(a), np.zeros(b)).shape)
shape("Gemm", [(2, 3), (3, 4)], (2, 4))
shape("Gemm", [(3, 2), (4, 3)], (2, 4), transA=1, transB=1)

# ---- windows -----------------------------------------------------------------------------------------------------
shape("Conv", [(1, 3, 224, 224), (64, 3, 7, 7)], (1, 64, 112, 112), kernel_shape=[7, 7], strides=[2, 2], pads=[3, 3, 3, 3])
shape("Conv", [(2, 3, 10), (5, 3, 3)], (2, 5, 8))
shape("Conv", [(1, 4, 9, 9), (8, 2, 3, 3)], (1, 8, 5, 5), group=2, dilations=[2, 2])
shape("Conv", [(1, 1, 7, 8), (1, 1, 3, 3)], (1, 1, 4, 4), auto_pad="SAME_UPPER", strides=[2, 2])
shape("Conv", [(1, 1, 7, 8), (1, 1, 3, 3)], (1, 1, 3, 3), auto_pad="VALID", strides=[2, 2])
shape("ConvTranspose", [(1, 8, 5, 5), (8, 4, 3, 3)], (1, 4, 11, 11), strides=[2, 2])
shape("ConvTranspose", [(1, 8, 5, 5), (8, 4, 3, 3)], (1, 4, 10, 10), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
shape("ConvTranspose", [(1, 8, 5), (8, 2, 3)], (1, 6, 7), group=3)
shape("MaxPool", [(1, 3, 8, 8)], [(1, 3, 4, 4), (1, 3, 4, 4)], kernel_shape=[2, 2], strides=[2, 2])
shape("MaxPool", [(1, 3, 7, 7)], (1, 3, 4, 4), kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
shape("MaxPool", [(1, 1, 4)], (1, 1, 2), kernel_shape=[1], strides=[3], ceil_mode=1)
shape("AveragePool", [(1, 3, 7, 7)], (1, 3, 3, 3), kernel_shape=[3, 3], strides=[2, 2])
shape("GlobalAveragePool", [(1, 3, 7, 7)], (1, 3, 1, 1))
shape("Resize", [(1, 3, 4, 5), None, np.array([1, 1, 2, 2.5], np.float32)], (1, 3, 8, 12))
shape("Resize", [(1, 3, 4, 5), None, None, ints(1, 3, 9, 9)], (1, 3, 9, 9))
shape("Upsample", [(1, 3, 4, 5), np.array([1, 1, 2, 2], np.float32)], (1, 3, 8, 10))
shape("DepthToSpace", [(1, 8, 2, 3)], (1, 2, 4, 6), blocksize=2)
shape("SpaceToDepth", [(1, 2, 4, 6)], (1, 8, 2, 3), blocksize=2)

# ---- reductions ----------------------------------------------------------------------------------------------------
shape("ReduceMean", [(2, 3, 4)], (2, 1, 4), axes=[1])
shape("ReduceSum", [(2, 3, 4), ints(-1)], (2, 3), keepdims=0)
shape("ReduceMax", [(2, 3, 4)], (1, 1, 1))
shape("ReduceSum", [(2, 3)], (2, 3), noop_with_empty_axes=1)
shape("ArgMax", [(2, 3, 4)], (2, 3), dtype="int64", axis=2, keepdims=0)

# ---- other shapes ----------------------------------------------------------------------------------------------------
shape("Reshape", [(2, 3, 4), ints(0, -1)], (2, 12))
shape("Reshape", [(2, 3, 4), ints(4, 6)], (4, 6))
shape("Flatten", [(2, 3, 4)], (2, 12))
shape("Flatten", [(2, 3, 4)], (6, 4), axis=-1)
shape("Flatten", [(2, 3)], (1, 6), axis=0)
shape("Transpose", [(2, 3, 4)], (4, 3, 2))
shape("Transpose", [(2, 3, 4)], (3, 2, 4), perm=[1, 0, 2])
shape("Squeeze", [(1, 3, 1)], (3,))
shape("Squeeze", [(1, 3, 1), ints(-1)], (1, 3))
shape("Unsqueeze", [(3,)], (1, 3, 1), axes=[0, 2])
shape("Unsqueeze", [(3,), ints(-1)], (3, 1))

# ---- parts and joins, against numpy ----------------------------------------------------------------------------------
x = np.zeros((10, 7, 4))
for start, end, step in [(0, 5, 1), (2, 100, 3), (-3, 10, 1), (9, -100, -2), (-1, 0, -1), (1, -1, 1), (5, 5, 1), (100, 2, -3), (0, 2 ** 62, 1), (-200, 4, 2)]:
    shape("Slice", [x.shape, ints(start), ints(end), ints(0), ints(step)], x[slice(start, None if end == -100 else end, step)].shape)
shape("Slice", [(10, 7)], (4, 2), starts=[1, 5], ends=[5, 7])
shape("Split", [(6, 2)], [(2, 2), (2, 2), (2, 2)])
shape("Split", [(7, 2)], [(3, 2), (3, 2), (1, 2)])
shape("Split", [(6, 2), ints(1, 5)], [(1, 2), (5, 2)])
shape("Pad", [(1, 2, 3)], (1, 4, 6), pads=[0, 1, 1, 0, 1, 2])
shape("Pad", [(1, 2, 3), ints(1, 2), None, ints(2)], (1, 2, 6))
shape("Concat", [(2, 3), (2, 5)], (2, 8), axis=1)
shape("Concat", [(2, 3), (1, 3)], (3, 3), axis=-2)
shape("Gather", [(5, 6), ints(0, 1, 2).reshape(3, 1)], (3, 1, 6))
shape("Gather", [(5, 6), np.array(2, np.int64)], (5,), axis=1)
shape("GatherElements", [(5, 6), (2, 6)], (2, 6))
shape("GatherND", [(2, 3, 4), (5, 2)], (5, 4))
shape("Expand", [(3, 1), ints(2, 1, 6)], (2, 3, 6))
shape("Tile", [(2, 3), ints(2, 4)], (4, 12))
shape("TopK", [(2, 9), ints(4)], [(2, 4), (2, 4)])
shape("OneHot", [(2, 3), np.array(5, np.int64), (2,)], (2, 3, 5))
shape("LSTM", [(7, 2, 3), (1, 16, 3), (1, 16, 4)], [(7, 1, 2, 4), (1, 2, 4), (1, 2, 4)], hidden_size=4)
shape("GRU", [(7, 2, 3), (2, 12, 3), (2, 12, 4)], [(7, 2, 2, 4), (2, 2, 4)], hidden_size=4, direction="bidirectional")

# ---- shapes that are computed ----------------------------------------------------------------------------------------
# Flatten as exporters write it: Reshape(x, Concat(Gather(Shape(x), 0), -1))
chain = [node("Shape", ["x"], ["s"]), node("Constant", [], ["zero"], value=np.array(0, np.int64)), node("Gather", ["s", "zero"], ["n"]),
         node("Unsqueeze", ["n", "axis"], ["u"]), node("Concat", ["u", "rest"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])]
constants = [("axis", ints(0)), ("rest", ints(-1))]
found = buffers(model(graph(chain, [info("x", ["batch", 3, 4])], [info("y", None)], constants)), "--dim", "batch=5")
assert sorted(found) == ["x", "y"] and found["y"]["shape"] == [5, 12], found
found = buffers(model(graph(chain, [info("x", [None, 3, 4])], [info("y", None)], constants)), "--dim", "x:0=2")
assert found["y"]["shape"] == [2, 12], found
refused(model(graph(chain, [info("x", ["batch", 3, 4])], [info("y", None)], constants)), "`x` (a dimension is open: batch)")
refused(model(graph(chain, [info("x", ["batch", 3, 4])], [info("y", None)], constants)), "--dim size: no open dimension of an input has this name; there are: batch", "--dim", "size=5")
# The words name each open dimension once, in the order of the inputs; one that was given a value is not asked for again, but is known by its name.
two_inputs = model(graph([node("Add", ["x", "w"], ["y"])], [info("x", ["batch", None, 4]), info("w", ["batch", "time", 4])], [info("y", None)]))
refused(two_inputs, "; open in the inputs: batch, x:1, time: give each a number, --dim batch=1")
refused(two_inputs, "; open in the inputs: x:1, time: give each a number, --dim x:1=1", "--dim", "batch=2")
refused(two_inputs, "--dim btach: no open dimension of an input has this name; there are: batch, x:1, time", "--dim", "btach=2", "--dim", "time=3")
refused(two_inputs, "there are: batch, time", "--dim", "btach=2", "--dim", "x:1=3")
refused(two_inputs, "there are: batch, x:1, time", "--dim", "btach=1..4")
found = buffers(two_inputs, "--dim", "batch=2", "--dim", "time=3", "--dim", "x:1=3")
assert found["y"]["shape"] == [2, 3, 4], found
closed = model(graph([node("Relu", ["x"], ["y"])], [info("x", [4, 4])], [info("y", None)]))
refused(closed, "no open dimension of an input has this name; none is open", "--dim", "batch=1")
halves = [node("Shape", ["x"], ["s"]), node("Div", ["s", "two"], ["h"]), node("Slice", ["h", "a", "b"], ["part"]), node("ConstantOfShape", ["part"], ["z"]),
          node("Range", ["zero", "six", "two0"], ["r"]), node("Gather", ["x", "r"], ["y"], axis=1)]
found = buffers(model(graph(halves, [info("x", [8, 6])], [info("y", None)], [("two", ints(2)), ("a", ints(1)), ("b", ints(2)), ("zero", np.array(0, np.int64)),
                                                                               ("six", np.array(6, np.int64)), ("two0", np.array(2, np.int64))])))
assert sorted(found) == ["x", "y"] and found["y"]["shape"] == [8, 3], found

# ---- what cannot be known --------------------------------------------------------------------------------------------
one = [info("x", [4, 4])]
refused(model(graph([node("NonZero", ["x"], ["i"]), node("Relu", ["x"], ["y"])], one, [info("y", None), info("i", None)])), "`i` (a dimension is open; made by NonZero); no dimension of an input is open: write the shapes into the file (value_info)")
refused(model(graph([node("Mystery", ["x"], ["y"], domain="mine")], one, [info("y", None)])), "made by the custom operator Mystery")
refused(model(graph([node("Reshape", ["x", "s"], ["y"])], one + [info("s", [2], INT64)], [info("y", None)])), "`y` (a dimension is open; made by Reshape)")
found = buffers(model(graph([node("Mystery", ["x"], ["m"], domain="mine"), node("Relu", ["m"], ["y"])], one, [info("y", None)], infos=[info("m", [7])])))
assert found["y"]["shape"] == [7]

# ---- wrong files -----------------------------------------------------------------------------------------------------
refused(model(graph([node("Relu", ["q"], ["y"])], one, [info("y", None)])), "reads `q`, which nothing before it makes")
refused(model(graph([node("Relu", ["y"], ["z"]), node("Relu", ["x"], ["y"])], one, [info("z", None)])), "reads `y`, which nothing before it makes")
refused(model(graph([node("Relu", ["x"], ["y"]), node("Relu", ["x"], ["y"])], one, [info("y", None)])), "two operators or inputs make `y`")
refused(model(graph([], one, [info("y", None)])), "nothing makes the output `y`")
refused(model(graph([node("Relu", ["x"], ["y"])], [info("x", [2 ** 40, 2 ** 40])], [info("y", None)])), "larger than 2^62 bytes")
refused(model(graph([node("Relu", ["x"], ["y"])], [info("x", [1] * 33)], [info("y", None)])), "33 dimensions; at most 32")
refused(field(1, 8), "the file has no graph")
refused(b"\xff" * 40, "not an ONNX file, or a damaged one")
deep = graph([node("Relu", ["x"], ["y"])], [], [info("y", None)])
for level in range(40):
    deep = graph([node("If", ["c"], ["y%d" % level], then_branch=deep, else_branch=deep[:0])], [], [info("y%d" % level, None)])
refused(model(deep), "reads `c`")
deep = graph([node("Relu", ["x"], ["v"])], [], [info("v", None)])
for level in range(40):
    deep = graph([node("If", ["c"], ["v"], then_branch=deep)], [info("c", [], BOOL), info("x", [1])] if level == 39 else [], [info("v", None)])
refused(model(deep), "more than 32 deep")

# ---- lives -----------------------------------------------------------------------------------------------------------
# If: what the branches read lives to its end; the branches do not live together.
then = graph([node("Relu", ["x"], ["t"]), node("Relu", ["t"], ["u"])], [], [info("u", None)])
other = graph([node("Relu", ["x"], ["v"]), node("Relu", ["v"], ["w"])], [], [info("w", None)])
found = buffers(model(graph([node("If", ["c"], ["y"], then_branch=then, else_branch=other), node("Relu", ["y"], ["z"])], [info("c", [], BOOL), info("x", [16])], [info("z", None)])))
life = {name: (b["lower"], b["upper"]) for name, b in found.items()}
assert found["y"]["shape"] == [16]
assert life["x"][1] == life["y"][0] + 7 and life["u"][1] <= life["v"][0], life
# Loop: what it reads from outside lives to its end, and is not written over in a round.
body = graph([node("Add", ["carried", "x"], ["more"]), node("Relu", ["x"], ["each"])], [info("i", [], INT64), info("go", [], BOOL), info("carried", None)],
             [info("go", [], BOOL), info("more", None), info("each", None)])
loop = model(graph([node("Loop", ["n", "", "start"], ["end", "all"], body=body)], [info("x", [16]), info("start", [16])], [info("end", None), info("all", None)],
                   [("n", np.array(3, np.int64))]))
found = buffers(loop, "--in-place")
assert found["end"]["shape"] == [16] and found["all"]["shape"] == [3, 16] and found["each"]["shape"] == [16], found
assert all(found[o]["offset"] != found["x"]["offset"] for o in ("each", "more")), found

# ---- arenas ----------------------------------------------------------------------------------------------------------
def heights(made, *options):
    done = run(made, *options)
    assert done.returncode == 0, done.stderr
    return {w["way"]: w["arena"] for w in json.loads(done.stdout)["ways"]}


# conv, relu, reshape, conv: 1024 bytes each, 1 × 1 × 16 × 16
steps = [node("Conv", ["x", "w"], ["a"]), node("Relu", ["a"], ["b"]), node("Flatten", ["b"], ["f"]), node("Reshape", ["f", "to"], ["g"]), node("Conv", ["g", "w"], ["y"])]
line = model(graph(steps, [info("x", [1, 1, 16, 16])], [info("y", None)], [("w", np.zeros((1, 1, 1, 1), np.float32)), ("to", ints(1, 1, 16, 16))]))
assert heights(line) == {"onnxruntime": 2048, "planned": 2048, "in place": 2048}, heights(line)
# A residual: x lives beside a; relu(a) + x in place of either.
steps = [node("Conv", ["x", "w"], ["a"]), node("Relu", ["a"], ["b"]), node("Add", ["b", "x"], ["c"]), node("Conv", ["c", "w"], ["y"])]
line = model(graph(steps, [info("x", [1, 1, 16, 16])], [info("y", None)], [("w", np.zeros((1, 1, 1, 1), np.float32))]))
assert heights(line) == {"onnxruntime": 2048, "planned": 3072, "in place": 2048}, heights(line)
# A view of a tensor that lives on is no place to write to.
steps = [node("Conv", ["x", "w"], ["a"]), node("Identity", ["a"], ["b"]), node("Relu", ["b"], ["c"]), node("Add", ["a", "c"], ["y"])]
line = model(graph(steps, [info("x", [1, 1, 16, 16])], [info("y", None)], [("w", np.zeros((1, 1, 1, 1), np.float32))]))
assert heights(line)["in place"] == 2048 and heights(line)["planned"] == 3072, heights(line)
found = buffers(line, "--in-place")
assert found["c"]["offset"] != found["a"]["offset"], found
# Random numbers keep their place.
steps = [node("RandomNormal", [], ["a"], shape=[256]), node("Relu", ["x"], ["b"]), node("Add", ["a", "b"], ["y"])]
assert "reordered" not in heights(model(graph(steps, [info("x", [256])], [info("y", None)])))

# ---- a dimension with a range ----------------------------------------------------------------------------------------
def say(made, *options):
    path = os.path.join(folder, "n.onnx")
    with open(path, "wb") as file:
        file.write(made)
    return subprocess.run([masu, "plan", path, *options], capture_output=True, text=True)


# x, a, c and y grow with n, k does not: k (128 bytes) + three of 64 n.
steps = [node("Relu", ["x"], ["a"]), node("Conv", ["e", "w"], ["k"]), node("Expand", ["k", "one"], ["k2"]), node("Add", ["a", "x"], ["c"]), node("Concat", ["c", "k2"], ["y"], axis=2)]
grows = model(graph(steps, [info("x", [1, 1, "n", 16]), info("e", [1, 1, 2, 16])], [info("y", None)], [("w", np.zeros((1, 1, 1, 1), np.float32)), ("one", ints(1))]))
done = say(grows, "--json", "--dim", "n=1..40")
assert done.returncode == 0, done.stderr
forms = json.loads(done.stdout)
one_by_one = {}
for n in (1, 2, 17, 40):
    found = buffers(grows, "--dim", "n=%d" % n)
    one_by_one[n] = heights(grows, "--dim", "n=%d" % n)["planned"]
    value = lambda f: f["base"] + f["step"] * (n - 1)
    spans = {b["id"]: (value(b["offset"]), value(b["offset"]) + found[b["id"]]["size"]) for b in forms["buffers"]}
    for a in found:
        assert value(next(b for b in forms["buffers"] if b["id"] == a)["size"]) >= found[a]["size"]
        assert spans[a][1] <= value(forms["arena"]) and spans[a][0] % 64 == 0
        for b in found:
            if a < b and found[a]["lower"] < found[b]["upper"] and found[b]["lower"] < found[a]["upper"]:
                assert spans[a][1] <= spans[b][0] or spans[b][1] <= spans[a][0], (n, a, b, spans)
assert one_by_one[40] <= forms["arena"]["base"] + forms["arena"]["step"] * 39 <= 1.02 * one_by_one[40], (forms["arena"], one_by_one)
done = say(grows, "--dim", "n=1..40")
assert "× n bytes" in done.stdout and "proven: none is lower" in done.stdout, done
limit = one_by_one[17]
done = say(grows, "--dim", "n=?", "--capacity", str(limit))
assert done.stdout.startswith("n = 17 fits: ") and "; 18 does not, proven: " in done.stdout, done
done = say(grows, "--dim", "n=?", "--capacity", "64")
assert done.returncode == 1 and "not even n = 1 fits" in done.stderr, done
for wrong in (["--dim", "n=?"], ["--dim", "n=4..2"], ["--dim", "n=0..2"], ["--dim", "n=1..9", "--dim", "m=1..9"], ["--dim", "n=1..9", "--capacity", "1K"],
              ["--dim", "n=1..9", "--output", "x"], ["--dim", "n=1..2000"], ["--dim", "n=.."], ["--dim", "n=?", "--capacity", "1K", "--json"]):
    assert say(grows, *wrong).returncode == 2, wrong
done = say(grows, "--dim", "m=1..9")
assert done.returncode == 1 and "no open dimension of an input has this name" in done.stderr, done
# In place: c takes over a or x for each n, whichever dies there with its size, and has its form.
forms = json.loads(say(grows, "--json", "--dim", "n=1..40", "--in-place").stdout)
for n in (1, 2, 17, 40):
    found = buffers(grows, "--dim", "n=%d" % n)
    value = lambda f: f["base"] + f["step"] * (n - 1)
    spans = {b["id"]: (value(b["offset"]), value(b["offset"]) + found[b["id"]]["size"]) for b in forms["buffers"]}
    over = 0
    for a in found:
        assert spans[a][1] <= value(forms["arena"])
        for b in found:
            together = found[a]["lower"] < found[b]["upper"] and found[b]["lower"] < found[a]["upper"]
            if a < b and together and spans[a][0] < spans[b][1] and spans[b][0] < spans[a][1]:
                over += 1
                assert spans[a] == spans[b] and "c" in (a, b) and {a, b} & {"a", "x"}, (n, a, b, spans)
    assert over == 1, spans
    assert heights(grows, "--dim", "n=%d" % n)["in place"] <= value(forms["arena"]) <= one_by_one[n]
# What is as large only at n = 1 is not done in place for all.
wide = model(graph([node("Conv", ["e", "w"], ["k"]), node("Add", ["k", "x"], ["c"]), node("Concat", ["c", "c"], ["y"], axis=0)],
                   [info("x", ["n", 1, 1, 16]), info("e", [1, 1, 1, 16])], [info("y", None)], [("w", np.zeros((1, 1, 1, 1), np.float32))]))
forms = {b["id"]: b["offset"] for b in json.loads(say(wide, "--json", "--dim", "n=1..8", "--in-place").stdout)["buffers"]}
assert forms["k"] != forms["c"] and forms["x"] == forms["c"], forms
# Reordered: two wide branches one after the other, for each n; with both, too.
steps = [node("Concat", ["x", "x", "x", "x"], ["a"], axis=0), node("Concat", ["x", "x", "x", "x"], ["b"], axis=0), node("ReduceSum", ["a"], ["p"]),
         node("ReduceSum", ["b"], ["q"]), node("Add", ["p", "q"], ["y"])]
branches = model(graph(steps, [info("x", ["n", 64])], [info("y", None)]))
for options, way in ((["--reorder"], "reordered"), (["--reorder", "--in-place"], "reordered in place")):
    forms = json.loads(say(branches, "--json", "--dim", "n=1..40", *options).stdout)
    assert sorted(forms["order"]) == [0, 1, 2, 3, 4] and forms["order"] != [0, 1, 2, 3, 4], forms
    for n in (1, 7, 40):
        best = heights(branches, "--dim", "n=%d" % n)[way]
        assert best <= forms["arena"]["base"] + forms["arena"]["step"] * (n - 1) <= 1.1 * best + 128, (n, best, forms["arena"])
assert "  order: " in say(branches, "--dim", "n=1..40", "--reorder").stdout and "no other is lower" in say(grows, "--dim", "n=1..40", "--reorder").stdout
# Other tensors for other values: at n = 2, Squeeze has nothing to leave out.
done = say(model(graph([node("Reshape", ["x", "to"], ["r"]), node("Slice", ["r", "a", "b"], ["y"])], [info("x", ["n", 4])], [info("y", None)],
                       [("to", ints(-1)), ("a", ints(4)), ("b", ints(400))])), "--dim", "n=1..3")
assert done.returncode == 1 and "other tensors are in the arena" in done.stderr, done

# ---- every way to cut a file short is refused or read; none ends the program -----------------------------------------
for length in range(0, len(loop), 3):
    done = run(loop[:length])
    assert done.returncode in (0, 1), (length, done)
print("%d files" % (count + len(loop) // 3))
