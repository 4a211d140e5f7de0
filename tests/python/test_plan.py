"""plan(), and what the commands report and whatif say of a recorded run."""

import os
import random
import subprocess

import numpy as np
import pytest

import masu

COMMAND = os.environ.get("MASU", "masu")


def judged(lives, plan):
    """Quadratic and obvious: no two that live at once share a byte, all lie inside, all are aligned."""
    for i, (size, lower, upper, *alignment) in enumerate(lives):
        at = plan.offsets[i]
        assert at + size <= plan.height and at % (alignment[0] if alignment and alignment[0] else 1) == 0
        for j in range(i):
            other = lives[j]
            if lower < other[2] and other[1] < upper:
                assert at + size <= plan.offsets[j] or plan.offsets[j] + other[0] <= at
    return plan


def test_a_plan_that_is_known():
    lives = [(3, 0, 2), (2, 2, 3), (2, 1, 4), (4, 3, 6)]
    plan = judged(lives, masu.plan(lives))
    assert (plan.height, plan.lower_bound, plan.outcome) == (6, 6, "optimal") and plan.method and plan.seconds >= 0
    assert masu.plan([]).offsets == [] and masu.plan([]).height == 0
    assert masu.plan([(0, 0, 1)]).offsets == [0]


def test_random_plans_are_right():
    dice = random.Random(4)
    for _ in range(20):
        lives = []
        for _ in range(dice.randrange(1, 40)):
            lower = dice.randrange(30)
            lives.append((dice.randrange(100), lower, lower + dice.randrange(1, 9), dice.choice([0, 1, 4, 64])))
        plan = judged(lives, masu.plan(lives, step_limit=20000, time_limit=0, threads=1, seed=7))
        assert plan.lower_bound <= plan.height
        assert masu.plan(np.array(lives), step_limit=20000, time_limit=0, seed=7).offsets == plan.offsets


def test_capacities_and_relations():
    lives = [(4, 0, 2), (4, 1, 3), (4, 2, 4)]
    plan = masu.plan(lives, capacity=7)
    assert (plan.outcome, plan.offsets, plan.height) == ("infeasible", None, 0)
    assert masu.plan(lives, capacity=8).height == 8
    apart = masu.plan(lives, relations=[("must_not_share", 0, 2)])
    assert apart.height == 12
    together = masu.plan(lives, relations=[("must_share", 0, 2)])
    assert together.offsets[0] == together.offsets[2]
    over = masu.plan([(4, 0, 2), (4, 1, 3)], relations=[("may_share", 0, 1)])
    assert over.height == 4


@pytest.mark.parametrize("lives, words, text", [
    (3, {}, "lives is a sequence"),
    ("ab", {}, "lives is a sequence"),
    ([3], {}, r"lives\[0\]"),
    ([(1, 0, 1), (1, 2)], {}, r"lives\[1\]"),
    ([(1, 0, 1, 1, 1)], {}, r"lives\[0\]"),
    ([(-1, 0, 1)], {}, r"lives\[0\]"),
    ([(1.5, 0, 1)], {}, r"lives\[0\]"),
    ([(1 << 70, 0, 1)], {}, r"lives\[0\]"),
    ([(1, 0, 1), (1, 1, 1)], {}, r"lives\[1\]: its life ends"),
    ([(1, 0, 1, 3)], {}, r"lives\[0\]: its alignment"),
    ([(1 << 61, 0, 1), (1 << 61, 0, 1), (1 << 61, 0, 1)], {}, "lives|overflow"),
    ([(1, 0, 1)], {"capacity": -1}, "capacity"),
    ([(1, 0, 1)], {"time_limit": -1}, "time_limit"),
    ([(1, 0, 1)], {"time_limit": "x"}, "time_limit"),
    ([(1, 0, 1)], {"threads": 1.5}, "threads"),
    ([(1, 0, 1)], {"relations": [("must_share", 0, 1)]}, r"relations\[0\]"),
    ([(1, 0, 1)], {"relations": [("share", 0, 0)]}, r"relations\[0\]"),
    ([(1, 0, 1)], {"relations": [("must_share", 0, 0)]}, r"relations\[0\]"),
    ([(1, 0, 1)], {"relations": 1}, "relations is a sequence"),
    ([(1, 0, 1)], {"steps": 1}, "steps"),
])
def test_what_cannot_be_planned_is_refused(lives, words, text, nothing_stays):
    with pytest.raises((ValueError, TypeError, OverflowError), match="plan.*" + text):
        masu.plan(lives, **words)


TABLE = "event,id,bytes\nalloc,1,4096\nalloc,2,1000000\nfree,1,\nalloc,3,4096\nfree,2,\nfree,3,\n"


def has_command(name):
    try:
        return not subprocess.run([COMMAND, "help", name], capture_output=True, stdin=subprocess.DEVNULL).returncode
    except OSError:
        return False


@pytest.mark.skipif(not has_command("whatif"), reason="this masu has no whatif")
def test_a_recorded_run_on_every_allocator(tmp_path):
    table = tmp_path / "run.csv"
    table.write_text(TABLE)
    told = masu.whatif(table, command=COMMAND)
    assert isinstance(told, dict) and masu.whatif(str(table), limit=1 << 30, command=COMMAND)
    with pytest.raises(TypeError, match="whatif: limit"):
        masu.whatif(table, limit="1GiB", command=COMMAND)
    table.write_text("no table")
    for call in (masu.whatif, masu.report):
        with pytest.raises(masu.Error, match="run.csv") as caught:
            call(table, command=COMMAND)
        assert caught.value.file is None and caught.value.status == "MASU_ERR_IO"
        with pytest.raises(FileNotFoundError):
            call(table, command=tmp_path / "missing")


@pytest.mark.skipif(not has_command("report"), reason="this masu has no report")
def test_a_recorded_run_is_reported(tmp_path):
    program, trace = tmp_path / "a.tl", tmp_path / "a.trace"
    program.write_text("fn main() { let x: Tensor = Tensor::zeros([100, 100]); println(x.sum().item()); }\n")
    subprocess.run([COMMAND, "run", "--trace", trace, program], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    told = masu.report(trace, command=COMMAND)
    assert isinstance(told, dict) and told
