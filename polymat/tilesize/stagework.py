"""Operations and points of a stage at the estimates, which all prices of its plans begin from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polymat.graph.operations import expression_operations
from polymat.graph.stage import Bounds, Part, Stage
from polymat.lang.affine import Affine, computed_in
from polymat.model.describe import COMPLEX_OPERATIONS
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent

VECTOR_SHARE = 0.25  # of the peak that compiler-vectorised loops reach
ROW_LOOP_SHARE = 0.4  # of the peak that stages in one loop over registers reach


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
