"""Rows that loops read again, and the level of the caches that has kept them until then.

A stencil reads a row of an array in several turns of an outer loop.  What loops touch between two of these
says whether the row is still in the first-level cache, or has to come from a farther one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load
from polymat.lang.traverse import loads_in
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.model.estimates import once_a_stage
from polymat.plan.loops import LoopPlan
from polymat.tilesize.shortloops import loop_lengths
from polymat.tilesize.stagework import part_points
from polymat.tilesize.traffic import nearest_level


@dataclass(frozen=True, slots=True)
class _Turn:
    """What one turn of an outer loop touches, and what it reads again of the turns before.

    again: bytes for each point.  rows: of each row, bytes of a point, and the loops inside along which it is
    walked.
    """

    dim: str
    again: int
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def distance(self, lengths: Mapping[str, float]) -> float:
        """The bytes that are touched between two turns that read the same row."""
        total = 0.0
        for size, dims in self.rows:
            each = float(size)
            for dim in dims:
                each *= lengths.get(dim, 1.0)
            total += each
        return total


def rows_again(
    stage: Stage,
    loops: LoopPlan,
    machine: Machine,
    estimates: Mapping[str, int],
    member: Member | None = None,
    sizes: Sequence[int] = (),
) -> dict[int, float]:
    """The bytes that a stage reads again from each level of memory but the first.

    member, sizes: of a stage in tiles.  Rows that run side by side are loaded once for all of them.
    """
    if loops.kind != "map" or len(loops.order) < 2 or loops.vector != stage.dims[-1]:
        return {}
    lengths, together = loop_lengths(stage, estimates), loops.parallel
    if member is not None:
        lengths = lengths | {
            dim: min(lengths[dim], member.points(level, sizes[level]))
            for level, dim in enumerate(member.dims)
            if dim in lengths
        }
        together = member.dims[loops.block]
    found: dict[int, float] = {}
    for count, turn in _counted_turns(stage, estimates, loops.walked, machine.line_bytes):
        level = nearest_level(machine, turn.distance(lengths))
        rows = loops.unroll if turn.dim == together else 1
        found[level] = found.get(level, 0.0) + turn.again * count / rows
    found.pop(1, None)
    return found


@once_a_stage
def _counted_turns(
    stage: Stage, estimates: Mapping[str, int], order: tuple[str, ...], line_bytes: int
) -> tuple[tuple[float, _Turn], ...]:
    """The turns that read rows again, each with the points of its part."""
    counts = (part_points(stage, part, estimates) for part in stage.parts)
    parts = zip(counts, _turns(stage, order, line_bytes), strict=True)
    return tuple((count, turn) for count, turns in parts for turn in turns if turn.again)


@remembered
def _turns(stage: Stage, order: tuple[str, ...], line_bytes: int) -> tuple[tuple[_Turn, ...], ...]:
    """Of each part of a stage the turns of all loops around its rows, the nearest first."""
    found = []
    for part in stage.parts:
        loads = loads_in(part.expr)
        rows = [load for load in loads if load.indices and not computed_in(load.indices)]
        rows = [load for load in rows if order[-1] in load.indices[-1].names()]
        places = reversed(range(len(order) - 1))
        found.append(tuple(_turn(stage, rows, order, place, line_bytes) for place in places))
    return tuple(found)


def _turn(stage: Stage, loads: Sequence[Load], order: tuple[str, ...], place: int, line_bytes: int) -> _Turn:
    """What a turn of the loop at a place of the order touches and reads again."""
    dim, inner = order[place], order[place + 1 :]
    moved: dict[tuple[object, int], tuple[int, set[int]]] = {}
    touched: dict[object, tuple[int, tuple[str, ...]]] = {}
    for load in loads:
        step = max(abs(load.indices[-1].coefficient(order[-1])), 1)
        size = min(load.dtype.size * step, line_bytes)
        within = tuple(_without_offset(form, inner) for form in load.indices)
        used = {name for form in load.indices for name in form.names()}
        touched.setdefault((load.source.name, within), (size, tuple(d for d in inner if d in used)))
        along = [form for form in load.indices if form.coefficient(dim) > 0]
        if len(along) == 1:
            row = load.source.name, tuple(_without_offset(form, order[place:]) for form in load.indices)
            moved.setdefault((row, along[0].coefficient(dim)), (size, set()))[1].add(along[0].const)
    again = sum(
        size * (len(offsets) - len({offset % factor for offset in offsets}))
        for (_, factor), (size, offsets) in moved.items()
    )
    return _Turn(dim, again, (*touched.values(), (stage.dtype.size, inner)))


def _without_offset(form: Affine, dims: Sequence[str]) -> Affine:
    """A form without its number where one of the dimensions moves it."""
    return form - form.const if any(dim in form.names() for dim in dims) else form
