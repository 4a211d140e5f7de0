"""Speed of single operations: masu against PyTorch, in the same minutes.

    bench/ops.py MASU [--threads N] [--rounds N] [NAME …]

For each operation a program of masu and a line of PyTorch (no_grad) run it on the same shapes, by turns. Each side measures 150 stretches
of 2 to 4 ms by the wall clock, shorter than a busy machine's time slice, and prints its shortest: what other programs take away does not count. The table has the
lowest of all rounds, in microseconds a call; above 1 masu is faster. Two operands take turns, so that nothing can be
moved out of the loop.

glibc gives large blocks back to the system at each free and takes page faults for the next; that is a setting of malloc and
no property of PyTorch, so PyTorch runs with malloc's thresholds raised (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_), unless the
environment says otherwise.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

BIG = "[512, 1024]"
OPS = {
    # name: (operands as masu writes them, masu, torch)
    "add": (dict(x=BIG, b=BIG), "x + b", "x + b"),
    "add row": (dict(x=BIG, b="[1024]"), "x + b", "x + b"),
    "add column": (dict(x=BIG, b="[512, 1]"), "x + b", "x + b"),
    "where": (dict(x=BIG, b=BIG), "Tensor::where_cond(b > 0.5, x, b)", "torch.where(b > 0.5, x, b)"),
    "exp": (dict(x=BIG), "x.exp()", "x.exp()"),
    "tanh": (dict(x=BIG), "x.tanh()", "x.tanh()"),
    "gelu": (dict(x=BIG), "x.gelu()", "F.gelu(x)"),
    "silu": (dict(x=BIG), "x.silu()", "F.silu(x)"),
    "softmax": (dict(x=BIG), "x.softmax(-1)", "x.softmax(-1)"),
    "softmax 0": (dict(x=BIG), "x.softmax(0)", "x.softmax(0)"),
    "log_softmax": (dict(x=BIG), "x.log_softmax(-1)", "x.log_softmax(-1)"),
    "sum": (dict(x=BIG), "x.sum()", "x.sum()"),
    "sum 0": (dict(x=BIG), "x.sum(0)", "x.sum(0)"),
    "sum 1": (dict(x=BIG), "x.sum(1)", "x.sum(1)"),
    "sum mid": (dict(x="[64, 64, 128]"), "x.sum(1)", "x.sum(1)"),
    "mean 1": (dict(x=BIG), "x.mean(1)", "x.mean(1)"),
    "max": (dict(x=BIG), "x.max()", "x.max()"),
    "max 1": (dict(x=BIG), "x.max(1)", "x.amax(1)"),
    "max 0": (dict(x=BIG), "x.max(0)", "x.amax(0)"),
    "argmax 1": (dict(x=BIG), "x.argmax(1)", "x.argmax(1)"),
    "argmax 0": (dict(x=BIG), "x.argmax(0)", "x.argmax(0)"),
    "cumsum 1": (dict(x=BIG), "x.cumsum(1)", "x.cumsum(1)"),
    "transpose": (dict(x=BIG), "x.transpose(0, 1).contiguous()", "x.transpose(0, 1).contiguous()"),
    "permute": (dict(x="[8, 128, 8, 64]"), "x.permute([0, 2, 1, 3]).contiguous()", "x.permute(0, 2, 1, 3).contiguous()"),
    "cat 0": (dict(x=BIG, b=BIG), "x.cat(b, 0)", "torch.cat([x, b], 0)"),
    "cat 1": (dict(x=BIG, b=BIG), "x.cat(b, 1)", "torch.cat([x, b], 1)"),
    "embedding": (dict(x="[2000, 256]", i="#2000 [512]"), "i.embedding(x)", "F.embedding(i, x)"),
    "gather": (dict(x=BIG, i="#1024 [512, 1024]"), "x.gather(1, i)", "x.gather(1, i)"),
    "index_select": (dict(x=BIG, i="#512 [512]"), "x.index_select(0, i)", "x.index_select(0, i)"),
    "layer_norm": (dict(x=BIG, w="[1024]", b="[1024]"), "x.layer_norm(w, b)", "F.layer_norm(x, (1024,), w, b)"),
    "rms_norm": (dict(x=BIG, w="[1024]"), "x.rms_norm(w)", "x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w"),
    "cross_entropy": (dict(x=BIG, i="#1024 [512]"), "x.cross_entropy(i)", "F.cross_entropy(x, i)"),
    "mse_loss": (dict(x=BIG, b=BIG), "x.mse_loss(b)", "F.mse_loss(x, b)"),
    "matmul": (dict(x="[256, 256]", b="[256, 256]"), "x.matmul(b)", "x @ b"),
    "conv2d": (dict(x="[4, 16, 32, 32]", w="[32, 16, 3, 3]"), "x.conv2d(w, 1, 1)", "F.conv2d(x, w, None, 1, 1)"),
    "max_pool2d": (dict(x="[4, 16, 64, 64]"), "x.max_pool2d(2)", "F.max_pool2d(x, 2)"),
    "topk": (dict(x=BIG), "x.topk(5)", "x.topk(5).values"),
    "conv_transpose2d": (dict(x="[4, 32, 32, 32]", w="[32, 16, 3, 3]"), "x.conv_transpose2d(w, 2, 1)", "F.conv_transpose2d(x, w, None, 2, 1)"),
    "median": (dict(x=BIG), "x.median()", "x.median()"),
    "median 1": (dict(x=BIG), "x.median(1)", "x.median(1).values"),
    "index_add": (dict(x="[512, 64]", i="#512 [8192]", b="[8192, 64]"), "x.index_add(0, i, b)", "x.index_add(0, i, b)"),
    "scatter_add": (dict(x=BIG, i="#512 [512, 1024]", b=BIG), "x.scatter_add(0, i, b)", "x.scatter_add(0, i, b)"),
    "cdist": (dict(x="[512, 64]", b="[512, 64]"), "x.cdist(b)", "torch.cdist(x, b)"),
    "cdist 20": (dict(x="[20, 64]", b="[20, 64]"), "x.cdist(b)", "torch.cdist(x, b)"),
    "cdist l1": (dict(x="[128, 64]", b="[128, 64]"), "x.cdist(b, 1.0)", "torch.cdist(x, b, 1.0)"),
    "svd": (dict(x="[128, 128]"), "x.svd().0", "torch.linalg.svd(x, full_matrices=False)[0]"),
    "eigh": (dict(x="[128, 128]"), "(x + x.t()).eigh().0", "torch.linalg.eigh(x + x.t())[0]"),
    "solve": (dict(x="[128, 128]", b="[128, 16]"), "x.solve(b)", "torch.linalg.solve(x, b)"),
    "inverse": (dict(x="[128, 128]"), "x.inverse()", "torch.linalg.inv(x)"),
    "nonzero": (dict(x=BIG), "(x > 0.5).nonzero()", "(x > 0.5).nonzero()"),
    "randn": (dict(x=BIG), "Tensor::randn_like(x)", "torch.randn_like(x)"),
    "rand": (dict(x=BIG), "Tensor::rand_like(x)", "torch.rand_like(x)"),
    "randperm": (dict(x="[100000]"), "Tensor::randperm(100000)", "torch.randperm(100000)"),
    "multinomial": (dict(x="[10000]"), "x.multinomial(1000, true)", "x.multinomial(1000, True)"),
    "multinomial once": (dict(x="[10000]"), "x.multinomial(1000)", "x.multinomial(1000)"),
    "sort": (dict(x=BIG), "x.sort(1)", "x.sort(1).values"),
    "logcumsumexp": (dict(x=BIG), "x.logcumsumexp(1)", "x.logcumsumexp(1)"),
    "argsort": (dict(x="[100000]"), "x.argsort()", "x.argsort()"),
}


def masu_program(operands, text):
    lines = ["fn main() {"]
    for name, shape in operands.items():
        if shape.startswith("#"):
            count, shape = shape[1:].split(" ", 1)
            make = f"(Tensor::rand({shape}) * {count}.0).floor().to_i64()"
        else:
            make = f"Tensor::rand({shape})"
        lines.append(f"    let {name}s = vec![{make}, {make}];")
    first = {name: f"{name}s[0]" for name in operands}
    lines += [f"    let mut last = {re.sub(r'[a-z]+', lambda m: first.get(m[0], m[0]), text)};", "    let mut best: f64 = 1000000.0;", "    let mut n = 1;", "    let stretches = 150;",
              "    let mut k = 0;", "    while k < stretches {", "        let start = System::time();", "        for r in 0..n {"]
    lines += [f"            let {name} = {name}s[r % 2];" for name in operands]
    lines += [f"            last = {text};", "        }", "        let took = (System::time() - start) as f64;",
              "        if took < 0.002 && k == 0 { n *= 2; } else {", "            let each = took / (n as f64);", "            if each < best { best = each; }",
              "            k += 1;", "        }", "    }", "    println(\"{:.3}\", best * 1000000.0);", "    assert(last.numel() > 0);", "}"]
    return "\n".join(lines) + "\n"


def run_masu(masu, path, threads):
    environment = dict(os.environ, MASU_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    return float(subprocess.run([masu, "run", path], env=environment, capture_output=True, text=True, check=True).stdout)


def run_torch(torch, operands, text):
    import torch.nn.functional as F
    scope = dict(torch=torch, F=F)
    sets = []
    for _ in range(2):
        one = {}
        for name, shape in operands.items():
            if shape.startswith("#"):
                count, shape = shape[1:].split(" ", 1)
                one[name] = torch.randint(0, int(count), eval(shape))
            else:
                one[name] = torch.rand(eval(shape))
        sets.append(one)
    call = eval(f"lambda {', '.join(operands)}: {text}", scope)
    best, n, k = 1e6, 1, 0
    with torch.no_grad():
        while k < 150:
            start = time.perf_counter()
            for r in range(n):
                last = call(**sets[r % 2])
            took = time.perf_counter() - start
            if took < 0.002 and k == 0:
                n *= 2
                continue
            best = min(best, took / n)
            k += 1
    return best * 1e6


def main():
    arguments = sys.argv[1:]
    options = {"--threads": 1, "--rounds": 2}
    for option in options:
        if option in arguments:
            at = arguments.index(option)
            options[option] = int(arguments[at + 1])
            del arguments[at:at + 2]
    keep = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
    if any(name not in os.environ for name in keep): # glibc reads them when a process starts
        os.execve(sys.executable, [sys.executable] + sys.argv, dict(keep, **os.environ))
    import torch
    torch.set_num_threads(options["--threads"])
    print(f"| operation | masu µs | PyTorch µs | PyTorch / masu |\n|---|---:|---:|---:|")
    for name, (operands, masu, call) in OPS.items():
        if arguments[1:] and name not in arguments[1:]:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".tl") as file:
            file.write(masu_program(operands, masu))
            file.flush()
            ours, theirs = [], []
            for _ in range(options["--rounds"]):
                ours.append(run_masu(arguments[0], file.name, options["--threads"]))
                theirs.append(run_torch(torch, operands, call))
        print(f"| {name} | {min(ours):.1f} | {min(theirs):.1f} | {min(theirs) / min(ours):.2f} |", flush=True)


main()
