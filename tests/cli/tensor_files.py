"""Exchanges files of tensors with masu: NumPy and PyTorch write what masu reads and read what masu writes.

    tensor_files.py write FOLDER     writes files and what they hold as lines of text
    tensor_files.py check FOLDER     reads the files that masu wrote from them

The format safetensors is written and read here in plain Python, so that its package need not be there.
"""
import json
import struct
import sys

import numpy as np

KINDS = {"F32": np.float32, "F64": np.float64, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
         "I8": np.int8, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64, "BOOL": np.bool_}
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}


def arrays():
    """Every element type, ranks 0 to 4, nothing at all, values at the ends of their ranges."""
    out = {}
    for name, kind in KINDS.items():
        if name[0] == "F":
            ends = np.finfo(kind)
            values = [0.0, -0.0, 1.5, -2.25, float(ends.max), float(ends.min), float(ends.tiny), float(ends.smallest_subnormal),
                      np.inf, -np.inf, np.nan, 1 / 3]
        elif name == "BOOL":
            values = [True, False] * 6
        else:
            ends = np.iinfo(kind)
            top = min(int(ends.max), 2**63 - 1)
            values = [0, 1, int(ends.min), top, top - 1, 7, 8, 9, 10, 11, 12, 13]
        out[name.lower()] = np.array(values, dtype=kind).reshape(3, 4)
    out["layers.0.weight"] = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
    out["scalar"] = np.array(2.5)
    out["empty"] = np.zeros((0, 3), dtype=np.float32)
    out["größe \"1\""] = np.array([1, 2], dtype=np.int64)
    return out


def write_safetensors(path, tensors, notes):
    header, parts, at = {"__metadata__": notes}, [], 0
    for name, a in tensors.items():
        parts.append(a.tobytes())
        header[name] = {"dtype": NAMES[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read_safetensors(path):
    with open(path, "rb") as f:
        whole = f.read()
    (length,) = struct.unpack("<Q", whole[:8])
    header, data = json.loads(whole[8:8 + length].decode()), whole[8 + length:]
    assert whole[8:9] == b"{" and length % 8 == 0, "the header is not as the format wants it"
    notes, out, ranges = header.pop("__metadata__", {}), {}, []
    for name, about in header.items():
        begin, end = about["data_offsets"]
        kind = np.dtype(KINDS[about["dtype"]])
        assert begin % kind.itemsize == 0, f"{name} is not aligned"
        ranges.append((begin, end))
        out[name] = np.frombuffer(data[begin:end], dtype=kind).reshape(about["shape"])
    ranges.sort()
    assert all(a[1] == b[0] for a, b in zip(ranges, ranges[1:])) and (not ranges or ranges[-1][1] == len(data))
    return out, notes


def kept(a):
    """What masu makes of it: four kinds of elements."""
    if a.dtype == np.bool_ or a.dtype in (np.float32, np.float64, np.int64):
        return a
    return a.astype(np.float32 if a.dtype == np.float16 else np.int64)


def same(name, a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape, f"{name}: {a.dtype}{a.shape} is not {b.dtype}{b.shape}"
    assert a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=True), f"{name}: {a} is not {b}"


def torch_net(torch):
    """A linear layer and a normalisation with numbers that are the same each time."""
    net = torch.nn.Module()
    net.fc, net.norm = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)
    with torch.no_grad():
        for i, value in enumerate(list(net.state_dict().values())):
            value.copy_((torch.arange(value.numel()).reshape(value.shape) + i).to(value.dtype))
    return net


def write(folder):
    all_of_them = arrays()
    write_safetensors(f"{folder}/from_python.safetensors", all_of_them, {"format": "pt", "note": "ü\n"})
    np.savez(f"{folder}/stored.npz", **all_of_them)
    np.savez_compressed(f"{folder}/deflated.npz", **all_of_them)
    for name in ("f32", "f64", "f16", "i64", "i32", "i16", "i8", "u8", "u16", "u32", "u64", "bool"):
        a = all_of_them[name]
        np.save(f"{folder}/{name}.npy", a)
        np.save(f"{folder}/{name}_columns.npy", np.asfortranarray(a))
        np.save(f"{folder}/{name}_other.npy", a.astype(a.dtype.newbyteorder(">")))
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(f"{folder}/version{version[0]}.npy", "wb") as f:
            np.lib.format.write_array(f, all_of_them["f64"], version=version)
    try:
        import torch
    except ImportError:
        return
    layer = torch_net(torch)
    state = {name: t.numpy() for name, t in layer.state_dict().items()}
    write_safetensors(f"{folder}/torch.safetensors", state, {})


def check(folder):
    all_of_them = arrays()
    for source in ("from_python.safetensors", "stored.npz", "deflated.npz"):
        for end in ("safetensors", "npz"):
            path = f"{folder}/{source}.{end}"
            got, notes = read_safetensors(path) if end == "safetensors" else (dict(np.load(path)), {})
            assert sorted(got) == sorted(all_of_them), f"{path}: {sorted(got)}"
            for name, a in all_of_them.items():
                same(f"{path}: {name}", kept(a), got[name])
    for name in ("f32", "f64", "f16", "i64", "i32", "i16", "i8", "u8", "u16", "u32", "u64", "bool"):
        for form in ("", "_columns", "_other"):
            same(name + form, kept(all_of_them[name]), np.load(f"{folder}/{name}{form}.npy.npy"))
    for version in (1, 2, 3):
        same(f"version {version}", all_of_them["f64"], np.load(f"{folder}/version{version}.npy.npy"))
    try:
        import torch
    except ImportError:
        print("PyTorch is not there")
        return
    got, _ = read_safetensors(f"{folder}/from_masu.safetensors")
    net = torch_net(torch)
    net.load_state_dict({name: torch.from_numpy(a.copy()) for name, a in got.items()}, strict=True)
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(0.5)
    before = torch_net(torch).state_dict()
    for name, value in net.state_dict().items():
        same(name, before[name], value)
    print("PyTorch reads what masu wrote")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
