"""masu.executorch with a small stand-in of ExecuTorch's interface: the package itself is not needed, and not here."""

import random
from dataclasses import dataclass

import pytest

from masu.executorch import MasuPlanning


class Spec:
    """What the planner of that package sees of a TensorSpec."""

    def __init__(self, bytes_, first, last, mem_id=None):
        self.raw, self.lifetime, self.mem_id = bytes_, [first, last], mem_id
        self.allocated_memory = self.mem_obj_id = self.mem_offset = None

    def realign(self, alignment):
        self.allocated_memory = -(-self.raw // alignment) * alignment
        return self.allocated_memory


class Graph:
    pass


@dataclass
class One:
    mem_id: int
    mem_obj_id: int
    mem_offset: int


@dataclass
class Whole:
    spec_dict: dict
    bufsizes: list


def judged(specs, sizes, alignment, below=()):
    """Lives are inclusive: two that meet at one node are there together."""
    specs = list(specs)
    for i, a in enumerate(specs):
        base = below[a.mem_id] if len(below) > a.mem_id else 0
        assert a.mem_offset % alignment == 0 and base <= a.mem_offset and a.mem_offset + a.allocated_memory <= sizes[a.mem_id]
        for b in specs[:i]:
            if a.mem_id == b.mem_id and a.lifetime[0] <= b.lifetime[1] and b.lifetime[0] <= a.lifetime[1]:
                assert a.mem_offset + a.allocated_memory <= b.mem_offset or b.mem_offset + b.allocated_memory <= a.mem_offset
    return sizes


def test_a_chain():
    specs = {Spec(100, 0, 1), Spec(60, 1, 2), Spec(100, 2, 3)}
    algo = MasuPlanning()
    assert judged(specs, algo(16, specs, Graph(), None), 16) == [0, 176]  # 112 + 64: the third lies where the first did
    assert algo.outcomes == {1: "optimal"} and {s.mem_id for s in specs} == {1} and len({s.mem_obj_id for s in specs}) == 3
    assert MasuPlanning()(16, set(), Graph(), None) == [0, 0]


def test_several_buffers_and_what_lies_below():
    graph = Graph()
    graph.input_mem_buffer_sizes = [0, 40, 0, 7]
    specs = [Spec(10, 0, 4), Spec(20, 0, 4, 2), Spec(30, 5, 6, 2), Spec(1, 5, 5, 3)]
    sizes = MasuPlanning()(16, specs, graph, None, 64)
    assert judged(specs, sizes, 16, graph.input_mem_buffer_sizes) == [0, 48 + 16 + 64, 32 + 64, 16 + 16 + 64]


def test_capacities():
    specs = [Spec(64, 0, 3), Spec(64, 1, 2)]
    assert MasuPlanning(capacities={1: 128})(16, specs) == [0, 128]
    with pytest.raises(ValueError, match="no plan fits into 127 bytes: at least 128 are needed"):
        MasuPlanning(capacities={1: 127})(16, specs)
    with pytest.raises(ValueError, match="buffer 1 has 64 bytes, and 64 are taken"):
        MasuPlanning(capacities={1: 64})(16, specs, None, None, 64)
    with pytest.raises(ValueError, match="above 0"):
        MasuPlanning(capacities={0: 64})


def test_a_member_of_a_suite_changes_nothing():
    specs = [Spec(64, 0, 3), Spec(64, 4, 5)]
    done = MasuPlanning(results=(One, Whole))(16, specs, Graph(), None)
    assert done.bufsizes == [0, 64] and [done.spec_dict[s].mem_offset for s in specs] == [0, 0]
    assert all(s.mem_id is None and s.mem_offset is None for s in specs) and MasuPlanning().__name__ == "masu"


def test_what_is_refused():
    with pytest.raises(TypeError, match="first is a whole number, not 'Graph'"):
        MasuPlanning()(Graph(), 16)
    for wrong in ([None, None], [3, 2], [-1, 2]):
        spec = Spec(8, 0, 1)
        spec.lifetime = wrong
        with pytest.raises(ValueError, match="lifetime"):
            MasuPlanning()(16, [spec])
    with pytest.raises(ValueError, match="mem_id 0"):
        MasuPlanning()(16, [Spec(8, 0, 1, 0)])


def test_drawn_graphs_are_right_and_the_same_each_time():
    dice = random.Random(6)
    for _ in range(20):
        given = [(dice.randrange(0, 5000), first := dice.randrange(60), first + dice.randrange(12), dice.choice([None, 1, 2]))
                 for _ in range(dice.randrange(1, 60))]
        plans = []
        for turn in (1, -1):
            specs = [Spec(*row) for row in given]
            sizes = judged(specs, MasuPlanning(time_limit=0.5)(16, specs[::turn], Graph(), None), 16)
            plans.append((sizes, sorted((s.lifetime, s.allocated_memory, s.mem_id, s.mem_offset) for s in specs)))
        assert plans[0] == plans[1]
