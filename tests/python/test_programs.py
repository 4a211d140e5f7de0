"""compile() and load(): functions of .tl files on arrays, values that programs keep, errors with their place, the cache."""

import copy
import ctypes as c
import gc
import inspect
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import masu
from capsules import Producer, Versioned, take

COMMAND = os.environ.get("MASU", "masu")


def has_shared():
    try:
        told = subprocess.run([COMMAND, "help", "build"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError:
        return False
    return "--shared" in told.stdout


pytestmark = pytest.mark.skipif(not has_shared(), reason="this masu has no `build --shared`")

PROGRAM = """
mod parts;

/// Multiplies.
/// Twice.
pub fn step(x: Tensor<f32, 2>, w: Tensor<f32, 2>) -> Tensor<f32, 2> { x.matmul(&w) }
pub fn sums(x: &Tensor<f64, 1>) -> (f64, usize) { (x.sum().item(), x.shape()[0]) }
pub fn same(x: Tensor<i64, 1>) -> Tensor<i64, 1> { x }
pub fn positive(x: &Tensor<f32, 1>) -> Tensor<bool, 1> { x.gt(0.0) }
pub fn whole(n: i64) -> i64 { n - 1 }
pub fn small(n: u8) -> u8 { n }
pub fn half(x: f32) -> f32 { x / 2.0 }
pub fn third(x: f64) -> f64 { x / 3.0 }
pub fn not(b: bool) -> bool { !b }
pub fn shout(text: &str) -> String { text.to_uppercase() }
pub fn nothing() {}
pub fn double(x: &mut Tensor<f32, 1>) { *x *= 2.0; }
pub fn at(x: &Tensor<f32, 1>, i: usize) -> f32 { x[i].item() }
pub fn checked(n: i64) -> Result<i64, String> {
    if n < 0 { Err(format!("{} is below zero", n)) } else { Ok(n) }
}
pub fn both(a: &mut Tensor<f32, 1>, b: &mut Tensor<f32, 1>) { *a += 1.0; *b += 2.0; }
pub fn pass(a: &mut Other, b: &mut Other) { a.n += 1; b.n += 2; }
pub fn of(a: &Other) -> i64 { a.n }
pub fn through(n: i64) -> i64 { parts::plus(n) }

/// A sum that grows.
pub struct Sum { total: Tensor<f32, 1>, steps: usize }
impl Sum {
    pub fn new(n: usize) -> Sum { Sum { total: Tensor::zeros([n]), steps: 0 } }
    pub fn add(&mut self, x: &Tensor<f32, 1>) -> usize { self.total = &self.total + x; self.steps += 1; self.steps }
    pub fn total(&self) -> Tensor<f32, 1> { self.total.clone() }
}
pub struct Other { n: i64 }
impl Other { pub fn new() -> Other { Other { n: 1 } } }
"""
PARTS = "pub(crate) fn plus(n: i64) -> i64 { n + 1 }\n"


def line_of(text):
    return 1 + next(at for at, line in enumerate(PROGRAM.split("\n")) if line.startswith(text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("program")
    (path / "net.tl").write_text(PROGRAM)
    (path / "parts.tl").write_text(PARTS)
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def net(folder, cache):
    return masu.compile(folder / "net.tl", cache=cache, command=COMMAND)


def floats(*shape):
    return np.arange(np.prod(shape), dtype="f4").reshape(shape) - 3


def test_a_function_of_arrays(net):
    x, w = floats(8, 8), floats(8, 8).T
    for given in [(x, w), (masu.asarray(x), masu.asarray(w)), (x[::-1], w[:, ::2]), (memoryview(x), w)]:
        assert np.array_equal(np.asarray(net["step"](*given)), np.asarray(given[0]) @ np.asarray(given[1]))
    assert np.array_equal(np.asarray(net["step"](w=w, x=x)), x @ w)
    torch = pytest.importorskip("torch")
    assert np.array_equal(np.asarray(net["step"](torch.from_numpy(x), w)), x @ w)
    closed = x.copy()
    closed.flags.writeable = False
    assert np.array_equal(np.asarray(net["step"](closed, w)), x @ w)
    apart = np.zeros(8, dtype=[("tag", "u1"), ("x", "f4", 8)])
    apart["x"] = x
    assert np.array_equal(np.asarray(net["step"](apart["x"], w)), x @ w)


def test_each_kind_of_value(net):
    assert net["sums"](np.arange(4.0)) == (6.0, 4)
    assert net["same"](np.array([1, -2])).tolist() == [1, -2]
    assert net["positive"](floats(6)).tolist() == [False] * 4 + [True] * 2
    assert net["whole"](-5) == -6 and net["whole"](np.int16(3)) == 2 and net["small"](255) == 255
    assert net["half"](3) == 1.5 and net["third"](np.float64(6)) == 2.0
    assert net["not"](True) is False
    assert net["shout"]("größe") == "GRÖSSE" and net["shout"]("") == ""
    assert net["nothing"]() is None
    assert net["checked"](4) == 4
    assert net["through"](4) == 5
    assert net["step"](np.zeros((0, 3), "f4"), np.zeros((3, 0), "f4")).shape == (0, 0)


def test_what_is_written_is_the_callers_own(net):
    there = floats(6)
    net["double"](there)
    assert there.tolist() == [-6, -4, -2, 0, 2, 4]
    every_second = there[::2]
    net["double"](every_second)
    assert there.tolist() == [-12, -4, -4, 0, 4, 4]
    closed = floats(3)
    closed.flags.writeable = False
    for given in (closed, masu.asarray(closed), b"abcd"):
        with pytest.raises((ValueError, BufferError, TypeError), match="double: x"):
            net["double"](given)
    assert closed.tolist() == [-3, -2, -1]


def test_two_that_are_written_are_two(net):
    x = np.zeros(6, "f4")
    for a, b in [(x, x), (x[:3], x[2:]), (x[2:], x[:3]), (x[::-1], x), (x[::2], x[::2]), (x[::2], x[4:]), (x[::3], x[3:4])]:
        with pytest.raises(masu.Error, match="argument `b`: the same memory as `a`"):
            net["both"](a, b)
    assert not x.any()
    for a, b in [(x[:3], x[3:]), (x[::2], x[1::2]), (x[4::-2], x[1::2]), (x[1::2], x[::2]), (x[:0], x), (x[5:], x[:5])]:
        x[:] = 0
        net["both"](a, b)
        assert (a == 1).all() and (b == 2).all()
    one, other = net["Other::new"](), net["Other::new"]()
    with pytest.raises(masu.Error, match="argument `b`: the same memory as `a`"):
        net["pass"](one, one)
    net["pass"](one, other)
    assert (net["of"](one), net["of"](other)) == (2, 3)


def test_results_outlive_everything(folder, cache, nothing_stays):
    module = masu.compile(folder / "net.tl", cache=cache, command=COMMAND)
    x = floats(4, 4)
    result = module["step"](x, x)
    view, address = np.asarray(result), None
    address, managed = take(result.__dlpack__(max_version=(1, 0)))
    del result, module
    gc.collect()
    assert np.array_equal(view, x @ x)
    del view
    thread, libc = c.c_ulong(), c.CDLL(None)
    assert libc.pthread_create(c.byref(thread), None, c.cast(managed.deleter, c.c_void_p), c.c_void_p(address)) == 0
    libc.pthread_join(thread, None)


def test_values_that_a_program_keeps(net):
    total = net["Sum::new"](3)
    assert (total.type, repr(total).startswith("<masu.Handle of a Sum")) == ("Sum", True)
    assert net["Sum::add"](total, floats(3)) == 1
    other = copy.copy(total)
    assert total.add(floats(3)) == 2 and total.add(x=floats(3)) == 3
    assert total.total().tolist() == [-9, -6, -3] and other.total().tolist() == [-3, -2, -1]
    kept = total.total()
    total.add(floats(3))
    assert kept.tolist() == [-9, -6, -3]
    step = total.add
    del total, net
    gc.collect()
    assert step(floats(3)) == 5
    with pytest.raises(AttributeError):
        other.missing
    with pytest.raises(AttributeError):
        other.new


def test_handles_belong_to_their_instance(net, folder, cache):
    again = masu.compile(folder / "net.tl", cache=cache, command=COMMAND)
    with pytest.raises(ValueError, match="Sum::add: self: .*another instance"):
        again["Sum::add"](net["Sum::new"](3), floats(3))
    with pytest.raises(TypeError, match="is a `Other`, not a `Sum`"):
        net["Sum::add"](net["Other::new"](), floats(3))
    with pytest.raises(TypeError, match="Sum::add: self"):
        net["Sum::add"](3, floats(3))


def test_what_it_says_of_itself(net, folder):
    step = net["step"]
    assert str(inspect.signature(step)) == "(x, w)" and step.__name__ == "step" and net["step"] is step
    assert step.__doc__.startswith("Multiplies.\nTwice.\n\nfn step(x: Tensor<f32, 2>, w: Tensor<f32, 2>) -> Tensor<f32, 2>")
    assert net["sums"].__doc__.endswith("-> (f64, usize)")
    total = net["Sum::new"](1)
    assert str(inspect.signature(total.add)) == "(x)"
    assert net.source == str(folder / "net.tl") and "step" in net and "plus" not in net and 3 not in net
    assert list(net) == net.keys() and len(net) == len(net.keys()) and "Sum::add" in net.keys()
    assert set(dict(net)) == set(net.keys())
    assert repr(net).startswith("<masu.Module " + net.source)


REFUSED = [
    (lambda n: n["step"](floats(2, 2)), TypeError, r"step: needs the argument `w`"),
    (lambda n: n["step"](), TypeError, "step: needs the argument `x`"),
    (lambda n: n["step"](1, 2, 3), TypeError, "step: takes 2 arguments, not 3"),
    (lambda n: n["step"](floats(2, 2), v=1), TypeError, "step: has no parameter `v`"),
    (lambda n: n["step"](floats(2, 2), x=1), TypeError, "step: was given `x` twice"),
    (lambda n: n["step"](floats(2, 2), 3), TypeError, "step: w: <class 'int'> is not an array"),
    (lambda n: n["step"](floats(2, 2), np.zeros((2, 2))), TypeError, "step: w: its elements are float64.*float32"),
    (lambda n: n["step"](floats(2, 2), np.zeros((2, 2), "i4")), TypeError, "step: w: its elements are i"),
    (lambda n: n["step"](floats(2, 2), np.zeros((2, 2), ">f4")), (TypeError, BufferError), "step: w"),
    (lambda n: n["step"](floats(4), floats(2, 2)), ValueError, "step: x: has 1 dimension, and"),
    (lambda n: n["step"](np.zeros((1,) * 9, "f4"), floats(2, 2)), ValueError, "step: x: has 9 dimensions"),
    (lambda n: n["step"](Producer(device=(2, 0)), floats(2, 2)), BufferError, r"step: x: is on device \(2, 0\)"),
    (lambda n: n["whole"](1.5), TypeError, "whole: n is i64, and 1.5 is not"),
    (lambda n: n["whole"](True), TypeError, "whole: n is i64"),
    (lambda n: n["whole"](1 << 63), OverflowError, "whole: n"),
    (lambda n: n["small"](256), OverflowError, "small: n: 256 is not in 0 to 255"),
    (lambda n: n["small"](-1), OverflowError, "small: n"),
    (lambda n: n["half"]("1"), TypeError, "half: x is f32"),
    (lambda n: n["half"](True), TypeError, "half: x is f32"),
    (lambda n: n["third"](1 << 5000), OverflowError, ""),
    (lambda n: n["not"](1), TypeError, "not: b is bool"),
    (lambda n: n["shout"](b"x"), TypeError, "shout: text is"),
    (lambda n: n["shout"]("\ud800"), UnicodeEncodeError, ""),
    (lambda n: n["nothing"](1), TypeError, "nothing: takes 0 arguments, not 1"),
    (lambda n: n["plus"], KeyError, "'plus' is not a public function"),
    (lambda n: n[3], KeyError, "3 is not a public function"),
    (lambda n: masu.Module(), TypeError, ""),
    (lambda n: masu.Handle(), TypeError, ""),
]


@pytest.mark.parametrize("call, kind, text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused_says_which_argument(call, kind, text, net):
    with pytest.raises(kind, match=text):
        call(net)


def test_errors_of_a_running_program(net, folder):
    with pytest.raises(masu.Error, match="cannot be multiplied") as caught:
        net["step"](floats(2, 3), floats(2, 3))
    error = caught.value
    assert (error.file, error.line) == (str(folder / "net.tl"), line_of("pub fn step")) and error.status == "MASU_ERR_SHAPE_MISMATCH"
    assert error.column > 1 and isinstance(error, Exception)
    with pytest.raises(masu.Error, match="out of range") as caught:
        net["at"](floats(3), 3)
    assert caught.value.line == line_of("pub fn at")
    with pytest.raises(masu.Error, match="-4 is below zero"):
        net["checked"](-4)
    assert net["step"](floats(2, 2), floats(2, 2)).shape == (2, 2)  # an error ends nothing


def test_errors_of_a_program_that_does_not_compile(tmp_path, cache):
    (tmp_path / "wrong.tl").write_text("pub fn f(x: Tensor) -> Tensor {\n    x + y\n}\n")
    for _ in range(2):
        with pytest.raises(masu.Error, match="no variable `y`") as caught:
            masu.compile(tmp_path / "wrong.tl", cache=cache, command=COMMAND)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(tmp_path / "wrong.tl"), 2, 9)
    with pytest.raises(FileNotFoundError):
        masu.compile(tmp_path / "missing.tl", cache=cache, command=COMMAND)
    with pytest.raises(FileNotFoundError):
        masu.compile(tmp_path / "wrong.tl", cache=cache, command=tmp_path / "missing")


def counting(tmp_path):
    script, log = tmp_path / "masu", tmp_path / "log"
    script.write_text(f'#!/bin/sh\necho "$*" >>"{log}"\nexec "{COMMAND}" "$@"\n')
    script.chmod(0o755)
    return script, lambda: len(log.read_text().splitlines()) if log.exists() else 0


def test_what_has_not_changed_is_not_compiled_again(tmp_path, monkeypatch):
    command, runs = counting(tmp_path)
    program, part = tmp_path / "a.tl", tmp_path / "deep.tl"
    program.write_text("mod deep;\npub fn f() -> i64 { deep::g() }\n")
    part.write_text("pub(crate) fn g() -> i64 { 1 }\n")
    compiled = lambda **words: masu.compile(program, **{"cache": tmp_path / "kept", "command": command, **words})
    assert compiled()["f"]() == 1 and compiled()["f"]() == 1 and runs() == 1
    old = compiled()
    part.write_text("pub(crate) fn g() -> i64 { 2 }\n")
    assert compiled()["f"]() == 2 and runs() == 2 and old["f"]() == 1
    program.write_text("mod deep;\npub fn f() -> i64 { deep::g() + 10 }\n")
    assert compiled()["f"]() == 12 and runs() == 3
    assert compiled(flags=["--quiet"])["f"]() == 12 and runs() == 4
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert compiled(cache=None)["f"]() == 12 and runs() == 5
    assert len(list((tmp_path / "home" / "masu").iterdir())) == 1
    monkeypatch.setenv("MASU", str(command))
    assert compiled(command=None)["f"]() == 12 and runs() == 5
    monkeypatch.delenv("MASU")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiled(command=None)["f"]() == 12
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError, match="compile: there is no `masu`"):
        compiled(command=None)


def test_words_of_compile_and_load(tmp_path, folder, cache):
    for words, text in [({"seed": "x"}, "seed"), ({"seed": -1}, "seed"), ({"flags": "-q"}, "flags"), ({"flags": [1]}, "flags"),
                        ({"flags": 1}, "flags"), ({"other": 1}, "other")]:
        with pytest.raises(TypeError, match="compile.*" + text):
            masu.compile(folder / "net.tl", **{"cache": cache, "command": COMMAND, **words})
    with pytest.raises(TypeError):
        masu.compile(3)
    (tmp_path / "text.so").write_text("no library")
    for path in [tmp_path / "text.so", tmp_path / "missing.so", "missing.so"]:
        with pytest.raises(OSError, match="load: "):
            masu.load(path)
    with pytest.raises(OSError, match="load: .*masu_module"):
        masu.load(np.core._multiarray_umath.__file__)


def test_a_library_that_was_built_before(folder, tmp_path):
    library = tmp_path / "libnet.so"
    subprocess.run([COMMAND, "build", "--shared", folder / "net.tl", "-o", library], check=True, stdin=subprocess.DEVNULL)
    assert masu.load(library)["whole"](4) == 3
    assert masu.load(str(library), seed=5)["whole"](4) == 3


def test_threads_share_an_instance_in_turns(net):
    x, wrong = floats(16, 16), []

    def work():
        for _ in range(200):
            if not np.array_equal(np.asarray(net["step"](x, x)), x @ x):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_references_come_back(net, nothing_stays):
    x = floats(4, 4)
    net["step"](x, x), net["at"](floats(3), 1), net["Sum::new"](2).total()
    before = sys.getrefcount(x), sys.getrefcount(None)
    for _ in range(200):
        net["step"](x, x)
        for given in [(x, 3), (x, floats(3)), (x[:, 1:], x[:, 1:])]:
            with pytest.raises((TypeError, ValueError, masu.Error)):
                net["step"](*given)
        net["Sum::new"](2).total(), net["shout"]("a"), net["sums"](np.zeros(3))
    del given
    gc.collect()
    assert sys.getrefcount(x) == before[0]
    assert abs(sys.getrefcount(None) - before[1]) < 50
