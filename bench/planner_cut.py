#!/usr/bin/env python3
"""Rectangles cut into pieces and planned again: how far above the height they were cut from.

    bench/planner_cut.py build/release/masu [--seconds 5] [--seeds 1] [--pieces 1000,3000,10000]

Each row is a number of pieces, how much of the time's resolution there is (moments per piece), how many pieces are fixed where
they were, and which piece is cut next: the largest, or one at random. One thread. Per cent above the bound, one figure a seed.
--room 10 makes each piece that is not fixed 10 % smaller: figures are then per cent above the height that was cut, 0 where it is reached.
"""
import argparse
import heapq
import random
import re
import subprocess
import tempfile

HEIGHT, UNIT = 1 << 20, 64


def cut(piece, moments, rng):
    """The two halves by a straight cut, mostly across the longer side; None: too small."""
    lower, upper, bottom, top = piece
    length, rows = upper - lower, (top - bottom) // UNIT
    if length < 2 and rows < 2:
        return None
    upright = length / moments * rng.uniform(0.5, 2) > rows * UNIT / HEIGHT * rng.uniform(0.5, 2)
    upright = rows < 2 or (upright and length >= 2)
    if upright:
        at = lower + max(1, min(length - 1, int(length * rng.uniform(0.2, 0.8))))
        return (lower, at, bottom, top), (at, upper, bottom, top)
    at = bottom + UNIT * max(1, min(rows - 1, int(rows * rng.uniform(0.2, 0.8))))
    return (lower, upper, bottom, at), (lower, upper, at, top)


def pieces_of(count, moments, largest_first, rng):
    whole = (0, moments, 0, HEIGHT)
    if not largest_first:
        pieces = [whole]
        while len(pieces) < count:
            at = rng.randrange(len(pieces))
            halves = cut(pieces[at], moments, rng)
            if halves:
                pieces[at] = halves[0]
                pieces.append(halves[1])
        return pieces
    heap, number, small = [(-moments * HEIGHT, 0, whole)], 1, []
    while len(heap) + len(small) < count:
        piece = heapq.heappop(heap)[2]
        halves = cut(piece, moments, rng)
        if not halves:
            small.append(piece)
            continue
        for half in halves:
            heapq.heappush(heap, (-(half[1] - half[0]) * (half[3] - half[2]), number, half))
            number += 1
    return [entry[2] for entry in heap] + small


def above(masu, seconds, pieces, fixed, rng, room):
    rng.shuffle(pieces)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("id,lower,upper,size,offset\n")
        for number, (lower, upper, bottom, top) in enumerate(pieces):
            offset = bottom if rng.random() < fixed else ""
            size = top - bottom if offset != "" else max(UNIT, int((top - bottom) * (1 - room / 100)) // UNIT * UNIT)
            file.write(f"{number},{lower},{upper},{size},{offset}\n")
        file.flush()
        wanted = ["--capacity", str(HEIGHT)] if room else ["--minimize"]
        said = subprocess.run([masu, "plan", file.name, "--time", str(seconds), "--threads", "1", *wanted],
                              capture_output=True, text=True).stdout
    if room:
        return max(0.0, 100 * (int(re.search(r"height ([0-9,]+)", said).group(1).replace(",", "")) / HEIGHT - 1))
    found = re.search(r"([0-9.]+) % above", said)
    return float(found.group(1)) if found else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("masu")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--pieces", default="1000,3000,10000")
    parser.add_argument("--moments", default="1,4,20")
    parser.add_argument("--fixed", default="0,1,10,25", help="per cent of the pieces")
    parser.add_argument("--room", type=float, default=0)
    args = parser.parse_args()
    for count in map(int, args.pieces.split(",")):
        for per_piece in map(int, args.moments.split(",")):
            for fixed in (float(f) / 100 for f in args.fixed.split(",")):
                for largest_first in (True, False):
                    figures = []
                    for seed in range(1, args.seeds + 1):
                        rng = random.Random(seed)
                        pieces = pieces_of(count, count * per_piece, largest_first, rng)
                        figures.append(above(args.masu, args.seconds, pieces, fixed, rng, args.room))
                    print(f"{count:6} pieces, {per_piece:2} moments each, {100 * fixed:4.0f} % fixed, "
                          f"{'largest first' if largest_first else 'at random':13}: "
                          + ", ".join(f"{figure:.2f} %" for figure in figures), flush=True)


main()
