"""DLPack as C sees it, for tests that play the other side."""

import ctypes as c

LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class Type(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device", Device),
        ("ndim", c.c_int32),
        ("dtype", Type),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


Deleter = c.CFUNCTYPE(None, c.c_void_p)  # called without the interpreter's lock


class Legacy(c.Structure):
    _fields_ = [("tensor", Tensor), ("context", c.c_void_p), ("deleter", Deleter)]


class Versioned(c.Structure):
    _fields_ = [
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("context", c.c_void_p),
        ("deleter", Deleter),
        ("flags", c.c_uint64),
        ("tensor", Tensor),
    ]


api = c.pythonapi
api.PyCapsule_GetPointer.restype = c.c_void_p
api.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]
api.PyCapsule_IsValid.argtypes = [c.py_object, c.c_char_p]
api.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]
api.PyCapsule_New.restype = c.py_object
api.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]


def is_named(capsule, name):
    return bool(api.PyCapsule_IsValid(capsule, name))


def pointer_in(capsule, name):
    return api.PyCapsule_GetPointer(capsule, name)


_kept_names = {}


def take(capsule):
    """The managed tensor in a capsule, as a consumer takes it: its address, and what lies there."""
    name, kind = (VERSIONED, Versioned) if is_named(capsule, VERSIONED) else (LEGACY, Legacy)
    address = pointer_in(capsule, name)
    used = _kept_names.setdefault(name, c.create_string_buffer(b"used_" + name))
    api.PyCapsule_SetName(capsule, c.cast(used, c.c_char_p))
    return address, kind.from_address(address)


class Producer:
    """An array of another library: float32 numbers unless said otherwise, and a count of its deleter's calls."""

    def __init__(self, kind=Versioned, shape=(3,), strides=None, dtype=(2, 32, 1), device=(1, 0), flags=0, version=(1, 0),
                 byte_offset=0, data=None, with_deleter=True):
        self.memory = c.create_string_buffer(4096)
        aligned = c.addressof(self.memory) + -c.addressof(self.memory) % 64
        self.address = aligned if data is None else data
        self.ended = 0
        self.shape = (c.c_int64 * max(1, len(shape)))(*shape)
        self.strides = None if strides is None else (c.c_int64 * max(1, len(strides)))(*strides)
        self.deleter = Deleter(self.end) if with_deleter else Deleter()
        tensor = Tensor(self.address, Device(*device), len(shape), Type(*dtype), self.shape, self.strides, byte_offset)
        if kind is Legacy:
            self.managed = Legacy(tensor, None, self.deleter)
        else:
            self.managed = Versioned(version[0], version[1], None, self.deleter, flags, tensor)
        self.name = LEGACY if kind is Legacy else VERSIONED
        self.device = device

    handed_out = set()  # what a consumer may still look at

    def end(self, _):
        self.ended += 1
        self.handed_out.discard(self)

    def capsule(self):
        self.handed_out.add(self)
        return api.PyCapsule_New(c.addressof(self.managed), self.name, None)

    def floats(self):
        return (c.c_float * 256).from_address(self.address)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **words):
        self.words = words
        return self.capsule()
