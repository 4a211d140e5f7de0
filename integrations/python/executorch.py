"""A memory planning algorithm for ExecuTorch, over masu.plan: see docs/python.md.

ExecuTorch hands over specs of tensors: `allocated_memory` bytes (after `realign`), `lifetime` [first node, last node] inclusive, `mem_id` the
buffer that was asked for. It reads back `mem_id`, `mem_obj_id`, `mem_offset`, and the size of each buffer; number 0 holds constants.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Tuple

import masu

__all__ = ["MasuPlanning"]


def _life(spec: Any) -> Tuple[int, int]:
    first, last = spec.lifetime
    if first is None or last is None or first < 0 or last < first:
        raise ValueError("MasuPlanning: a spec has the lifetime %r, not [first node, last node]" % (spec.lifetime,))
    return first, last + 1


class MasuPlanning:
    """time_limit: seconds for each buffer (0: none). capacities: bytes of buffers that have a limit, by mem_id. results: the classes
    SpecAllocResult and MemoryAlgoResult, for a suite of algorithms; None: the specs are changed and sizes returned."""

    __name__ = "masu"  # suites key their results by it

    def __init__(self, time_limit: float = 10.0, seed: int = 0, capacities: Optional[Mapping[int, int]] = None,
                 results: Optional[Tuple[Any, Any]] = None) -> None:
        self.time_limit = time_limit
        self.seed = seed
        self.capacities = dict(capacities or {})
        self.results = results
        self.outcomes: dict[int, str] = {}
        if any(mem_id < 1 or bytes_ < 1 for mem_id, bytes_ in self.capacities.items()):
            raise ValueError("MasuPlanning: capacities are bytes above 0, by a mem_id of 1 or more")

    def __call__(self, alignment: int, specs: Iterable[Any], graph_module: Any = None, graph_signature: Any = None,
                 extra_padding: int = 0) -> Any:
        if not isinstance(alignment, int):
            raise TypeError("MasuPlanning: called with (alignment, specs, graph_module, graph_signature, extra_padding); "
                            "the first is a whole number, not %r" % type(alignment).__name__)
        buffers: dict[int, list[Any]] = {}
        for spec in specs:
            mem_id = 1 if spec.mem_id is None else spec.mem_id
            if mem_id < 1:
                raise ValueError("MasuPlanning: mem_id %r: buffers that are planned have the numbers from 1 on" % (mem_id,))
            spec.realign(alignment)
            buffers.setdefault(mem_id, []).append(spec)
        below = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
        sizes = [0] * max([2, len(below)] + [mem_id + 1 for mem_id in buffers])
        sizes[: len(below)] = below
        self.outcomes = {}
        found = []
        for mem_id in sorted(buffers):
            sizes[mem_id] += self._plan(mem_id, buffers[mem_id], alignment, sizes[mem_id], extra_padding, found)
        if self.results is None:
            for spec, mem_id, number, offset in found:
                spec.mem_id, spec.mem_obj_id, spec.mem_offset = mem_id, number, offset
            return sizes
        one, whole = self.results
        return whole({spec: one(mem_id, number, offset) for spec, mem_id, number, offset in found}, sizes)

    def _plan(self, mem_id: int, specs: list[Any], alignment: int, below: int, padding: int, found: list[Any]) -> int:
        """Bytes above those that are there; a set has no order, so the same tensors are sorted the same way each time."""
        below_aligned = -(-below // alignment) * alignment
        order = sorted(specs, key=lambda spec: (_life(spec), spec.allocated_memory))
        capacity = self.capacities.get(mem_id, 0)
        room = capacity - below_aligned - padding if capacity else 0
        if capacity and room <= 0:
            raise ValueError("MasuPlanning: buffer %d has %d bytes, and %d are taken" % (mem_id, capacity, below_aligned + padding))
        plan = masu.plan([(spec.allocated_memory, *_life(spec), alignment) for spec in order], capacity=room, time_limit=self.time_limit,
                         seed=self.seed)
        if plan.outcome in ("infeasible", "unknown"):
            raise ValueError("MasuPlanning: buffer %d: %s" % (mem_id, "no plan fits into %d bytes: at least %d are needed" % (
                capacity, plan.lower_bound + below_aligned + padding) if plan.outcome == "infeasible" else
                "none was found that fits into %d bytes, and none is ruled out" % capacity))
        self.outcomes[mem_id] = plan.outcome
        found.extend((spec, mem_id, number, below_aligned + offset) for number, (spec, offset) in enumerate(zip(order, plan.offsets)))
        return below_aligned - below + plan.height + padding
