"""masu.Tensor: what it says of itself, buffers in and out, copies, arguments that are refused."""

import array
import ctypes
import gc
import sys

import numpy as np
import pytest

import masu

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]


@pytest.mark.parametrize("name", NAMES)
def test_each_type_goes_to_numpy_and_back(name, nothing_stays):
    there = (np.arange(6) - 2).astype(name).reshape(2, 3)
    tensor = masu.asarray(there)
    assert (tensor.dtype, tensor.shape, tensor.strides) == (name, there.shape, there.strides)
    assert (tensor.size, tensor.ndim, tensor.nbytes, tensor.itemsize) == (6, 2, there.nbytes, there.itemsize)
    assert tensor.data_ptr == there.ctypes.data
    back = np.asarray(tensor)
    assert back.dtype == there.dtype and back.ctypes.data == there.ctypes.data
    assert tensor.tolist() == there.tolist()
    assert tensor.numpy().ctypes.data == there.ctypes.data


def test_half_floats_have_their_values():
    for bits in [0, 0x8000, 1, 0x3FF, 0x400, 0x3C00, 0xC000, 0x7BFF, 0x7C00, 0xFC00]:
        half = np.array([bits], dtype="uint16").view("float16")
        assert masu.asarray(half).item() == float(half[0])
    assert np.isnan(masu.asarray(np.array([np.nan], dtype="float16")).item())


def test_other_exporters_of_buffers():
    assert masu.asarray(b"abc").tolist() == [97, 98, 99] and masu.asarray(b"abc").readonly
    assert masu.asarray(bytearray(2)).dtype == "uint8" and not masu.asarray(bytearray(2)).readonly
    assert masu.asarray(array.array("l", [1, -2])).tolist() == [1, -2]
    assert masu.asarray(array.array("q", [7])).dtype == "int64"
    assert masu.asarray(memoryview(np.eye(2))[::-1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert masu.asarray(masu.asarray(b"x")).tolist() == [120]


def test_strides_of_every_kind():
    base = np.arange(24.0).reshape(2, 3, 4)
    for there in [base.T, base[::-1], base[:, ::2, 1::2], base[..., None], np.broadcast_to(base[0], (5, 3, 4)), base[:0],
                  np.array(4.5), base[1:1, :, ::-1], base.swapaxes(0, 1)]:
        tensor = masu.asarray(there)
        assert tensor.tolist() == there.tolist()
        assert tensor.shape == there.shape
        back = np.asarray(tensor)
        assert np.array_equal(back, there)
        assert tensor.readonly == (not there.flags.writeable)
        if there.size:
            assert [n for n, m in zip(back.strides, back.shape) if m > 1] == [
                n for n, m in zip(there.strides, there.shape) if m > 1]
            assert back.ctypes.data == there.ctypes.data
        copy = tensor.copy()
        assert copy.tolist() == there.tolist() and not copy.readonly
        assert np.asarray(copy).flags.c_contiguous


def test_what_is_not_aligned_is_copied_or_refused(nothing_stays):
    packed = np.zeros(3, dtype=[("tag", "u1"), ("x", "<f8")])
    packed["x"] = [1, 2, 3]
    field = packed["x"]
    assert masu.asarray(field).tolist() == [1, 2, 3]
    assert masu.asarray(field).data_ptr % 8 == 0
    with pytest.raises(BufferError, match="asarray: x: its strides"):
        masu.asarray(field, copy=False)
    shifted = np.frombuffer(bytearray(33), dtype="f8", count=4, offset=1)
    assert masu.asarray(shifted).data_ptr % 8 == 0
    with pytest.raises(BufferError, match="asarray: x: its float64 elements do not lie at multiples of 8"):
        masu.asarray(shifted, copy=False)


def test_copies_are_made_when_asked_for(nothing_stays):
    there = np.arange(3.0)
    copy = masu.asarray(there, copy=True)
    there[0] = 9
    assert copy.tolist() == [0, 1, 2] and copy.data_ptr % 64 == 0
    assert masu.asarray(there, copy=False).data_ptr == there.ctypes.data


def test_writing_is_seen_on_both_sides_and_never_done_to_what_is_read_only():
    there = np.zeros(3)
    tensor = masu.asarray(there)
    np.asarray(tensor)[1] = 5
    assert there[1] == 5
    there.flags.writeable = False
    closed = masu.asarray(there)
    assert closed.readonly and "read-only" in repr(closed)
    assert not np.asarray(closed).flags.writeable
    with pytest.raises(TypeError, match="not writable|read-only"):
        written(closed)


def written(tensor):
    return (ctypes.c_char * tensor.nbytes).from_buffer(tensor)


def test_buffers_are_given_as_asked_for():
    rows, columns = masu.zeros((2, 3)), masu.asarray(np.zeros((2, 3), order="F"))
    assert bytes(memoryview(rows)) == bytes(24)
    assert memoryview(rows).format == "f" and memoryview(columns).f_contiguous
    assert written(rows)[:4] == bytes(4)
    apart = masu.asarray(np.zeros((4, 6), dtype="u1")[:, ::2])
    with pytest.raises(TypeError, match="contiguous"):
        written(apart)
    view, get = (ctypes.c_char * 80)(), ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.c_char_p, ctypes.c_int]
    for flags, text in [(0, "strides"), (0x38, "rows"), (0x58, "columns"), (0x98, "one behind the other")]:
        with pytest.raises(BufferError, match=text):
            get(apart, view, flags)
    closed = masu.asarray(b"abc")
    with pytest.raises(BufferError, match="read-only"):
        get(closed, view, 1)


def test_new_tensors(nothing_stays):
    assert masu.zeros((2, 2)).tolist() == [[0, 0], [0, 0]]
    assert masu.zeros(3, "int8").tolist() == [0, 0, 0]
    assert masu.zeros((), dtype="bool").item() is False
    assert masu.empty([np.int64(2), 3], "complex128").nbytes == 96
    assert masu.empty((0, 1 << 40)).size == 0
    assert masu.empty(100).data_ptr % 64 == 0


def test_lengths_and_items():
    assert len(masu.zeros((4, 2))) == 4
    with pytest.raises(TypeError, match="no length"):
        len(masu.zeros(()))
    with pytest.raises(ValueError, match="4 elements"):
        masu.zeros(4).item()


REFUSED = [
    (lambda: masu.asarray(3), TypeError, "asarray: x: <class 'int'> is not an array"),
    (lambda: masu.asarray(), TypeError, "asarray.. needs the argument 'x'"),
    (lambda: masu.asarray(b"", b""), TypeError, "takes 1 argument by place, not 2"),
    (lambda: masu.asarray(b"", kopie=1), TypeError, "has no argument 'kopie'"),
    (lambda: masu.asarray(b"", copy=1), TypeError, "asarray: copy is True, False or None, not 1"),
    (lambda: masu.asarray(b"", x=b""), TypeError, "was given 'x' twice"),
    (lambda: masu.asarray(np.zeros(2, ">f4")), BufferError, "order of another machine"),
    (lambda: masu.asarray(np.zeros(2, "S3")), BufferError, "format '3s'"),
    (lambda: masu.asarray(np.zeros(2, "O")), BufferError, "format 'O'"),
    (lambda: masu.asarray(np.zeros(2, np.longdouble)), BufferError, "format 'g'"),
    (lambda: masu.asarray(np.zeros(2, [("a", "f4"), ("b", "f4")])), BufferError, "have no type here"),
    (lambda: masu.asarray(np.zeros(2, "M8[s]")), (BufferError, ValueError), ""),
    (lambda: masu.empty((2, -1)), ValueError, "empty: shape: dimension 1"),
    (lambda: masu.empty(-1), ValueError, "empty: shape: dimension 0"),
    (lambda: masu.empty((1 << 40, 1 << 40)), OverflowError, "empty: shape"),
    (lambda: masu.empty(1 << 62, "float64"), OverflowError, "empty: shape"),
    (lambda: masu.empty(1 << 80), OverflowError, ""),
    (lambda: masu.empty((1,) * 65), TypeError, "at most 64"),
    (lambda: masu.zeros("abc"), TypeError, "zeros: shape"),
    (lambda: masu.zeros(2.5), TypeError, "zeros: shape"),
    (lambda: masu.zeros(2, "f4"), TypeError, "zeros: dtype is a name such as 'float32', not 'f4'"),
    (lambda: masu.zeros(2, np.float32), TypeError, "zeros: dtype"),
    (lambda: masu.zeros(1 << 50), MemoryError, ""),
    (lambda: masu.Tensor(), TypeError, ""),
]


@pytest.mark.parametrize("call, kind, text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused_says_which_argument(call, kind, text, nothing_stays):
    with pytest.raises(kind, match=text):
        call()


def test_references_come_back(nothing_stays):
    there = np.zeros(3)
    before = sys.getrefcount(there)
    for _ in range(100):
        tensor = masu.asarray(there)
        np.asarray(tensor), memoryview(tensor), tensor.shape, tensor.tolist(), repr(tensor)
        for wrong in (lambda: masu.asarray(there, copy=2), lambda: masu.zeros(there)):
            with pytest.raises(TypeError):
                wrong()
    del tensor
    gc.collect()
    assert sys.getrefcount(there) == before


def test_cycles_through_an_exporter_are_collected():
    class Holder(np.ndarray):
        ended = 0

        def __del__(self):
            Holder.ended += 1

    for _ in range(3):
        holder = np.zeros(4).view(Holder)
        holder.tensor = masu.asarray(holder)
        holder.window = memoryview(holder.tensor)
    del holder
    gc.collect()
    assert Holder.ended == 3
