#!/usr/bin/python3
"""What `masu check` or `masu run` costs by the size of the program: CPU time beyond `masu version`, which starts and ends.

    scripts/check_speed.py BUILD/masu [--svg docs/check-speed.svg] [--runs 9]
    scripts/check_speed.py BUILD/masu --command run --svg docs/run-speed.svg
    scripts/check_speed.py BUILD/masu --command run --one-function

Programs of 250 to 16,000 lines are made of the same pieces (structs, methods, loops, matches, closures, tensors,
comprehensions), or, with --one-function, of one `main` that grows. Each size and `masu version` take turns; the median of the runs counts. Prints a table; the picture is an
SVG without outside references.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile

SIZES = [250, 500, 1000, 2000, 4000, 8000, 16000]

PIECE = """struct Layer@ { w: Tensor, b: Tensor, hits: i64 }
impl Layer@ {
    fn new(n: i64, m: i64) -> Layer@ {
        Layer@ { w: Tensor::randn([n, m]) * 0.1, b: Tensor::zeros([m]), hits: 0 }
    }
    fn forward(self, x: Tensor) -> Tensor {
        self.hits += 1;
        let h = x.matmul(self.w) + self.b;
        if self.hits % 2 == 0 { h.relu() } else { h.tanh() }
    }
}
fn work@(n: i64) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::new();
    for k in 0..n {
        let square = k * k;
        match square % 5 {
            0 => found.push(square),
            1 | 4 => {
                let half = square / 2 + k;
                found.push(half);
            }
            _ => continue,
        }
    }
    let total = found.iter().map(|v| v * 2).filter(|v| v % 3 == 0).sum();
    println("{} {:>6}", found.len(), total);
    found
}
fn step@(x: Tensor) -> f32 {
    let mut layer = Layer@::new(8, 4);
    let mut total = 0.0;
    while layer.hits < 10 {
        let y = layer.forward(x);
        let best = y.softmax(1).max();
        total += best.item();
        if total > 100.0 { break; }
    }
    let c = [a, b | a <- 0..4, b <- 0..4, a != b { (a * 4 + b) as f32 }];
    total + c.sum().item()
}
"""


def program(lines):
    """About that many lines; returns the text."""
    pieces = []
    while sum(p.count("\n") + 1 for p in pieces) + 3 < lines:
        pieces.append(PIECE.replace("@", str(len(pieces))))
    calls = ['    println("{} {}", work%d(%d).len(), step%d(x));' % (i, i, i) for i in range(len(pieces))]
    return "".join(pieces) + "fn main() {\n    let x = Tensor::ones([2, 8]);\n" + "\n".join(calls) + "\n}\n"


BODY = """    let a@ = @ * 3 + t;
    if a@ % 2 == 0 { t += a@; } else { t -= 1; }
    let y@ = x * @.0 + 1.0;
    for k in 0..3 { t += k; }
    s += y@.sum().item();
"""


def one_function(lines):
    """About that many lines in a single function; returns the text."""
    bodies = [BODY.replace("@", str(i)) for i in range(lines // BODY.count("\n"))]
    return ("fn main() {\n    let mut t = 0;\n    let mut s = 0.0;\n    let x = Tensor::ones([2, 8]);\n" + "".join(bodies)
            + '    println("{} {}", t, s);\n}\n')


def cpu_ms(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(masu, runs, command, make, sizes):
    """[(lines, ms beyond start-up)], ms of start-up."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for size in sizes:
            path = os.path.join(folder, "%d.tl" % size)
            text = make(size)
            with open(path, "w") as out:
                out.write(text)
            files.append((text.count("\n"), path))
        start, times = [], {path: [] for _, path in files}
        for _ in range(runs):
            start.append(cpu_ms([masu, "version"]))
            for _, path in files:
                times[path].append(cpu_ms([masu, command, path]))
        idle = statistics.median(start)
        return [(lines, statistics.median(times[path]) - idle) for lines, path in files], idle


def line_through(points):
    """Least squares: ms at 0 lines, ms a line."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)
    return my - slope * mx, slope


def svg(points, path, command):
    width, height, left, bottom = 640, 320, 60, 280
    top_x, top_y = max(x for x, _ in points) * 1.05, max(y for _, y in points) * 1.1
    px = lambda x: left + x / top_x * (width - left - 20)
    py = lambda y: bottom - y / top_y * (bottom - 20)
    at_zero, slope = line_through(points)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (width, height),
           '<rect width="100%" height="100%" fill="white"/>',
           '<path d="M%d 20V%dH%d" fill="none" stroke="black"/>' % (left, bottom, width - 20)]
    for x in range(0, int(top_x), 1000 if top_x < 10000 else 2000):
        out.append('<text x="%.0f" y="%d" text-anchor="middle">%d</text>' % (px(x), bottom + 16, x))
    step = 10 ** (len(str(int(top_y))) - 1)
    step = step if top_y / step >= 4 else step / 2
    y = 0
    while y < top_y:
        out.append('<text x="%d" y="%.0f" text-anchor="end">%g</text>' % (left - 6, py(y) + 4, y))
        y += step
    out.append('<text x="%d" y="%d" text-anchor="middle">lines</text>' % ((left + width) / 2, height - 6))
    out.append('<text x="12" y="14">masu %s: ms of CPU time beyond starting</text>' % command)
    out.append('<path d="M%.1f %.1fL%.1f %.1f" stroke="#888" stroke-dasharray="4"/>'
               % (px(0), py(max(at_zero, 0)), px(top_x), py(at_zero + slope * top_x)))
    for x, y in points:
        out.append('<circle cx="%.1f" cy="%.1f" r="4" fill="#1f5fa8"/>' % (px(x), py(y)))
    out.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("masu")
    options.add_argument("--command", choices=["check", "run"], default="check")
    options.add_argument("--one-function", action="store_true")
    options.add_argument("--most", type=int, default=SIZES[-1], help="the longest program, in lines")
    options.add_argument("--svg")
    options.add_argument("--runs", type=int, default=9)
    options = options.parse_args()
    points, idle = measure(options.masu, options.runs, options.command, one_function if options.one_function else program,
                           [size for size in SIZES if size <= options.most])
    at_zero, slope = line_through(points)
    print("start-up (masu version)  %6.1f ms" % idle)
    for lines, ms in points:
        print("%5d lines              %6.1f ms beyond start-up, %5.1f us a line" % (lines, ms, ms * 1e3 / lines))
    print("fitted: %.1f ms + %.1f us a line" % (at_zero, slope * 1e3))
    if options.svg:
        svg(points, options.svg, options.command)


if __name__ == "__main__":
    main()
