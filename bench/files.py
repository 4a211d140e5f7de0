"""Reading numbers from text, and tensors to and from files, beside plain Python, NumPy and PyTorch: processor seconds.

    /usr/bin/python3 bench/files.py [MASU] [ROUNDS]      needs NumPy; PyTorch where it is there

Each side is a process of its own, in turns, and does the same: `text` reads 4.7 million numbers (470,000 records of ten) and sums
them; `npy`, `npz` and `safetensors` write and read 256 MiB of f32. The medians of ROUNDS (5) rounds of user and system time are shown, start and
imports (masu: compilation) cancelled by a run that does nothing; for tensors by one that writes or reads four numbers.
"""
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

PYTHON = {
    "nothing": "import csv",
    "text, csv module": "import csv\nr = csv.reader(open(P)); next(r)\nrows = [[float(x) for x in row] for row in r]\nprint(len(rows))",
    "text, split": "f = open(P); next(f)\ns = 0.0\nfor line in f:\n    for x in line.split(','): s += float(x)\nprint(s)",
    "nothing, numpy": "import numpy as np",
    "nothing, write": "import numpy as np\nx = np.ones((2, 2), np.float32)\nnp.save(Q + '4.npy', x)\n",
    "nothing, read": "import numpy as np\nprint(np.load(Q + '4.npy').sum())",
    "text, numpy.loadtxt": "import numpy as np\nprint(np.loadtxt(P, delimiter=',', skiprows=1).shape)",
    "npy, write": "import numpy as np\nx = np.ones((8192, 8192), np.float32)\nnp.save(Q + '.npy', x)\n",
    "npy, read": "import numpy as np\nprint(np.load(Q + '.npy').sum())",
    "npz, write": "import numpy as np\nx = np.ones((8192, 8192), np.float32)\nnp.savez(Q + '.npz', x=x)\n",
    "npz, read": "import numpy as np\nprint(np.load(Q + '.npz')['x'].sum())",
}
MASU = {
    "nothing": "fn main() {}",
    "nothing, write": 'fn main() { let x = Tensor::ones([2, 2]); x.save("Q.4.npy"); }',
    "nothing, read": 'fn main() { let x: Tensor<f32, 2> = Tensor::load("Q.4.npy"); println!("{}", x.sum()); }',
    "text, Tensor::read_csv": 'fn main() { let t: Tensor<f64, 2> = Tensor::read_csv("P"); println!("{}", t.sum()); }',
    "text, records": "struct R { a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, g: f64, h: f64, i: f64, j: f64 }\n"
                     'fn main() { let rows: Vec<R> = Csv::new("P").records(); println!("{}", rows.len()); }',
    "text, split": "use std::io::{BufRead, BufReader};\nfn main() {\n    let mut s = 0.0f64;\n"
                   '    for line in BufReader::new(std::fs::File::open("P").unwrap()).lines().skip(1) {\n'
                   "        for x in line.unwrap().split(',') { s += x.parse::<f64>().unwrap(); }\n    }\n    println!(\"{}\", s);\n}",
    "npy, write": 'fn main() { let x = Tensor::ones([8192, 8192]); x.save("Q.npy"); }',
    "npy, read": 'fn main() { let x: Tensor<f32, 2> = Tensor::load("Q.npy"); println!("{}", x.sum()); }',
    "npz, write": 'fn main() { let x = Tensor::ones([8192, 8192]); x.save("Q.npz"); }',
    "npz, read": 'fn main() { let x: Tensor<f32, 2> = Tensor::load("Q.npz"); println!("{}", x.sum()); }',
    "safetensors, write": 'fn main() { let x = Tensor::ones([8192, 8192]); x.save("Q.safetensors"); }',
    "safetensors, read": 'fn main() { let x: Tensor<f32, 2> = Tensor::load("Q.safetensors"); println!("{}", x.sum()); }',
}


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    masu = sys.argv[1] if len(sys.argv) > 1 else "build/release/masu"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        text, stem = folder + "/x.csv", folder + "/x"
        random.seed(1)
        with open(text, "w") as f:
            f.write("a,b,c,d,e,f,g,h,i,j\n")
            for _ in range(470000):
                f.write(",".join("%.6f" % random.gauss(0, 100) for _ in range(10)) + "\n")
        commands = {}
        for name, body in PYTHON.items():
            commands["Python: " + name] = [sys.executable, "-c", body.replace("P)", repr(text) + ")").replace(
                "loadtxt(P", "loadtxt(" + repr(text)).replace("Q ", repr(stem) + " ")]
        for name, body in MASU.items():
            path = f"{folder}/{len(commands)}.tl"
            with open(path, "w") as f:
                f.write(body.replace('"P"', f'"{text}"').replace('"Q.', f'"{stem}.'))
            commands["masu: " + name] = [masu, "run", path]
        times = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                times[name].append(seconds(command))
        middle = {name: statistics.median(t) for name, t in times.items()}
        for name, median in middle.items():
            if "nothing" in name:
                continue
            side, work = name.split(": ", 1)
            ends = [", " + way for way in ("write", "read") if work.endswith(", " + way)] or [", numpy" if "numpy" in work else ""]
            start = middle[f"{side}: nothing{ends[0]}"]
            print(f"{name:32} {median - start:7.3f} s   (lowest {min(times[name]) - start:.3f}, highest {max(times[name]) - start:.3f})")


main()
