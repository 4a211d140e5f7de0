"""Plans of `masu plan --moves --in-place --reorder`, run on bytes; and every order of small graphs by itself.

    plan_moves_bytes.py MASU FOLDER GRAPHS

An operator that may work in place computes byte i of its result from bytes i of its operands and writes it at once; any other reads all
its operands again for each byte that it writes. Moves fill their target with nonsense when they begin and with what the source has when they
end. A plan is wrong when a byte of a result differs, or when its cost is not what was read, written and moved.
"""
import itertools
import json
import random
import subprocess
import sys

masu, folder, graphs = sys.argv[1], sys.argv[2], int(sys.argv[3])
IN_PLACE = ("Relu", "Add")


def draw(rng):
    rows, ops = {}, []  # row: bytes
    for i in range(rng.randint(1, 2)):
        rows["x%d" % i] = rng.choice((4, 8))
    for k in range(rng.randint(4, 7)):
        first = rng.choice(list(rows) if rng.random() < 0.4 else list(rows)[-2:])
        kind = rng.choice(("Conv", "Relu", "Relu", "Add", "Reshape"))
        inputs = [first]
        if kind in ("Add", "Conv") and rng.random() < 0.7:
            same = [r for r in rows if r != first and (kind == "Conv" or rows[r] == rows[first])]
            inputs += [rng.choice(same)] if same else []
        inputs += inputs[-1:] * rng.choice((0, 0, 3)) if kind == "Conv" else []
        rows["r%d" % k] = rng.choice((4, 8, 12)) if kind == "Conv" else rows[first]
        ops.append((kind, inputs, "r%d" % k))
    return rows, ops


def lives(rows, ops):
    out = {}
    for row in rows:
        made = [t for t, op in enumerate(ops) if op[2] == row]
        read = [t for t, op in enumerate(ops) if row in op[1]]
        out[row] = (made[0] if made else 0, read[-1] + 1 if read else len(ops))
    return out


def plan(rows, ops, options):
    when = lives(rows, ops)
    with open(folder + "/g.csv", "w") as file:
        file.write("id,lower,upper,size\n" + "".join("%s,%d,%d,%d\n" % (r, *when[r], rows[r]) for r in rows))
    with open(folder + "/g.ops.csv", "w") as file:
        file.write("op,type,inputs,outputs\n" + "".join("%d,%s,%s,%s\n" % (k, op[0], " ".join(op[1]), op[2]) for k, op in enumerate(ops)))
    done = subprocess.run([masu, "plan", folder + "/g.csv", "--ops", folder + "/g.ops.csv", "--moves", "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def mix(values, i):
    x = 17 + i
    for v in values:
        x = (x * 31 + v) % 251
    return x


def result(kind, operands, size):
    if kind == "Reshape":
        return list(operands[0])
    return [mix([o[i] for o in operands] if kind in IN_PLACE else [b for o in operands for b in o], i) for i in range(size)]


def run(rows, ops, found, say):
    """The cost that the plan has; raises where a byte is wrong."""
    order = [ops[k] for k in found.get("order", range(len(ops)))]
    when = lives(rows, order)
    cost_of = {m["name"]: m["cost"] for m in found["memories"]}
    memory = {m["name"]: [0] * m["used"] for m in found["memories"]}
    for m in found["memories"]:
        assert not m["capacity"] or m["used"] <= m["capacity"], say
    views = {(i["over"], i["id"]) for i in found.get("in_place", []) if i["view"]}
    arrives = {(m["id"], m["to"], m["to_offset"], m["begin_operator"]): m["end_operator"] for m in found["moves"]}
    cost = sum(m["bytes"] * (cost_of[m["from"]] + cost_of[m["to"]]) for m in found["moves"])
    value = {r: [(ord(r[1]) * 7 + i) % 251 for i in range(rows[r])] for r in rows if r[0] == "x"}

    def place(row, t):
        valid = [p for p in found["places"] if p["id"] == row and p["lower"] <= t < p["upper"]
                 and arrives.get((row, p["memory"], p["offset"], p["lower"]), p["lower"]) <= t]
        assert valid, (say, row, t, "is nowhere")
        return min(valid, key=lambda p: cost_of[p["memory"]])

    def look(row, t):
        p = place(row, t)
        return memory[p["memory"]][p["offset"]:p["offset"] + rows[row]]

    for p in found["places"]:  # what is there from the beginning
        if p["id"][0] == "x" and p["lower"] == 0:
            memory[p["memory"]][p["offset"]:p["offset"] + rows[p["id"]]] = value[p["id"]]
    for t, (kind, inputs, output) in enumerate(order):
        for m in found["moves"]:
            if m["end_operator"] == t:
                memory[m["to"]][m["to_offset"]:m["to_offset"] + m["bytes"]] = memory[m["from"]][m["from_offset"]:m["from_offset"] + m["bytes"]]
        for m in found["moves"]:
            if m["begin_operator"] == t:
                memory[m["to"]][m["to_offset"]:m["to_offset"] + m["bytes"]] = [255] * m["bytes"]
        value[output] = result(kind, [value[r] for r in inputs], rows[output])
        to = place(output, t)
        is_view = any((r, output) in views for r in inputs)
        if is_view:
            source = place(inputs[0], t)
            assert (source["memory"], source["offset"]) == (to["memory"], to["offset"]), (say, output)
        else:
            cost += sum(rows[r] * cost_of[place(r, t)["memory"]] for r in inputs) + rows[output] * cost_of[to["memory"]]
            for i in range(rows[output]):
                memory[to["memory"]][to["offset"] + i] = result(kind, [look(r, t) for r in inputs], rows[output])[i]
        for r in rows:  # what is needed later is there
            if r in value and when[r][0] <= t and t + 1 < when[r][1] or r == output:
                assert look(r, t) == value[r], (say, r, t, "has other bytes")
    return cost


def orders(ops):
    for order in itertools.permutations(range(len(ops))):
        made = {op[2] for op in ops}
        for k in order:
            if any(r in made for r in ops[k][1]):
                break
            made.discard(ops[k][2])
        else:
            yield [ops[k] for k in order]


def main():
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 21)
    shared = moved = reordered = proven = checked = 0
    for number in range(graphs):
        rows, ops = draw(rng)
        options = ["--memory", "fast=%d,slow" % rng.choice((12, 16, 20))]
        options += ["--channel", str(rng.choice((2, 4, 8)))] if rng.random() < 0.5 else []
        say = (number, rows, ops, options)
        costs = []
        for ways in ([], ["--in-place"], ["--in-place", "--reorder"]):
            found = plan(rows, ops, options + ways)
            assert isinstance(found, dict), (say, found)
            assert found["at_least"] <= found["cost"], say
            proven += found["proven"]
            moved += len(found["moves"]) > 0
            assert run(rows, ops, found, say) == found["cost"], (say, ways, found["cost"])
            costs.append(found["cost"])
        assert costs[0] >= costs[1] >= costs[2], (say, costs)
        shared += costs[1] < costs[0]
        reordered += costs[2] < costs[1]
        every = list(itertools.islice(orders(ops), 49))
        assert found["all_orders"] == (len(every) <= 48), say
        if len(every) <= 12 and checked < graphs // 8:
            checked += 1
            each = [plan(rows, order, options + ["--in-place"]) for order in every]
            assert min(e["cost"] for e in each) == costs[2], (say, costs)
    assert shared > graphs // 4 and moved > graphs // 8 and reordered > graphs // 20 and proven > 2 * graphs, (shared, moved, reordered, proven)
    assert checked == graphs // 8, checked


main()
