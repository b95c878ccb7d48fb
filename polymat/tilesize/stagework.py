"""Operations of a stage at the estimates, and how much slower than the peak its loops are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polymat.graph.operations import expression_operations
from polymat.graph.stage import Bounds, Part, Stage
from polymat.lang.affine import Affine, computed_in
from polymat.model.describe import COMPLEX_OPERATIONS
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan

VECTOR_SHARE = 0.25  # of the peak that compiler-vectorised loops reach
ROW_LOOP_SHARE = 0.4  # of the peak that stages in one loop over registers reach
# Times slower: sums of a recurrence or into computed places, each addition through memory (1 ns, Zen 5).
WAITING = 6.0
NO_BLOCK = 2.5  # times slower: sums that are not computed several rows at a time


def loop_slowdown(loops: NestPlan, threads: int) -> float:
    """Sums without a block of rows wait for loads or for the addition before, others for a store."""
    if not isinstance(loops, LoopPlan):
        return loops.slowdown(threads)
    if loops.recurrence is not None:
        levels = loops.recurrence.loops
        return 1.0 if not levels or loops.recurrence.parallel[levels[-1]] else WAITING
    if loops.kind == "scatter":
        return WAITING
    alone = loops.adds_up and loops.unroll == 1 and not loops.terms
    return NO_BLOCK if alone else 1.0


def own_name_in(stage: Stage, dim: str, used: set[str]) -> bool:
    """Whether a dimension of a stage occurs among names, also under an accumulation's own name for it."""
    if dim in used:
        return True
    targets = [a.target[stage.dims.index(dim)] for a in stage.accumulations] if dim in stage.dims else []
    return any(used.intersection(target.names()) for target in targets)


@once_a_stage
def stage_operations(stage: Stage, estimates: Mapping[str, int]) -> float:
    """Real operations of a stage at the estimates."""
    total = 0.0
    for each in stage.accumulations:
        places = sum(expression_operations(a.value) for a in computed_in(each.target))
        total += (1 + expression_operations(each.expr) + places) * points(stage.counted(each), estimates)
    for part in stage.parts:
        total += (1 + expression_operations(part.expr)) * part_points(stage, part, estimates)
    return total * (COMPLEX_OPERATIONS if stage.dtype.kind == "c" else 1.0)


def part_points(stage: Stage, part: Part, estimates: Mapping[str, int]) -> float:
    """Points of a part of a stage at the estimates."""
    boxes = (stage.box,) if len(stage.parts) == 1 else _boxes(stage, part)
    return sum(points(box, estimates) for box in boxes)


def _boxes(stage: Stage, part: Part) -> tuple[Bounds, ...]:
    """The rectangles of a part; the stage's own where it is not made of such."""
    found = []
    for piece in part.domain.pieces():
        limits = [piece.limits(dim) for dim in stage.dims]
        box = tuple(each for each in limits if each is not None)
        if len(box) < len(limits):
            return (stage.box,)
        found.append(box)
    return tuple(found)


def points(box: Iterable[tuple[Affine, Affine]], estimates: Mapping[str, int]) -> float:
    """Points of a box at the estimates."""
    count = 1.0
    for low, high in box:
        count *= extent(high - low + 1, estimates)
    return count
