"""Sums that read the same elements in the same order run in one loop, which loads each element once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeGuard

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.stage import Bounds, Stage
from polymat.lang.affine import Affine
from polymat.lang.traverse import loads_in
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.tilesize.plain import own_names

OUTER, INNER = Affine.name("outer"), Affine.name("inner")


@dataclass(frozen=True, slots=True)
class _Loops:
    """Two loops around one accumulation, whatever their names: what has to agree, and what is read there.

    levels: for every tiled dimension which of the two runs along it.  row: whether it adds to rows in memory.
    loads: arrays read at an index of both.
    """

    dtype: str
    bounds: Bounds
    levels: tuple[Affine | None, ...]
    unroll: int
    row: bool
    loads: frozenset[tuple[str, tuple[Affine, ...]]]

    def fits(self, other: _Loops) -> bool:
        same = (self.dtype, self.bounds, self.levels, self.unroll)
        fits = same == (other.dtype, other.bounds, other.levels, other.unroll)
        return fits and (self.row or other.row) and bool(self.loads & other.loads)


def joint_sums(
    stages: Mapping[str, Stage], members: Sequence[Member], plans: Mapping[str, NestPlan]
) -> tuple[tuple[str, str], ...]:
    """Pairs of stages of a tile, the second to run with the first.

    before:  for j: q(i) += A(i, j) * p(j)      for j: s(j) += r(i) * A(i, j)
    after:   for j: s(j) += r(i) * A(i, j), q(i) += A(i, j) * p(j)

    One of the two is a row in memory: it shares nothing else with the other, and costs no accumulators.
    """
    found: dict[str, LoopPlan] = {}
    for member in members:
        plan = plans[member.stage]
        if _is_block(plan, stages[member.stage]):
            found[member.stage] = plan
    if len(found) < 2 or not any(plan.kind == "row" for plan in found.values()):
        return ()
    loops = {m.stage: _loops(stages[m.stage], m, found[m.stage]) for m in members if m.stage in found}
    pairs: list[tuple[str, str]] = []
    sums = [(k, member) for k, member in enumerate(members) if loops.get(member.stage) is not None]
    for (k, first), (later, second) in combinations(sums, 2):
        one, other = loops[first.stage], loops[second.stage]
        taken = {name for pair in pairs for name in pair}
        if one is None or other is None or taken & {first.stage, second.stage}:
            continue
        passed = {m.stage for m in members[k:later]}
        waits = any(load.source.name in passed for load in stages[second.stage].loads())
        if one.fits(other) and not waits:
            pairs.append((first.stage, second.stage))
    return tuple(pairs)


def _is_block(plan: NestPlan, stage: Stage) -> TypeGuard[LoopPlan]:
    """Whether a stage is one sum to a point of one dimension, by blocks of rows."""
    if not isinstance(plan, LoopPlan) or not plan.adds_up or plan.unroll == 1:
        return False
    if stage.dtype.kind == "c":  # OpenMP has accumulators of complex numbers, but GCC does not vectorise them
        return False
    return len(stage.dims) == 1 and len(stage.accumulations) == 1


def _loops(stage: Stage, member: Member, plan: LoopPlan) -> _Loops | None:
    """The loops of a block of a sum over one dimension; None of anything else."""
    if any(map(any, member.margins)):
        return None
    accumulation = stage.accumulations[0]
    if len(accumulation.reduced_dims) != 1 or not accumulation.is_aligned:
        return None
    if any(member.scale(level) != 1 for level in range(len(member.dims))):
        return None
    if (
        member.copied
        or member.private != (plan.kind == "row")
        or not accumulation.domain.has_all_of(accumulation.box)
    ):
        return None
    names = own_names(stage, accumulation)
    result, reduced = names[stage.dims[0]], accumulation.reduced_dims[0]
    outer, inner = (result, reduced) if plan.kind == "reduce" else (reduced, result)
    places = {outer: OUTER, inner: INNER}
    levels = tuple(None if dim is None else places.get(names.get(dim, dim)) for dim in member.dims)
    box = dict(zip(accumulation.dims, accumulation.box, strict=True))
    loads = loads_in(accumulation.expr)
    shared = {
        (load.source.name, tuple(form.substitute(places) for form in load.indices))
        for load in loads
        if {outer, inner} <= {name for form in load.indices for name in form.names()}
    }
    if not levels or levels[0] != OUTER:
        return None
    bounds = (box[outer], box[inner])
    return _Loops(stage.dtype.c, bounds, levels, plan.unroll, plan.kind == "row", frozenset(shared))
