"""Runs `masu import` over the test data that ONNX's repository ships, and compares what the programs compute with its outputs.

    try_onnx.py MASU CHECKOUT [NAME…]     CHECKOUT: of github.com/onnx/onnx at a release up to v1.19 (later ones make the data)

NAME: a part of a test's name, or nothing for all; a folder of onnx/backend/test/data with a slash (`node/`). A table says for each operator
how many tests were right, refused (with the first reason) and wrong; status 1 when any is wrong. What is compared: shapes, and elements
within 1e-3 of each other relatively, 1e-7 absolutely, as ONNX's own runner does. Needs NumPy.
"""
import collections
import concurrent.futures
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
# numbers that are drawn: only what they may be is looked at
DRAWN = {"Bernoulli": lambda x: np.isin(x, (0, 1)).all(), "RandomUniformLike": lambda x: ((x >= 0) & (x <= 1)).all()}
# where the data is not what the standard says of the operator
WRONG_DATA = {"test_qlinearmatmul_2D_int8_float32": "wraps where the standard saturates", "test_qlinearmatmul_3D_int8_float32": "wraps where the standard saturates"}
# where the data is rounded in float32 and the sum is 0
ROUNDED = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}
DTYPES = {"F32": "f4", "F64": "f8", "I64": "i8", "BOOL": "?"}
NAMES = {"f4": "F32", "f8": "F64", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u1": "U8", "u2": "U16", "u4": "U32", "u8": "U64", "?": "BOOL", "f2": "F16"}


def fields(data):
    """The fields of a message of protobuf: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        out = shift = 0
        while True:
            byte = data[at]
            at += 1
            out |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return out

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 2:
            length = varint()
            yield key >> 3, data[at:at + length]
            at += length
        else:
            length = 8 if kind == 1 else 4
            yield key >> 3, data[at:at + length]
            at += length


def varints(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value - (1 << 64) if value >> 63 else value)
            value = shift = 0
    return out


def read_tensor(path):
    """The array of a TensorProto, or None for what NumPy has no type for, or no tensor."""
    dims, kind, raw, words, longs, floats, doubles = [], 0, None, [], [], b"", b""
    for number, value in fields(open(path, "rb").read()):
        if number == 1:
            dims += varints(value) if isinstance(value, bytes) else [value]
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 9:
            raw = value
        elif number == 4:
            floats += value
        elif number in (5, 7, 11):
            (words if number == 5 else longs).extend(varints(value) if isinstance(value, bytes) else [value])
        elif number == 10:
            doubles += value
    if kind not in TYPES:
        return None
    if raw is not None:
        return np.frombuffer(raw, TYPES[kind]).reshape(dims)
    if kind == 1:
        return np.frombuffer(floats, "f4").reshape(dims)
    if kind == 11:
        return np.frombuffer(doubles, "f8").reshape(dims)
    return np.array(longs or words).astype(TYPES[kind]).reshape(dims)


def ends_of(path):
    """Names of inputs and outputs; operators."""
    graph = next(value for number, value in fields(open(path, "rb").read()) if number == 7)
    ins, outs, kinds, constants = [], [], [], set()
    for number, value in fields(graph):
        if number in (11, 12):
            (ins if number == 11 else outs).append(next(v for n, v in fields(value) if n == 1).decode())
        elif number == 1:
            kinds.append(next(v for n, v in fields(value) if n == 4).decode())
        elif number == 5:
            constants |= {v.decode() for n, v in fields(value) if n == 8}
    return [i for i in ins if i not in constants], outs, kinds


def write_tensors(path, tensors):
    table, body = {}, b""
    for name, array in tensors.items():
        table[name] = {"dtype": NAMES[array.dtype.str[1:] if array.dtype.str[1:] != "b1" else "?"], "shape": list(array.shape),
                       "data_offsets": [len(body), len(body) + array.nbytes]}
        body += array.tobytes()
    head = json.dumps(table).encode()
    open(path, "wb").write(struct.pack("<Q", len(head)) + head + body)


def read_tensors(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    table = json.loads(data[8:8 + length])
    return {name: np.frombuffer(data[8 + length + t["data_offsets"][0]:8 + length + t["data_offsets"][1]], DTYPES[t["dtype"]]).reshape(t["shape"])
            for name, t in table.items() if name != "__metadata__"}


def names_in(program):
    """What the program calls its inputs, with the elements that it reads, and its outputs, in order."""
    text = open(program).read()
    call = text[text.rindex("forward("):]
    ins = [(part.split('"')[1], part[1:part.index(">")]) for part in call[:call.index(";")].split("file.read::")[1:]]
    outs = text[text.index("struct Outputs {"):]
    return ins, [line.split(":")[0].strip() for line in outs[:outs.index("}")].splitlines()[1:] if ":" in line]


def run(masu, test, folder):
    """'right', 'refused: why' or 'wrong: why'."""
    program = os.path.join(folder, "net.tl")
    done = subprocess.run([masu, "import", os.path.join(test, "model.onnx"), "-o", program], capture_output=True, text=True, timeout=60)
    if done.returncode:
        return ("refused: " if "error: " in done.stderr else "wrong: ") + done.stderr.strip().split("error: ")[-1]
    ins, outs = names_in(program)
    drawn = [DRAWN[kind] for kind in ends_of(test + "/model.onnx")[2] if kind in DRAWN]
    for case in sorted(glob.glob(test + "/test_data_set_*")):
        given = [read_tensor(f"{case}/input_{i}.pb") for i in range(len(ins))]
        wanted = [read_tensor(f"{case}/output_{i}.pb") for i in range(len(outs))]
        if any(g is None for g in given) or any(w is None for w in wanted):
            return "refused: the test's data has no form"
        # bfloat16 is in the data as its bits
        given = [(g.astype("u4") << 16).view("f4") if g.dtype == "u2" and kind == "f32" else g for g, (_, kind) in zip(given, ins)]
        write_tensors(folder + "/in.safetensors", dict(zip([name for name, _ in ins], given)))
        done = subprocess.run([masu, "run", program, folder + "/in.safetensors", folder + "/out.safetensors"], capture_output=True, text=True, timeout=120)
        if done.returncode:
            return "wrong: " + done.stderr.strip()[:300]
        got = read_tensors(folder + "/out.safetensors")
        for name, want in zip(outs, wanted):
            if got[name].shape != want.shape:
                return f"wrong: {name} has shape {got[name].shape}, not {want.shape}"
            if drawn:
                if not drawn[0](got[name]):
                    return f"wrong: {name} is {got[name].ravel()[:6]}"
            elif not np.allclose(got[name].astype("f8"), want.astype("f8"), rtol=1e-3, atol=ROUNDED.get(os.path.basename(test), 1e-7), equal_nan=True):
                return f"wrong: {name} is {got[name].ravel()[:6]}, not {want.ravel()[:6]}"
    return "right"


def judge(masu, test):
    if os.path.basename(test) in WRONG_DATA:
        return "refused: its data " + WRONG_DATA[os.path.basename(test)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run(masu, test, folder)
        except Exception as error:  # what goes wrong in one test is its answer
            return f"wrong: {type(error).__name__}: {error}"


def main():
    masu, checkout, *wanted = sys.argv[1:]
    tests = sorted(os.path.dirname(p) for p in glob.glob(checkout + "/onnx/backend/test/data/*/*/model.onnx"))
    tests = [t for t in tests if "/light/" not in t and (not wanted or any(w in t for w in wanted))]
    rows = collections.defaultdict(lambda: [0, 0, 0, ""])
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for test, answer in zip(tests, pool.map(lambda t: judge(masu, t), tests)):
            row = rows["+".join(dict.fromkeys(ends_of(test + "/model.onnx")[2]))[:60]]
            kind = ["right", "refused", "wrong"].index(answer.split(":")[0])
            row[kind] += 1
            if kind == 1 and not row[3]:
                row[3] = answer[9:]
            if kind == 2:
                print(f"{os.path.basename(test)}: {answer}", file=sys.stderr, flush=True)
                wrong.append(f"{os.path.basename(test)}: {answer[7:]}")
    print(f"{'operator':32} {'right':>6} {'refused':>8} {'wrong':>6}")
    for name in sorted(rows):
        print(f"{name:32} {rows[name][0]:6} {rows[name][1]:8} {rows[name][2]:6}  {rows[name][3][:110]}")
    print(f"{'all':32} {sum(r[0] for r in rows.values()):6} {sum(r[1] for r in rows.values()):8} {len(wrong):6}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


sys.exit(main())
