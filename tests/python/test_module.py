"""The module as a whole: its types are written down, interpreters share nothing, it survives forks and the end of Python."""

import ast
import inspect
import os
import subprocess
import sys
import textwrap

import pytest

import masu

STUB = os.path.join(os.path.dirname(masu.__file__), "__init__.pyi")


def public(names):
    return {name for name in names if not name.startswith("_") or name == "__version__"}


def test_the_types_name_what_is_there_and_nothing_else():
    with open(STUB, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    named = set(classes) | set(functions) | {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    here = {name for name, value in vars(masu).items() if not inspect.ismodule(value)}  # parts of it may be loaded
    assert public(named) == public(here)
    for name, node in functions.items():
        written = [argument.arg for argument in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
        assert written == list(inspect.signature(getattr(masu, name)).parameters), name
    for name in ("Tensor", "Module", "Handle", "NumpyHandler"):
        written = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        assert public(written) == public(vars(getattr(masu, name))), name
    for name in ("Plan", "NumpyLine"):
        fields = [node.target.id for node in classes[name].body]
        assert fields == [field for field in dir(getattr(masu, name)) if field in fields] or set(fields) <= set(dir(getattr(masu, name)))
        assert len(fields) == getattr(masu, name).n_sequence_fields


def test_everything_has_a_documentation():
    for name in public(vars(masu)) - {"__version__"}:
        assert getattr(masu, name).__doc__.strip(), name


def run(text, *words):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text), *words], capture_output=True, text=True, timeout=60)


def test_three_interpreters_in_one_process():
    interpreters = pytest.importorskip("_xxsubinterpreters", reason="this Python has no _xxsubinterpreters")
    del interpreters
    ended = run("""
        import _xxsubinterpreters as interpreters, masu
        kept = masu.zeros(3)
        for number in range(3):
            other = interpreters.create()
            interpreters.run_string(other, '''if True:
                import masu
                t = masu.from_dlpack(masu.asarray(bytearray(b"abc")).__dlpack__())
                assert t.tolist() == [97, 98, 99] and masu.plan([(4, 0, 1)]).height == 4
                try: masu.asarray(3)
                except TypeError: pass
            ''')
            interpreters.destroy(other)
        print(kept.tolist(), type(kept) is masu.Tensor)
    """)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[0.0, 0.0, 0.0] True\n", "")


def test_tensors_that_are_there_when_python_ends():
    ended = run("""
        import masu, threading
        kept = [masu.zeros(1000), masu.asarray(bytearray(10)), masu.from_dlpack(masu.zeros(3).__dlpack__())]
        kept.append(kept)
        capsule = kept[0].__dlpack__()
        other = masu.asarray(bytearray(3)).__dlpack__(max_version=(1, 0))
        threading.Thread(target=lambda: kept.append(masu.zeros(50))).start()
        print("fine")
    """)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "fine\n", "")


def test_a_fork_goes_on_with_what_was_there():
    ended = run("""
        import masu, os
        there = masu.zeros((10, 10))
        for _ in range(3):
            child = os.fork()
            if child == 0:
                copies = [there.copy() for _ in range(100)]
                del copies, there
                os._exit(0 if masu.zeros(3).tolist() == [0, 0, 0] else 1)
            assert os.waitpid(child, 0)[1] == 0
        print(there.size)
    """)
    assert (ended.returncode, ended.stdout) == (0, "100\n")


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer's own addresses are beyond the limit")
def test_memory_that_runs_out_is_an_exception():
    ended = run("""
        import masu, resource
        masu.zeros(10)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
        kept, refused = [], 0
        for _ in range(60):
            try: kept.append(masu.empty(1 << 26, "uint8"))
            except MemoryError: refused += 1
        del kept
        print(refused > 20, masu.zeros(3).tolist())
    """)
    assert (ended.returncode, ended.stdout) == (0, "True [0.0, 0.0, 0.0]\n"), ended.stderr
