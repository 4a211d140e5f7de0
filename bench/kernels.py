#!/usr/bin/env python3
"""Problems of kernel compilers from dsa-solver, planned by `masu plan`, judged here, and compared with what was published.

    MASU_DATA=… bench/kernels.py MASU [--time S] [--threads N] [--synthetic] [--slowest N]

MASU is the command; $MASU_DATA holds dsa-solver/dsa-solver-corpus-*.tar.gz and dsa-solver/standard-v1-summary.csv. The judge is
this file: it reads the problem and the placements and knows nothing of masu. --synthetic: the eleven lifts of MiniMalloc's
problems instead of the 860 that compilers made. What was published is peaks of single pools, of sizes and lives alone: these are
planned in that form, too. The status is 1 when a plan is wrong, or higher than a published one, or lower than one that was proven.
"""
import argparse
import collections
import csv
import glob
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile


def overlap(a, at, b, other):
    return a["size"] > 0 and b["size"] > 0 and at < other + b["size"] and other < at + a["size"]


def live_together(a, b):
    return any(x["lower"] < y["upper"] and y["lower"] < x["upper"] for x in a["live_intervals"] for y in b["live_intervals"])


def judge(problem, placements):
    """What is wrong with the placements (None: nothing), the peak of each pool, and the cost of pairs that share bytes."""
    buffers = {b["id"]: b for b in problem["buffers"]}
    pools = {p["id"]: p for p in problem["pools"]}
    place = {p["buffer"]: (p["pool"], p["offset"]) for p in placements}
    if sorted(place) != sorted(buffers) or len(placements) != len(buffers):
        return "not every buffer once", {}, 0
    peak = collections.defaultdict(int)
    for i, b in buffers.items():
        pool, at = place[i]
        if pool not in b["allowed_pools"]:
            return f"buffer {i} in a pool that it must not be in", {}, 0
        if at % b["alignment"]:
            return f"buffer {i} is not aligned", {}, 0
        peak[pool] = max(peak[pool], at + b["size"])
        capacity = pools[pool]["capacity"]
        if capacity is not None and at + b["size"] > capacity:
            return f"buffer {i} ends above the capacity", {}, 0
        for r in pools[pool]["reserved_ranges"]:
            if at < r["end"] and r["begin"] < at + b["size"]:
                return f"buffer {i} on a reserved range", {}, 0
    c = problem["constraints"]
    together = {frozenset((p["first"], p["second"])) for p in c["colocations"]}
    never = {frozenset((p["first"], p["second"])) for p in c["temporal_exclusions"]}
    ids = sorted(buffers)
    for n, i in enumerate(ids):
        for j in ids[:n]:
            pair = frozenset((i, j))
            if (place[i][0] == place[j][0] and overlap(buffers[i], place[i][1], buffers[j], place[j][1])
                    and live_together(buffers[i], buffers[j]) and pair not in together | never):
                return f"buffers {j} and {i} overlap", {}, 0
    for p in c["colocations"]:
        if place[p["first"]] != place[p["second"]]:
            return f"buffers {p['first']} and {p['second']} are not at one place", {}, 0
    for p in c["separations"]:
        a, b = p["first"], p["second"]
        if place[a][0] == place[b][0] and overlap(buffers[a], place[a][1], buffers[b], place[b][1]):
            return f"buffers {a} and {b} are not separate", {}, 0
    for p in c["pinned_allocations"]:
        if place[p["buffer"]] != (p["pool"], p["offset"]):
            return f"buffer {p['buffer']} is not where it is pinned", {}, 0
    cost = sum(p["cost"] for p in problem.get("cost_model", {}).get("reuse_penalties", [])
               if place[p["first"]][0] == place[p["second"]][0]
               and overlap(buffers[p["first"]], place[p["first"]][1], buffers[p["second"]], place[p["second"]][1]))
    return None, peak, cost


def published(folder):
    """The lowest peak of all published methods, by the file's path and the pool's name; and which are said to be optimal."""
    best = {}
    with open(os.path.join(folder, "standard-v1-summary.csv"), newline="") as f:
        for row in csv.DictReader(f):
            if not row["best_peak"]:
                continue
            synthetic = not row["source"].startswith("benchmarks/")
            key = (f"benchmarks/minimalloc-dsa-rp/{row['instance'][0]}.json", "default") if synthetic else (row["source"], row["instance"].rsplit("::", 1)[1])
            peak = int(row["best_peak"])
            proven = row["certified_optimal"] == "true"
            if key in best:
                peak, proven = min(peak, best[key][0]), proven or best[key][1]
            best[key] = (peak, proven)
    return best


def standard(masu, problem, pool, known, options, work):
    """One pool as it was published: sizes and lives alone. What is wrong (None: nothing), the height, and whether it is proven."""
    rows = [(b["id"], b["live_intervals"][0]["lower"], b["live_intervals"][-1]["upper"], b["size"])
            for b in problem["buffers"] if b["allowed_pools"] == [pool["id"]]]
    table, plan = os.path.join(work, "table.csv"), os.path.join(work, "plan.csv")
    with open(table, "w") as f:
        f.write("id,lower,upper,size\n" + "".join("%d,%d,%d,%d\n" % r for r in rows))
    run = subprocess.run([masu, "plan", table, "--output", plan, *options], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip(), 0, False
    with open(plan, newline="") as f:
        at = {int(r["id"]): int(r["offset"]) for r in csv.DictReader(f)}
    for n, (i, lower, upper, size) in enumerate(rows):
        for j, low, up, other in rows[:n]:
            if lower < up and low < upper and at[i] < at[j] + other and at[j] < at[i] + size:
                return f"buffers {j} and {i} overlap", 0, False
    height, proven = max(at[i] + size for i, _, _, size in rows), ", optimal;" in run.stdout
    peak, certified = known
    wrong = f"{height}, published {peak}" if height > peak or (height < peak and certified) else None
    return wrong, height, proven


def main():
    options = argparse.ArgumentParser()
    options.add_argument("masu")
    options.add_argument("--time", default="10")
    options.add_argument("--threads", default="1")
    options.add_argument("--synthetic", action="store_true")
    options.add_argument("--slowest", type=int, default=5)
    a = options.parse_args()
    folder = os.path.join(os.environ.get("MASU_DATA", "."), "dsa-solver")
    archives = glob.glob(os.path.join(folder, "dsa-solver-corpus-*.tar.gz"))
    if not archives:
        sys.exit(f"{folder}: no dsa-solver-corpus-*.tar.gz (set MASU_DATA)")
    best, count, faults, open_ones = published(folder), collections.Counter(), [], []
    kinds = collections.defaultdict(collections.Counter)
    slowest = []
    with tempfile.TemporaryDirectory() as work, tarfile.open(archives[0]) as archive:
        for member in archive:
            name = member.name[2:] if member.name.startswith("./") else member.name
            if not name.endswith(".json") or not name.startswith("benchmarks/minimalloc" if a.synthetic else "benchmarks/pypto"):
                continue
            data = archive.extractfile(member).read()
            document = json.loads(data)
            problem_file, plan_file = os.path.join(work, "problem.json"), os.path.join(work, "plan.json")
            with open(problem_file, "wb") as f:
                f.write(data)
            if os.path.exists(plan_file):
                os.remove(plan_file)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run([a.masu, "plan", problem_file, "--output", plan_file, "--json", "--time", a.time, "--threads", a.threads],
                                 capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            count["cpu"] += spent
            slowest.append((spent, name))
            count["problems"] += 1
            if not run.stdout.strip():
                faults.append(f"{name}: {run.stderr.strip()}")
                continue
            said = json.loads(run.stdout)["pools"]
            for pool in document["problem"]["pools"]:
                if (name, pool["name"]) not in best:
                    continue
                known = best[name, pool["name"]]
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                wrong, height, proven = standard(a.masu, document["problem"], pool, known, ["--time", a.time, "--threads", a.threads], work)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                count["standard cpu"] += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                count["compared"] += 1
                count["proven"] += proven
                count[("lower", "equal", "higher")[(height > known[0]) - (height < known[0]) + 1]] += 1
                if wrong:
                    faults.append(f"{name} {pool['name']} alone: {wrong}")
            count["seconds"] += sum(p["seconds"] for p in said)
            pays = any("reuse_cost" in p for p in said) or "reuse_cost" in document["problem"]["objective"]["terms"]
            kind = kinds["least reuse cost" if pays else "lowest"]
            kind["problems"] += 1
            kind["pools"] += sum(p["buffers"] > 0 for p in said)
            if run.returncode != 0:
                proven = all(p["planned"] or p["infeasible"] for p in said)
                kind["cannot fit, proven" if proven else "no plan found"] += 1
                continue
            with open(plan_file) as f:
                wrong, peak, cost = judge(document["problem"], json.load(f)["placements"])
            if wrong or any(peak[p["pool"]] != p["height"] for p in said) or (pays and cost != sum(p["reuse_cost"] for p in said)):
                faults.append(f"{name}: {wrong or 'what is said of the plan is not so'}")
                continue
            kind["judged right"] += 1
            best_known = all(p["reuse_cost"] == p["reuse_cost_bound"] if pays else p["optimal"] for p in said)
            kind["proven best"] += best_known
            if not best_known:
                open_ones.append(f"{name}: " + ", ".join(f"{p['name']} {p['reuse_cost']} >= {p['reuse_cost_bound']}" if pays else f"{p['name']} {p['height']} >= {p['lower_bound']}" for p in said if p["buffers"]))
            kind["cost"] += cost if pays else 0
    print("| objective | problems | pools | judged right | of these proven best | cannot fit, proven | no plan found | cost paid |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, c in sorted(kinds.items()):
        print(f"| {kind} | {c['problems']} | {c['pools']} | {c['judged right']} | {c['proven best']} | {c['cannot fit, proven']} | {c['no plan found']} | {c['cost']} |")
    print(f"\n{count['problems']} problems: commands {count['cpu']:.2f} s of processor time, planning {count['seconds']:.2f} s of wall clock")
    print(f"{count['compared']} pools as published: {count['lower']} lower, {count['equal']} equal, {count['higher']} higher; "
          f"{count['proven']} proven; commands {count['standard cpu']:.2f} s of processor time")
    for spent, name in sorted(slowest, reverse=True)[:a.slowest]:
        print(f"  {spent:.2f} s {name}")
    for one in open_ones:
        print(f"OPEN {one}")
    for fault in faults:
        print(f"FAULT {fault}")
    sys.exit(1 if faults else 0)


main()
