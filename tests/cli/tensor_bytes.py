"""Reads and writes .safetensors files of float32, float64, int64 and bool."""
import json
import struct

import numpy as np

KINDS = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "BOOL": "?"}


def write_tensors(path, tensors):
    names = {np.dtype(v).str: k for k, v in KINDS.items()}
    table, body = {}, b""
    for name, array in tensors.items():
        table[name] = {"dtype": names[array.dtype.str], "shape": list(array.shape), "data_offsets": [len(body), len(body) + array.nbytes]}
        body += array.tobytes()
    head = json.dumps(table).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + body)


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    body = 8 + struct.unpack("<Q", data[:8])[0]
    table = json.loads(data[8:body])
    return {name: np.frombuffer(data[body + t["data_offsets"][0]:body + t["data_offsets"][1]], KINDS[t["dtype"]]).reshape(t["shape"])
            for name, t in table.items() if name != "__metadata__"}
