"""Networks that are written here, as programs: what they compute is compared with NumPy's sums, what is not supported with the error.

    import_networks.py MASU FOLDER
"""
import os
import subprocess
import sys

import numpy as np

from onnx_write import BOOL, FLOAT, INT8, INT64, graph, info, model, node
from tensor_bytes import read_tensors, write_tensors

masu, folder = sys.argv[1:3]
made, program = os.path.join(folder, "net.onnx"), os.path.join(folder, "net.tl")
random = np.random.default_rng(7)


def reals(*shape):
    return random.standard_normal(shape).astype(np.float32)


def imported(text, *options):
    with open(made, "wb") as file:
        file.write(text)
    return subprocess.run([masu, "import", made, "-o", program, *options], capture_output=True, text=True)


def refused(words, text, *options):
    done = imported(text, *options)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1, (words, done)


def run(given):
    write_tensors(folder + "/in.safetensors", given)
    done = subprocess.run([masu, "run", program, folder + "/in.safetensors", folder + "/out.safetensors"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_tensors(folder + "/out.safetensors")


def near(got, want):
    assert got.shape == want.shape and np.allclose(got, want, rtol=1e-4, atol=1e-5), (got, want)


# ---- a network of images: asymmetric padding, steps, a group for each channel, the name of a word of the language ----
def convolved(x, w, b, strides, dilations, pads, groups):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    spans = [d * (k - 1) + 1 for d, k in zip(dilations, w.shape[2:])]
    out = np.zeros((x.shape[0], w.shape[0], (x.shape[2] - spans[0]) // strides[0] + 1, (x.shape[3] - spans[1]) // strides[1] + 1))
    each = w.shape[0] // groups
    for o in range(w.shape[0]):
        part = x[:, o // each * w.shape[1]:(o // each + 1) * w.shape[1]]
        for i in range(out.shape[2]):
            for j in range(out.shape[3]):
                window = part[:, :, i * strides[0]:i * strides[0] + spans[0]:dilations[0], j * strides[1]:j * strides[1] + spans[1]:dilations[1]]
                out[:, o, i, j] = (window * w[o]).sum((1, 2, 3)) + b[o]
    return out


w1, b1, w2, b2, w3, b3 = reals(4, 2, 3, 2), reals(4), reals(4, 1, 2, 2), reals(4), reals(3, 4), reals(3)
nodes = [
    node("Conv", ["x", "w1", "b1"], ["fn"], strides=[2, 1], pads=[1, 0, 2, 1], kernel_shape=[3, 2]),
    node("Relu", ["fn"], ["/layer.1/relu"]),
    node("Conv", ["/layer.1/relu", "w2", "b2"], ["/layer 1/relu"], group=4, dilations=[2, 1]),
    node("GlobalAveragePool", ["/layer 1/relu"], ["5"]),
    node("Flatten", ["5"], ["flat"]),
    node("Gemm", ["flat", "w3", "b3"], ["Logits"], transB=1, alpha=0.5),
    node("Softmax", ["Logits"], ["y"], axis=1),
]
constants = [("w1", w1), ("b1", b1), ("w2", w2), ("b2", b2), ("w3", w3), ("b3", b3)]
net = model(graph(nodes, [info("x", ["batch", 2, 7, 6])], [info("y", ["batch", 3]), info("Logits", ["batch", 3])], constants))
assert imported(net).returncode == 0
x = reals(2, 2, 7, 6)
got = run({"x": x})
h = convolved(np.maximum(convolved(x, w1, b1, (2, 1), (1, 1), (1, 0, 2, 1), 1), 0), w2, b2, (1, 1), (2, 1), (0, 0, 0, 0), 4)
logits = 0.5 * h.mean((2, 3)) @ w3.T + b3
near(got["logits"], logits)
near(got["y"], np.exp(logits) / np.exp(logits).sum(1, keepdims=True))
text = open(program).read()
for words in ["struct Net {", "w1: Tensor<f32, 4>, // [4, 2, 3, 2]", "pub fn forward(&self, x: Tensor<f32, 4>) -> (Tensor<f32, 2>, Tensor<f32, 2>)",
              "let t_fn: Tensor<f32, 4> = ", "let layer_1_relu: ", "let layer_1_relu_2: ", "let t_5: ", "// GlobalAveragePool [?, 4, 1, 1]", "/// x: [batch, 2, 7, 6]"]:
    assert words in text, (words, text)
done = subprocess.run([masu, "fmt", "--check", program], capture_output=True, text=True)
assert done.returncode == 0, done
done = subprocess.run([masu, "build", "--shared", program, "-o", folder + "/libnet.so", "--header", folder + "/net.h"], capture_output=True, text=True)
assert done.returncode == 0 and "net_Net_forward(" in open(folder + "/net.h").read(), done

# ---- shapes that the file computes leave no trace; one that its inputs say stays; parts; broadcasting ----------------
nodes = [
    node("Shape", ["x"], ["s"]),
    node("Gather", ["s", "zero"], ["rows"], axis=0),
    node("Concat", ["rows", "minus"], ["to"], axis=0),
    node("Reshape", ["x", "to"], ["flat"]),
    node("MatMul", ["flat", "w"], ["m"]),
    node("Add", ["m", "row"], ["sum"]),
    node("Split", ["sum", "sizes"], ["a", "b"], axis=-1),
    node("Slice", ["b", "starts", "ends", "axes", "steps"], ["c"]),
    node("Where", ["mask", "c", "half"], ["y"]),
    node("ArgMax", ["a"], ["best"], axis=1, keepdims=0),
    node("Reshape", ["a", "wanted"], ["z"]),
]
w, row = reals(6, 5), reals(1, 5)
constants = [("zero", np.array([0])), ("minus", np.array([-1])), ("w", w), ("row", row), ("sizes", np.array([2, 3])), ("starts", np.array([-1])),
             ("ends", np.array([-9])), ("axes", np.array([1])), ("steps", np.array([-2])), ("half", np.array(0.5, np.float32))]
net = model(graph(nodes, [info("x", [4, 3, 2]), info("mask", [4, 1], BOOL), info("wanted", [3], INT64)],
                  [info("y", [4, 2]), info("best", [4], INT64), info("z", [2, 2, 2])], constants))
assert imported(net).returncode == 0
assert "Shape" not in open(program).read()
x, mask = reals(4, 3, 2), np.array([[True], [False], [True], [False]])
got = run({"x": x, "mask": mask, "wanted": np.array([2, -1, 2])})
all_ = x.reshape(4, 6) @ w + row
near(got["y"], np.where(mask, all_[:, 4:1:-2], 0.5))
near(got["z"], all_[:, :2].reshape(2, 2, 2))
assert (got["best"] == all_[:, :2].argmax(1)).all()

# ---- a shape that is joined from parts while the network runs --------------------------------------------------------
nodes = [
    node("Cast", ["eps"], ["epsilon"], to=FLOAT),
    node("Shape", ["x"], ["whole"]),
    node("Slice", ["whole", "zero", "axis"], ["front"]),
    node("Neg", ["axis"], ["gone"]),
    node("ConstantOfShape", ["gone"], ["behind"], value=np.array([1])),
    node("Concat", ["front", "behind"], ["kept"], axis=0),
    node("Flatten", ["x"], ["flat"], axis=-1),
    node("ReduceMean", ["flat"], ["mean"], axes=[1]),
    node("Mul", ["flat", "flat"], ["square"]),
    node("ReduceMean", ["square"], ["squares"], axes=[1]),
    node("Mul", ["mean", "mean"], ["means"]),
    node("Sub", ["squares", "means"], ["variance"]),
    node("Add", ["variance", "epsilon"], ["more"]),
    node("Sqrt", ["more"], ["deviation"]),
    node("Sub", ["flat", "mean"], ["centred"]),
    node("Div", ["centred", "deviation"], ["even"]),
    node("Reshape", ["even", "whole"], ["y"]),
    node("Reshape", ["deviation", "kept"], ["z"]),
]
constants = [("eps", np.array(1e-5, np.float32)), ("zero", np.array([0])), ("axis", np.array([-1]))]
net = model(graph(nodes, [info("x", [2, 3, 4])], [info("y", [2, 3, 4]), info("z", [2, 3, 1])], constants))
assert imported(net).returncode == 0
x = reals(2, 3, 4)
got = run({"x": x})
deviation = np.sqrt(x.var(2, keepdims=True) + 1e-5)
near(got["z"], deviation)
near(got["y"], (x - x.mean(2, keepdims=True)) / deviation)

# ---- integers of few bits wrap ---------------------------------------------------------------------------------------
net = model(graph([node("Add", ["a", "b"], ["c"]), node("Div", ["a", "b"], ["d"])], [info("a", [3], INT8), info("b", [3], INT8)], [info("c", [3], INT8), info("d", [3], INT8)]))
assert imported(net).returncode == 0
a, b = np.array([120, -128, -7]), np.array([10, -1, 2])
got = run({"a": a, "b": b})
assert got["c"].tolist() == [-126, 127, -5] and got["d"].tolist()[2] == -3, got

# ---- what is refused, and by which words -----------------------------------------------------------------------------
ends = [info("x", [2, 3])], [info("y", [2, 3])]
refused("operator Frobnicate, node `n7`, opset 17: it is not supported", model(graph([node("Frobnicate", ["x"], ["y"], name="n7")], *ends)))
refused("operator Relu, node that yields `y`, opset 17: attribute `slope` is not supported", model(graph([node("Relu", ["x"], ["y"], slope=0.1)], *ends)))
refused("the domain `com.example` is not supported", model(graph([node("Relu", ["x"], ["y"], domain="com.example")], *ends)))
refused("input 1, `x`, is not supported", model(graph([node("Relu", ["x", "x"], ["y"])], *ends)))
refused("opset 99 is not known", model(graph([node("Relu", ["x"], ["y"])], *ends), opset=99))
refused("reads `a b`, which nothing", model(graph([node("Relu", ["a\nb"], ["y"])], *ends)))
refused("it is not supported in this opset", model(graph([node("Mish", ["x"], ["y"])], *ends), opset=17))
refused("elements of type float16 are not supported", model(graph([node("Relu", ["x"], ["y"])], [info("x", [2], 10)], [info("y", [2], 10)])))
refused("elements of type string are not supported", model(graph([node("Identity", ["x"], ["y"])], [info("x", [2], 8)], [info("y", [2], 8)])))
refused("approximate = \"sine\" is not known", model(graph([node("Gelu", ["x"], ["y"], approximate="sine")], *ends), opset=20))
same = graph([node("MaxPool", ["x"], ["y"], kernel_shape=[2], auto_pad="SAME_UPPER")], [info("x", [1, 1, "n"])], [info("y", [1, 1, "n"])])
refused("dimension 2 of `x` is open, and the result depends on it; --dim gives it a number", model(same))
assert imported(model(same), "--dim", "n=5").returncode == 0
near(run({"x": np.arange(5, dtype=np.float32).reshape(1, 1, 5)})["y"], np.array([[[1, 2, 3, 4, 4]]]))
# only the lengths that windows slide over must be known, and nothing of the program is superfluous
x = reals(2, 3, 5, 7)
rounded = graph([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), node("AveragePool", ["x"], ["z"], kernel_shape=[3, 2], auto_pad="SAME_LOWER", strides=[2, 2])],
                [info("x", ["batch", "channels", 5, 7])], [info("y", ["batch", "channels", 3, 4]), info("z", ["batch", "channels", 3, 4])])
assert imported(model(rounded)).returncode == 0
checked = subprocess.run([masu, "check", program], capture_output=True, text=True)
assert checked.returncode == 0 and checked.stderr == "", checked
near(run({"x": x})["y"], np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-9).reshape(2, 3, 3, 2, 4, 2).max((3, 5)))
# positions of as many words as come: their number is open, and what Range makes of it has its type all the same
e, x = reals(9, 4), reals(3, 4)
places = graph([node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["k"]), node("Range", ["i", "k", "one"], ["p"]), node("Gather", ["e", "p"], ["g"]), node("Add", ["x", "g"], ["y"])],
               [info("x", ["words", 4])], [info("y", ["words", 4])], [("i", np.array(0)), ("one", np.array(1)), ("e", e)])
assert imported(model(places)).returncode == 0
near(run({"x": x})["y"], x + e[:3])
done = imported(model(same), "--dim", "n=5", "--dim", "other=3")
assert done.returncode == 1 and "other" in done.stderr, done
# what the file says of its tensors is not what its operators make, or take
disagree = "the network's operators and what it says of its tensors do not agree: "
refused(disagree + "expected `Tensor<f32, 3>`, found `Tensor<f32, 2>` in `let y", model(graph([node("Tanh", ["x"], ["y"])], [info("x", [2, 3])], [info("y", [2, 3, 1])])))
refused(disagree, model(graph([node("Tanh", ["x"], ["y"])], [info("x", [2, 3])], [info("y", [2, 3], INT64)])))
refused(disagree, model(graph([node("Relu", ["x"], ["z"]), node("Exp", ["z"], ["y"])], [info("x", [2])], [info("z", [2, 2]), info("y", [2, 2])])))
# where the program cannot be written, what was there stays as it was
weights = model(graph([node("Add", ["x", "w"], ["y"])], [info("x", [2])], [info("y", [2])], [("w", np.ones(2, np.float32))]))
assert imported(weights).returncode == 0
os.remove(program)
os.mkdir(program)
before = open(folder + "/net.safetensors", "rb").read()
done = imported(model(graph([node("Add", ["x", "w"], ["y"])], [info("x", [2])], [info("y", [2])], [("w", np.zeros(2, np.float32))])))
assert done.returncode == 1 and done.stderr == "masu import: cannot write %s: Is a directory\n" % program, done
assert open(folder + "/net.safetensors", "rb").read() == before
os.rmdir(program)
# eight at once to one place: each whole, the last one stays
with open(made, "wb") as file:
    file.write(weights)
runs = [subprocess.Popen([masu, "import", made, "-o", program]) for _ in range(8)]
assert [run.wait() for run in runs] == [0] * 8
near(run({"x": np.arange(2, dtype=np.float32)})["y"], np.array([1.0, 2.0]))
assert not [name for name in os.listdir(folder) if name.endswith(".tmp")], os.listdir(folder)
