"""The bytes of .onnx files, after the public description of the format: fields, tensors, nodes, graphs."""
import struct

import numpy as np

FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT16 = 1, 2, 3, 6, 7, 9, 10


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, array):
    kind = {"float32": FLOAT, "int64": INT64, "int32": INT32, "uint8": UINT8, "int8": INT8, "bool": BOOL, "float16": FLOAT16}[str(array.dtype)]
    return b"".join(field(1, d) for d in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes())


def info(name, shape, kind=FLOAT):
    dims = b"" if shape is None else field(2, b"".join(field(1, b"" if d is None else field(2, d) if isinstance(d, str) else field(1, d)) for d in shape))
    return field(1, name) + field(2, field(1, field(1, kind) + dims))


def attribute(name, value):
    head = field(1, name)
    if isinstance(value, (bool, int)):
        return head + field(3, int(value)) + field(20, 2)
    if isinstance(value, float):
        return head + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return head + field(4, value) + field(20, 3)
    if isinstance(value, np.ndarray):
        return head + field(5, tensor("", value)) + field(20, 4)
    if isinstance(value, bytes):
        return head + field(6, value) + field(20, 5)
    if value and isinstance(value[0], float):
        return head + b"".join(field(7, v) for v in value) + field(20, 6)
    return head + b"".join(field(8, v) for v in value) + field(20, 7)


def node(kind, inputs, outputs, domain="", name="", **attributes):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, kind)
    out += b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
    return out + (field(3, name) if name else b"") + (field(7, domain) if domain else b"")


def graph(nodes, inputs, outputs, constants=(), infos=()):
    """inputs and outputs: what info() makes; constants: (name, array)."""
    return (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, tensor(*c)) for c in constants)
            + b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs) + b"".join(field(13, i) for i in infos))


def model(made, opset=17):
    return field(1, 8) + field(8, field(1, "") + field(2, opset)) + field(7, made)
