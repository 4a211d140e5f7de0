# What a recording costs: the same program as it is, with MASU_TRACE, and as it is again, in turns that begin with
# another one each time. Processor time of the whole process, user and system, as the kernel counts it.
#
#     chrt -f 10 python3 bench/traced.py ROUNDS PROGRAM [ARGUMENT…]
#
# The third column says how far the machine can be trusted: it is the first one once more. chrt keeps others from the
# processor while a turn runs.
import os
import statistics
import sys
import tempfile


def seconds_of(command, trace):
    child = os.fork()
    if child == 0:
        if trace:
            os.environ["MASU_TRACE"] = trace
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execvp(command[0], command)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"traced: {command[0]} ended with status {status}")
    return used.ru_utime + used.ru_stime


def say(what, ratios):  # a median's own standard error is 1.25 of the mean's
    doubt = 1.25 * statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
    print(f"{what}: median of {len(ratios)} rounds {statistics.median(ratios):.4f} ± {doubt:.4f}")


def main(rounds, command):
    columns = ["plain", "traced", "plain again"]
    seconds = {name: [] for name in columns}
    os.environ.pop("MASU_TRACE", None)
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(-1, rounds):  # the first is not counted
            for k in range(3):
                name = columns[(turn + k) % 3]
                took = seconds_of(command, os.path.join(folder, "trace") if name == "traced" else None)
                if turn >= 0:
                    seconds[name].append(took)
    for name in columns:
        ordered = sorted(seconds[name])
        print(f"{name:12} least {ordered[0]:.4f} s   five least {statistics.mean(ordered[:5]):.4f} s   "
              f"median {statistics.median(ordered):.4f} s")
    plain = [(a + b) / 2 for a, b in zip(seconds["plain"], seconds["plain again"])]
    say("traced ÷ plain", [t / p for t, p in zip(seconds["traced"], plain)])
    say("plain again ÷ plain", [b / a for a, b in zip(seconds["plain"], seconds["plain again"])])


if len(sys.argv) < 3 or not sys.argv[1].isdigit() or int(sys.argv[1]) < 1:
    sys.exit("usage: traced.py ROUNDS PROGRAM [ARGUMENT...]")
main(int(sys.argv[1]), sys.argv[2:])
