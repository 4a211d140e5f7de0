"""What calls of the Python module cost: CPU time, the best of five rounds, beside what NumPy's own take.

    PYTHONPATH=build/release/python MASU=build/release/masu /usr/bin/python3 bench/python_calls.py
"""

import os
import tempfile
import time

import numpy as np

import masu

PROGRAM = """
pub fn sum(x: &Tensor<f32, 2>, w: &Tensor<f32, 2>) -> Tensor<f32, 2> { x + w }
pub fn product(x: &Tensor<f32, 2>, w: &Tensor<f32, 2>) -> Tensor<f32, 2> { x.matmul(w) }
pub fn next(n: i64) -> i64 { n + 1 }
"""

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "calls.tl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    module = masu.compile(path, cache=folder)
names = {
    "np": np,
    "masu": masu,
    "x": np.ones((8, 8), "f4"),
    "w": np.eye(8, dtype="f4"),
    "sum_": module["sum"],
    "product": module["product"],
    "next_": module["next"],
}
names.update(t=masu.asarray(names["x"]), u=masu.asarray(names["w"]))
for call in [
    "next_(3)",
    "sum_(x, w)",
    "sum_(t, u)",
    "product(x, w)",
    "x + w",
    "x @ w",
    "masu.asarray(x)",
    "masu.from_dlpack(x)",
    "t.__dlpack__()",
    "masu.from_dlpack(masu.from_dlpack(x).__dlpack__())",
    "np.from_dlpack(masu.from_dlpack(x))",
]:
    loop, count, best = compile(f"for _ in times: {call}", "", "exec"), 20000, float("inf")
    for _ in range(5):
        given = dict(names, times=range(count))
        begin = time.process_time()
        exec(loop, given)
        best = min(best, time.process_time() - begin)
    print(f"{call:55} {best / count * 1e9:6.0f} ns")
