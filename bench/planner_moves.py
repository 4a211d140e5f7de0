#!/usr/bin/env python3
"""Values that move between two memories, beside one memory for life and beside the greedy way: a Markdown table.

    bench/planner_moves.py [MASU] [DATA]      MASU: the command (build/release/masu); DATA: $MASU_DATA

The fast memory has 25, 50 and 75 % of the least arena. First the traffic of the slow one, by operators and by moves,
also in place and in another order (both factors are against one memory for life, nothing in place). Then what operators alone
read and write there, weights that begin in it included, when moves are free and the channel carries a quarter of the fast memory beside each operator.
--family: networks with MobileNet's blocks and shortcuts alone. --curve: MobileNet v1 over the whole range of fast memories.
A transformer (three layers that encode, three that decode and look at what was encoded) and MobileNet v1 are written here as .onnx.
"""
import json
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "tests", "cli"))
import numpy as np  # noqa: E402
from onnx_write import graph, info, model, node  # noqa: E402

LAYERS, WORDS, WIDTH, HEADS, INNER = 3, 128, 256, 4, 1024


class Net:
    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, array):
        self.count += 1
        self.constants.append(("w%d" % self.count, array))
        return "w%d" % self.count

    def add(self, kind, *inputs, **attributes):
        self.count += 1
        self.nodes.append(node(kind, inputs, ["t%d" % self.count], **attributes))
        return "t%d" % self.count

    def line(self, x, columns, rows=WIDTH):
        weights = self.constant(np.zeros((rows, columns), np.float32))
        return self.add("Add", self.add("MatMul", x, weights), self.constant(np.zeros(columns, np.float32)))

    def heads(self, x, order):
        shape = self.constant(np.array([WORDS, HEADS, WIDTH // HEADS], np.int64))
        return self.add("Transpose", self.add("Reshape", x, shape), perm=order)

    def attention(self, x, y):
        q, k, v = self.line(x, WIDTH), self.line(y, WIDTH), self.line(y, WIDTH)
        weights = self.add("Softmax", self.add("MatMul", self.heads(q, [1, 0, 2]), self.heads(k, [1, 2, 0])))
        mixed = self.add("Transpose", self.add("MatMul", weights, self.heads(v, [1, 0, 2])), perm=[1, 0, 2])
        return self.line(self.add("Reshape", mixed, self.constant(np.array([WORDS, WIDTH], np.int64))), WIDTH)

    def inner(self, x):
        return self.line(self.add("Relu", self.line(x, INNER)), WIDTH, INNER)

    def norm(self, x):
        return self.add("LayerNormalization", x, self.constant(np.zeros(WIDTH, np.float32)))


def transformer():
    n = Net()
    x, y = "x", "y"
    for _ in range(LAYERS):
        z = n.norm(x)
        x = n.add("Add", x, n.attention(z, z))
        x = n.add("Add", x, n.inner(n.norm(x)))
    for _ in range(LAYERS):
        z = n.norm(y)
        y = n.add("Add", y, n.attention(z, z))
        y = n.add("Add", y, n.attention(n.norm(y), x))
        y = n.add("Add", y, n.inner(n.norm(y)))
    return model(graph(n.nodes, [info("x", (WORDS, WIDTH)), info("y", (WORDS, WIDTH))], [info(y, None, 0)], n.constants))


def mobilenet():
    n = Net()
    x, depth = "x", 32
    zeros = lambda *shape: n.constant(np.zeros(shape, np.float32))  # noqa: E731
    x = n.add("Conv", x, zeros(32, 3, 3, 3), zeros(32), strides=[2, 2], pads=[1, 1, 1, 1])
    for wide, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + 5 * [(512, 1)] + [(1024, 2), (1024, 1)]:
        x = n.add("Conv", x, zeros(depth, 1, 3, 3), zeros(depth), group=depth, strides=[stride, stride], pads=[1, 1, 1, 1])
        x = n.add("Conv", x, zeros(wide, depth, 1, 1), zeros(wide))
        depth = wide
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    y = n.add("Gemm", x, zeros(1024, 1000), zeros(1000))
    return model(graph(n.nodes, [info("x", (1, 3, 224, 224))], [info(y, None, 0)], n.constants))


def run(masu, *options):
    done = subprocess.run([masu, "plan", *options, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def arena(masu, path, *options):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([masu, "plan", path, *options, "--quiet", "--output", file.name], check=True)
        return json.load(open(file.name))["height"]


def mark(found):
    return "{:,}{}".format(found["cost"], "" if found["cost"] == found["at_least"] else " (at least {:,})".format(found["at_least"]))


def factor(before, now):
    return "%.3f" % (before / now) if now else "nothing is left"


def main():
    masu = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "build", "release", "masu")
    data = os.path.join(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("MASU_DATA", ""), "models")
    if "--family" in sys.argv:
        return family(masu, data)
    folder = tempfile.TemporaryDirectory()
    written = []
    for name, made in (("transformer, 3 + 3 layers", transformer()), ("MobileNet v1", mobilenet())):
        path = os.path.join(folder.name, name.split(",")[0].replace(" ", "_") + ".onnx")
        open(path, "wb").write(made)
        written.append((name, [path]))
    if "--curve" in sys.argv:
        return curve(masu, written[1][1])
    networks = list(written)
    mobile = os.path.join(data, "tflm_mobilenet_v2_quantized_1x3x224x224")
    if os.path.exists(mobile + ".csv"):
        networks.append(("MobileNet v2, int8", [mobile + ".csv", "--ops", mobile + ".ops.csv"]))
    for name in ("shufflenet", "resnet50", "densenet121"):
        path = os.path.join(data, "source", "light_%s.onnx" % name)
        if os.path.exists(path):
            networks.append((name, [path]))
    print("| network | fast memory | one memory for life | greedy | with moves | ÷ | in place, reordered: for life | with moves | ÷ |\n" + 9 * "|---" + "|")
    for name, options in networks:
        for part, fast in parts(masu, options):
            asked = [*options, "--memory", "fast=%d,slow" % fast, "--moves", "--time", "20"]
            found, both = run(masu, *asked), run(masu, *asked, "--in-place", "--reorder")
            life = found["for_life"]["cost"]
            print("| %s | %s (%d %%) | %s | %s | %s | %s | %s | %s | %s |" % (
                name, "{:,}".format(fast), part, mark(found["for_life"]), "{:,}".format(found["greedy"]), mark(found),
                factor(life, found["cost"]), mark(both["for_life"]), mark(both), factor(life, both["cost"])), flush=True)
    print("\n| operators alone, with weights | fast memory | one memory for life | greedy | with moves | ÷ |\n|---|---|---|---|---|---|")
    for name, options in written:
        for part, fast in parts(masu, options):
            found = run(masu, *options, "--memory", "fast=%d,slow" % fast, "--moves", "--constants", "slow", "--move-cost", "0", "--channel", str(fast // 4),
                        "--time", "20")
            print("| %s | %s (%d %%) | %s | %s | %s | %.2f |" % (name, "{:,}".format(fast), part, mark(found["for_life"]), "{:,}".format(found["greedy"]),
                                                                mark(found), found["for_life"]["cost"] / max(1, found["cost"])), flush=True)


def parts(masu, options):
    whole = arena(masu, *options)
    return [(part, whole * part // 100 // 64 * 64) for part in (25, 50, 75)]


FAMILY = (("MobileNet v2, int8", "tflm_mobilenet_v2_quantized_1x3x224x224"), ("selfie segmentation (v3 with a decoder)", "selfie_segmentation_landscape"),
          ("text direction, PP-OCR (v3 small)", "ch_ppocr_mobile_v2.0_cls_infer"), ("hand landmarks (v2 blocks)", "hand_landmark_full"))


def family(masu, data):
    """Of fast memories of 2, 4, … 98 % of the arena those where moves help most: networks of MobileNet's family with shortcuts."""
    print("| network | arena | fast memories where moves help | most at | one memory for life | with moves | ÷ |\n" + 7 * "|---" + "|")
    for name, file in FAMILY:
        options = [os.path.join(data, file + ".csv"), "--ops", os.path.join(data, file + ".ops.csv")]
        whole, found = arena(masu, *options), []
        for part in range(2, 100, 2):
            done = subprocess.run([masu, "plan", *options, "--memory", "fast=%d,slow" % (whole * part // 100), "--moves", "--time", "2", "--json"],
                                  capture_output=True, text=True)
            plan = json.loads(done.stdout)
            if plan["cost"] < plan["for_life"]["cost"]:
                found.append((plan["for_life"]["cost"] / plan["cost"] if plan["cost"] else 1e9, part, plan))
        most, part, plan = max(found, key=lambda f: (f[0], -f[1]))
        print("| %s | %s | %d of 49 | %d %% | %s | %s | %s |" % (name, "{:,}".format(whole), len(found), part, mark(plan["for_life"]), mark(plan),
                                                              factor(plan["for_life"]["cost"], plan["cost"])), flush=True)


def curve(masu, options):
    whole = arena(masu, *options)
    print("| fast memory, of the arena | one memory for life | with moves | ÷ |\n|---|---|---|---|")
    for eighths in range(1, 9):
        fast = whole * eighths // 8 // 64 * 64
        found = run(masu, *options, "--memory", "fast=%d,slow" % fast, "--moves", "--constants", "slow", "--move-cost", "0", "--channel", str(fast // 4),
                    "--time", "20")
        life = found["for_life"]["cost"]
        print("| %g %% | %s | %s | %.2f |" % (12.5 * eighths, "{:,}".format(life), "{:,}".format(found["cost"]), life / max(1, found["cost"])), flush=True)


if __name__ == "__main__":
    main()
