"""DLPack: capsules both ways, flags, versions, devices, and lives that end in any order and in any thread."""

import ctypes as c
import gc
import sys
import threading

import numpy as np
import pytest

import masu
from capsules import (LEGACY, VERSIONED, Deleter, Device, Legacy, Producer, Tensor, Type, Versioned, api, is_named,
                      pointer_in, take)


def test_numpy_without_a_copy(nothing_stays):
    there = np.arange(12.0).reshape(3, 4)[:, ::2]
    tensor = masu.from_dlpack(there)
    assert tensor.data_ptr == there.ctypes.data and tensor.strides == there.strides
    back = np.from_dlpack(tensor)
    assert back.ctypes.data == there.ctypes.data and back.strides == there.strides
    del tensor
    assert back.tolist() == there.tolist()


def test_torch_without_a_copy(nothing_stays):
    torch = pytest.importorskip("torch")
    for there in [torch.arange(6.0).reshape(2, 3).t(), torch.zeros(2, dtype=torch.bfloat16), torch.tensor(3),
                  torch.ones(2, 3, dtype=torch.int8)[:, 1:], torch.arange(8.0)[3:]]:
        for tensor in (masu.from_dlpack(there), masu.asarray(there)):
            assert (tensor.shape, tensor.tolist()) == (tuple(there.shape), there.tolist())
            back = torch.from_dlpack(tensor)
            assert back.dtype == there.dtype and (back.data_ptr() == there.data_ptr() or not there.numel())
            assert torch.equal(back, there)
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(masu.asarray(torch.zeros(2, dtype=torch.bfloat16)))
    with pytest.raises(Exception):
        masu.from_dlpack(torch.zeros(3, requires_grad=True))


def test_empty_torch_tensors():
    """Without nothing_stays: PyTorch 1.13 never calls the deleter of a tensor whose data is NULL."""
    torch = pytest.importorskip("torch")
    there = torch.zeros(0, 3)
    back = torch.from_dlpack(masu.from_dlpack(there))
    assert back.shape == there.shape and masu.asarray(there).tolist() == []


def test_which_capsule_is_given():
    tensor = masu.zeros((2, 3))
    assert is_named(tensor.__dlpack__(), LEGACY)
    assert is_named(tensor.__dlpack__(max_version=None), LEGACY)
    assert is_named(tensor.__dlpack__(max_version=(0, 8)), LEGACY)
    for version in [(1, 0), (1, 3), (2, 0)]:
        assert is_named(tensor.__dlpack__(max_version=version), VERSIONED)
    capsule = tensor.__dlpack__(max_version=(1, 0))
    managed = Versioned.from_address(pointer_in(capsule, VERSIONED))
    assert (managed.major, managed.flags, managed.tensor.ndim) == (1, 0, 2)
    assert managed.tensor.strides[:2] == [3, 1] and managed.tensor.shape[:2] == [2, 3]
    assert managed.tensor.data == tensor.data_ptr and managed.tensor.byte_offset == 0
    dtype, device = managed.tensor.dtype, managed.tensor.device
    assert (dtype.code, dtype.bits, dtype.lanes, device.type, device.id) == (2, 32, 1, 1, 0)
    assert tensor.__dlpack_device__() == (1, 0)


def test_read_only_is_said_or_refused(nothing_stays):
    closed = masu.asarray(b"abcd")
    with pytest.raises(BufferError, match="read-only"):
        closed.__dlpack__()
    capsule = closed.__dlpack__(max_version=(1, 0))
    assert Versioned.from_address(pointer_in(capsule, VERSIONED)).flags == 1
    assert masu.from_dlpack(capsule).readonly
    copied = closed.__dlpack__(max_version=(1, 0), copy=True)
    assert Versioned.from_address(pointer_in(copied, VERSIONED)).flags == 2
    assert masu.from_dlpack(closed.__dlpack__(copy=True)).tolist() == [97, 98, 99, 100]


def test_copies():
    there = np.arange(6.0).reshape(2, 3).T
    tensor = masu.asarray(there)
    copied = masu.from_dlpack(tensor.__dlpack__(copy=True))
    assert copied.data_ptr != tensor.data_ptr and copied.tolist() == tensor.tolist()
    assert masu.from_dlpack(tensor.__dlpack__(copy=False)).data_ptr == tensor.data_ptr
    assert masu.from_dlpack(there, copy=True).data_ptr != there.ctypes.data
    assert masu.from_dlpack(tensor, copy=False) is tensor


def test_words_of_dlpack_are_checked():
    tensor = masu.zeros(2)
    assert tensor.__dlpack__(stream=None, dl_device=(1, 0), copy=None)
    for words, kind, text in [
        ({"stream": 1}, BufferError, "stream"),
        ({"dl_device": (2, 0)}, BufferError, "dl_device"),
        ({"dl_device": 1}, TypeError, "dl_device"),
        ({"max_version": 1}, TypeError, "max_version"),
        ({"max_version": (1, 2, 3)}, TypeError, "max_version"),
        ({"max_version": ("1", 0)}, TypeError, "max_version"),
        ({"copy": 1}, TypeError, "copy"),
        ({"other": 1}, TypeError, "other"),
    ]:
        with pytest.raises(kind, match=text):
            tensor.__dlpack__(**words)
    with pytest.raises(TypeError):
        tensor.__dlpack__(None)


# ---- what others hand in ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Legacy, Versioned])
def test_a_foreign_tensor_ends_once(kind, nothing_stays):
    producer = Producer(kind, shape=(2, 2), strides=(1, 2))
    producer.floats()[:4] = [1, 2, 3, 4]
    tensor = masu.from_dlpack(producer)
    assert tensor.tolist() == [[1, 3], [2, 4]] and tensor.data_ptr == producer.address
    window, other = np.asarray(tensor), masu.from_dlpack(tensor.__dlpack__())
    del tensor
    gc.collect()
    assert producer.ended == 0
    del window
    assert producer.ended == 0
    del other
    assert producer.ended == 1


def test_offsets_and_missing_strides_are_honoured():
    producer = Producer(shape=(2, 2), byte_offset=8)
    producer.floats()[:6] = [0, 0, 1, 2, 3, 4]
    assert masu.from_dlpack(producer).tolist() == [[1, 2], [3, 4]]
    backwards = Producer(shape=(3,), strides=(-1,), byte_offset=8)
    backwards.floats()[:3] = [1, 2, 3]
    assert masu.from_dlpack(backwards).tolist() == [3, 2, 1]


def test_what_is_not_aligned_is_copied(nothing_stays):
    producer = Producer(shape=(2,), byte_offset=1)
    tensor = masu.from_dlpack(producer)
    assert tensor.data_ptr % 4 == 0 and producer.ended == 1
    with pytest.raises(BufferError, match="from_dlpack: x"):
        masu.from_dlpack(Producer(shape=(2,), byte_offset=1), copy=False)


def test_flags_of_a_foreign_tensor():
    assert masu.from_dlpack(Producer(flags=1)).readonly
    assert not masu.from_dlpack(Producer(flags=0)).readonly
    with pytest.raises(BufferError, match="made a copy"):
        masu.from_dlpack(Producer(flags=2), copy=False)
    assert Producer(with_deleter=False) and masu.from_dlpack(Producer(with_deleter=False)).size == 3


def test_words_given_to_a_producer():
    producer = Producer()
    masu.from_dlpack(producer)
    assert producer.words == {"max_version": (1, 1)}

    class Old(Producer):
        def __dlpack__(self, stream=None):
            return self.capsule()

    for _ in range(3):
        assert masu.from_dlpack(Old(Legacy)).shape == (3,)

    class Broken(Producer):
        def __dlpack__(self, **words):
            raise TypeError("this one is broken")

    with pytest.raises(TypeError, match="this one is broken"):
        masu.from_dlpack(Broken())


@pytest.mark.parametrize("words, text", [
    ({"dtype": (2, 32, 4)}, "4 lanes"),
    ({"dtype": (0, 4, 1)}, "4 bits"),
    ({"dtype": (3, 64, 1)}, "kind 3"),
    ({"dtype": (9, 8, 1)}, "kind 9"),
    ({"dtype": (2, 128, 1)}, "128 bits"),
    ({"device": (2, 0)}, r"device \(2, 0\)"),
    ({"version": (2, 0)}, "DLPack 2.0"),
    ({"shape": (1,) * 65}, "65 dimensions"),
])
def test_what_is_refused_stays_its_producers(words, text, nothing_stays):
    producer = Producer(**words)
    capsule = producer.capsule()
    with pytest.raises(BufferError, match="from_dlpack: x: .*" + text):
        masu.from_dlpack(capsule)
    assert is_named(capsule, VERSIONED) and producer.ended == 0


def test_shapes_that_cannot_be(nothing_stays):
    for words in [{"shape": (-1,)}, {"shape": (1 << 62, 4)}, {"shape": (2, 2), "strides": (1 << 62, 1)},
                  {"shape": (2,), "strides": (-(1 << 63),)}]:
        producer = Producer(**words)
        with pytest.raises((ValueError, OverflowError), match="from_dlpack: x"):
            masu.from_dlpack(producer)
        assert producer.ended == 0


def test_a_capsule_serves_once():
    for version in [None, (1, 0)]:
        capsule = masu.zeros(2).__dlpack__(max_version=version)
        masu.from_dlpack(capsule)
        with pytest.raises(ValueError, match="taken already"):
            masu.from_dlpack(capsule)
    with pytest.raises(TypeError, match="does not hold a DLPack tensor"):
        masu.from_dlpack(api.PyCapsule_New(1, b"other", None))


def test_objects_that_keep_half_of_the_protocol():
    class NoDevice:
        def __dlpack__(self):
            raise AssertionError

    class NoPair(Producer):
        def __dlpack_device__(self):
            return 1

    class NoCapsule(Producer):
        def __dlpack__(self, **words):
            return 5

    for half, text in [(NoDevice(), "__dlpack_device__"), (NoPair(), "not a pair"), (NoCapsule(), "not a capsule"),
                       (3, "has not both")]:
        with pytest.raises(TypeError, match="from_dlpack: x.*" + text):
            masu.from_dlpack(half)


# ---- ends in any order and thread ------------------------------------------------------------------------------------

libc = c.CDLL(None)


def end_in_a_thread_of_c(address, deleter):
    """A thread that Python has never seen runs the deleter, without the lock."""
    thread = c.c_ulong()
    assert libc.pthread_create(c.byref(thread), None, c.cast(deleter, c.c_void_p), c.c_void_p(address)) == 0
    assert libc.pthread_join(thread, None) == 0


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_deleters_run_in_threads_of_c(version, nothing_stays):
    there = np.arange(4.0)
    before = sys.getrefcount(there)
    for make in (lambda: masu.asarray(there), lambda: masu.from_dlpack(there), lambda: masu.zeros(4)):
        tensor = make()
        address, managed = take(tensor.__dlpack__(max_version=version))
        del tensor
        end_in_a_thread_of_c(address, managed.deleter)
    assert sys.getrefcount(there) == before


def test_many_threads_end_what_one_has_made(nothing_stays):
    there = np.arange(4.0)
    before = sys.getrefcount(there)
    tensor = masu.asarray(there)
    taken = [take(tensor.__dlpack__(max_version=(1, 0) if i % 2 else None)) for i in range(400)]
    del tensor

    def end(part):
        for address, managed in part:
            managed.deleter(address)  # ctypes lets go of the lock

    threads = [threading.Thread(target=end, args=(taken[i::4],)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sys.getrefcount(there) == before


def test_threads_make_and_end_tensors_at_once(nothing_stays):
    there = np.arange(64.0).reshape(8, 8)

    def work():
        for _ in range(300):
            assert np.from_dlpack(masu.from_dlpack(there)).ctypes.data == there.ctypes.data
            masu.asarray(there, copy=True).tolist()

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


def test_capsules_that_no_one_takes_end_by_themselves(nothing_stays):
    producer = Producer()
    tensor = masu.from_dlpack(producer)
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0)), tensor.__dlpack__(copy=True)]
    del tensor
    assert producer.ended == 0
    del capsules
    assert producer.ended == 1


# ---- the table for C -------------------------------------------------------------------------------------------------


class Table(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("previous", c.c_void_p), ("allocate", c.c_void_p),
                ("from_object", c.c_void_p), ("to_object", c.c_void_p), ("borrow", c.c_void_p), ("stream", c.c_void_p)]


FromObject = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(c.c_void_p))
ToObject = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_void_p))
Borrow = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(Tensor))
Stream = c.PYFUNCTYPE(c.c_int, c.c_int32, c.c_int32, c.POINTER(c.c_void_p))
SetError = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_char_p)
Allocate = c.CFUNCTYPE(c.c_int, c.POINTER(Tensor), c.POINTER(c.c_void_p), c.c_void_p, SetError)


def table():
    return Table.from_address(pointer_in(masu.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))


def test_the_table_gives_takes_and_borrows(nothing_stays):
    tensor, out = masu.asarray(np.arange(3.0)), c.c_void_p()
    assert (table().major, table().previous) == (1, None)
    assert FromObject(table().from_object)(tensor, c.byref(out)) == 0
    assert Versioned.from_address(out.value).tensor.data == tensor.data_ptr
    made = c.c_void_p()
    assert ToObject(table().to_object)(out, c.byref(made)) == 0
    other = c.cast(made, c.py_object).value
    assert other.data_ptr == tensor.data_ptr and other.tolist() == [0, 1, 2]
    c.pythonapi.Py_DecRef(c.py_object(other))
    borrowed = Tensor()
    assert Borrow(table().borrow)(tensor, c.byref(borrowed)) == 0
    assert (borrowed.data, borrowed.shape[0], borrowed.strides[0]) == (tensor.data_ptr, 3, 1)
    assert Stream(table().stream)(1, 0, c.byref(out)) == 0 and out.value is None


def test_the_table_allocates_without_the_lock(nothing_stays):
    shape, out, errors = (c.c_int64 * 2)(3, 4), c.c_void_p(), []
    said = SetError(lambda context, kind, text: errors.append((kind, text)))
    prototype = Tensor(None, Device(1, 0), 2, Type(2, 64, 1), shape, None, 0)
    assert Allocate(table().allocate)(c.byref(prototype), c.byref(out), None, said) == 0
    managed = Versioned.from_address(out.value)
    assert managed.tensor.data % 64 == 0 and managed.tensor.strides[:2] == [4, 1]
    managed.deleter(out.value)
    for wrong in [Tensor(None, Device(2, 0), 2, Type(2, 64, 1), shape, None, 0),
                  Tensor(None, Device(1, 0), 2, Type(2, 64, 2), shape, None, 0),
                  Tensor(None, Device(1, 0), 2, Type(2, 64, 1), (c.c_int64 * 2)(1 << 40, 1 << 40), None, 0),
                  Tensor(None, Device(1, 0), 2, Type(2, 64, 1), (c.c_int64 * 2)(1 << 25, 1 << 25), None, 0)]:
        assert Allocate(table().allocate)(c.byref(wrong), c.byref(out), None, said) == -1
    assert [kind for kind, _ in errors] == [b"BufferError", b"BufferError", b"ValueError", b"MemoryError"]


def peer_with_table(producer, status=0, major=1):
    @FromObject
    def from_object(peer, out):
        peer.asked += 1
        producer.handed_out.add(producer)
        out[0] = c.addressof(producer.managed)
        return status

    made = Table(major, 2, None, None, c.cast(from_object, c.c_void_p).value, None, None, None)

    class Peer:
        asked = 0
        kept = (from_object, made)
        __dlpack_c_exchange_api__ = api.PyCapsule_New(c.addressof(made), b"dlpack_exchange_api", None)

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **words):
            return producer.capsule()

    return Peer()


def test_the_table_of_a_peer_is_used(nothing_stays):
    producer = Producer()
    producer.floats()[:3] = [1, 2, 3]
    peer = peer_with_table(producer)
    assert masu.from_dlpack(peer).tolist() == [1, 2, 3]
    assert masu.asarray(peer).tolist() == [1, 2, 3]
    assert (peer.asked, producer.ended) == (2, 2)
    refusing = peer_with_table(Producer(), status=-1)
    with pytest.raises(BufferError, match="refused"):
        masu.from_dlpack(refusing)
    abroad = Producer(device=(2, 0))
    with pytest.raises(BufferError, match="device"):
        masu.from_dlpack(peer_with_table(abroad))
    assert abroad.ended == 1
    later = peer_with_table(Producer(), major=2)
    assert masu.from_dlpack(later).shape == (3,) and later.asked == 0


def test_deleters_see_no_exception_of_others(nothing_stays):
    producer = Producer()
    tensor = masu.from_dlpack(producer)

    def fall(held):
        raise KeyError("on its way")

    with pytest.raises(KeyError, match="on its way"):
        fall(tensor)
    del tensor
    gc.collect()
    assert producer.ended == 1
