"""numpy_handler(): arrays on the module's heap, sized frees, lives across the end of the context, and who asked for them."""

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import masu

try:
    from numpy.core.multiarray import get_handler_name
except ImportError:
    from numpy._core.multiarray import get_handler_name


def live():
    gc.collect()
    stats = masu.heap_statistics()
    return stats["live_blocks"], stats["live_bytes"]


def test_arrays_come_from_the_heap_and_go_back(nothing_stays):
    before = live()
    with masu.numpy_handler() as handler:
        wrong = handler.wrong_sizes
        array = np.zeros((100, 100))
        assert get_handler_name(array) == "masu" and not array.any()
        assert live()[0] == before[0] + 1 and live()[1] >= before[1] + array.nbytes
        assert array.ctypes.data % 64 == 0
    assert get_handler_name() == "default_allocator"
    assert get_handler_name(np.zeros(3)) == "default_allocator"
    del array
    assert live() == before and handler.wrong_sizes == wrong


def everything(seed):
    random = np.random.default_rng(seed)
    made = [np.zeros(0), np.zeros((0, 5), "f4"), np.zeros(()), np.zeros(3, "S0"), np.zeros(2, [("a", "u1"), ("b", "f8")])]
    for size in [1, 7, 64, 1000, 16384, 100000]:
        there = random.random(size)
        made += [there, there.copy(), there.astype("f4"), np.sort(there), there + there, there.reshape(1, -1).T.copy()]
        grown = there.copy()
        grown.resize(size * 3, refcheck=False)
        assert np.array_equal(grown[:size], there) and not grown[size:].any()
        grown.resize(max(1, size // 2), refcheck=False)
        assert np.array_equal(grown, there[: grown.size])
        made += [grown, pickle.loads(pickle.dumps(there)), np.array(list("abc") * 5), np.concatenate([there, there])]
        retyped = there.copy()
        retyped.dtype = "u1"
        made += [retyped, np.array([{}, []], dtype=object), there.view("c8") if size % 2 == 0 else there]
    made += [np.fromiter(range(1000), dtype="i8"), np.array("x" * 1000), np.loadtxt(["1 2", "3 4"])]
    return made


def same(a, b):
    plain = a.dtype != object
    return (a.dtype, a.shape) == (b.dtype, b.shape) and (a.tobytes() == b.tobytes() if plain else a.tolist() == b.tolist())


def test_each_way_to_make_an_array_frees_what_it_took(nothing_stays):
    plain = everything(1)
    with masu.numpy_handler() as handler:
        wrong = handler.wrong_sizes
        ours = everything(1)
        assert [same(a, b) for a, b in zip(plain, ours)] == [True] * len(plain)
    del ours
    gc.collect()
    assert handler.wrong_sizes == wrong


def test_sizes_that_numpy_itself_gets_wrong_lose_nothing(nothing_stays):
    """An array resized to nothing has the bytes of one element, and NumPy 1.24 frees it as one byte."""
    with masu.numpy_handler() as handler:
        wrong = handler.wrong_sizes
        for length in [5, 10000]:
            empty = np.zeros(length, dtype=[("x", "f8", 1000)])
            empty.resize(0, refcheck=False)
            del empty
    assert handler.wrong_sizes - wrong in (0, 2)  # seen where every free is checked


def test_contexts_nest_and_belong_to_their_thread():
    with masu.numpy_handler():
        with masu.numpy_handler(lines=True):
            assert get_handler_name() == "masu_lines"
        assert get_handler_name() == "masu"
        seen = []
        thread = threading.Thread(target=lambda: seen.append(get_handler_name()))
        thread.start()
        thread.join()
        assert seen == ["default_allocator"]
    assert get_handler_name() == "default_allocator"


def test_wrong_use_of_the_context():
    handler = masu.numpy_handler()
    with pytest.raises(RuntimeError, match="not entered"):
        handler.__exit__(None, None, None)
    with handler:
        with pytest.raises(RuntimeError, match="entered already"):
            handler.__enter__()
    with handler:
        pass
    with pytest.raises(KeyError):
        with masu.numpy_handler():
            raise KeyError
    assert get_handler_name() == "default_allocator"
    for words in [{"lines": 1}, {"line": True}]:
        with pytest.raises(TypeError, match="line"):
            masu.numpy_handler(**words)
    with pytest.raises(TypeError, match="reset"):
        masu.numpy_statistics(reset=0)
    with pytest.raises(TypeError):
        masu.NumpyHandler()


def test_versions_that_are_not_known_are_refused(monkeypatch):
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    version = ctypes.CFUNCTYPE(ctypes.c_uint)
    old, later = version(lambda: 0x01000009), version(lambda: 0x7F)
    early, third = version(lambda: 0x0E), version(lambda: 0x03000000)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    for abi, api in [(old, later), (old, early), (third, later)]:
        table = (ctypes.c_void_p * 400)()
        table[0], table[211] = ctypes.cast(abi, ctypes.c_void_p).value, ctypes.cast(api, ctypes.c_void_p).value
        monkeypatch.setattr(core, "_ARRAY_API", new(ctypes.addressof(table), None, None))
        with pytest.raises(RuntimeError, match="numpy_handler: NumPy's table has version 0x"):
            masu.numpy_handler()


def of_function(name):
    return [line for line in masu.numpy_statistics() if line.function.endswith(name)]


def asks_twice():
    small = np.zeros(100)
    large = np.zeros((10, 100))
    return small, large


def test_lines_that_ask_are_counted():
    masu.numpy_statistics(reset=True)
    with masu.numpy_handler(lines=True):
        kept = asks_twice()
        asks_twice()
    first = asks_twice.__code__.co_firstlineno
    found = {line.line - first: line for line in of_function("asks_twice")}
    assert set(found) == {1, 2} and all(line.file == __file__ for line in found.values())
    assert (found[1].live_blocks, found[1].live_bytes, found[1].allocations, found[1].total_bytes) == (1, 800, 2, 1600)
    assert (found[2].live_bytes, found[2].peak_bytes) == (8000, 16000)
    assert [line.line - first for line in of_function("asks_twice")] == [2, 1]  # the most live bytes first
    del kept
    assert all(line.live_bytes == 0 for line in of_function("asks_twice"))
    masu.numpy_statistics(reset=True)
    assert of_function("asks_twice") == []


def test_functions_of_numpy_ask_for_their_caller():
    masu.numpy_statistics(reset=True)

    def asks_through_numpy():
        return np.ones(100), np.full(3, 2.0), np.stack([np.arange(3)] * 2), np.median(np.arange(50.0)), np.linalg.norm(np.eye(3))

    with masu.numpy_handler(lines=True):
        kept = asks_through_numpy()
    assert {line.file for line in masu.numpy_statistics()} == {__file__} and kept


def test_counts_of_many_blocks_and_threads_add_up():
    masu.numpy_statistics(reset=True)
    random = np.random.default_rng(3)

    def asks_often(seed):
        with masu.numpy_handler(lines=True):
            kept = {}
            for number in range(2000):
                kept[(number * seed) % 97] = np.empty(1 + number % 50, "u1")
            return kept

    outcomes = []
    threads = [threading.Thread(target=lambda seed=seed: outcomes.append(asks_often(seed))) for seed in (1, 3, 5)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    (line,) = of_function("asks_often")
    alive = [array for kept in outcomes for array in kept.values()]
    assert (line.live_blocks, line.live_bytes, line.allocations) == (len(alive), sum(a.nbytes for a in alive), 6000)
    order = list(random.permutation(len(alive)))
    while order:
        alive[order.pop()] = None
    outcomes.clear()
    (line,) = of_function("asks_often")
    assert (line.live_blocks, line.live_bytes) == (0, 0)


def test_an_exception_on_its_way_survives_the_counting():
    with masu.numpy_handler(lines=True):
        with pytest.raises(ValueError, match="could not convert"):
            np.array(["1", "x"]).astype("f8")
        with pytest.raises(MemoryError):
            np.empty(1 << 50)


COMMAND = os.environ.get("MASU", "masu")


def asks_while_recorded():
    kept = [np.zeros(1000) for _ in range(3)]
    np.zeros(50000)
    return kept


def test_arrays_are_recorded_for_the_reports(tmp_path):
    if subprocess.run([COMMAND, "help", "report"], capture_output=True, stdin=subprocess.DEVNULL).returncode:
        pytest.skip("this masu has no report")
    trace = tmp_path / "numpy.trace"
    with masu.numpy_handler(lines=True):
        older = np.zeros(777)
    with masu.numpy_handler(record=trace):
        del older
        kept = asks_while_recorded()
        again = masu.numpy_handler(record=tmp_path / "other")
        with pytest.raises(RuntimeError, match="another recording"):
            again.__enter__()
    told = masu.report(trace, command=COMMAND)
    text = subprocess.run([COMMAND, "report", trace], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    first = asks_while_recorded.__code__.co_firstlineno
    assert f"test_numpy_heap.py:{first + 2}" in text and told
    # 3 arrays of 8,000 bytes and one of 400,000 at once
    assert "424000" in str(told)
    with masu.numpy_handler(record=trace):
        np.zeros(3)
    assert "424000" not in str(masu.report(trace, command=COMMAND))
    del kept
    with pytest.raises(OSError):
        masu.numpy_handler(record=tmp_path / "no" / "folder").__enter__()
    assert get_handler_name() == "default_allocator"
    with pytest.raises(TypeError):
        masu.numpy_handler(record=3)
