"""Operations and points of a stage at the estimates, which all prices of its plans begin from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import takewhile
from math import prod

from polymat.graph.operations import (
    expression_operations,
    function_operations,
    node_operations,
    operations_among,
)
from polymat.graph.stage import Bounds, Part, Stage
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Expr, Load, Variable
from polymat.lang.traverse import children, postorder, walk
from polymat.memo import remembered
from polymat.model.describe import COMPLEX_OPERATIONS
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent
from polymat.tilesize.shortloops import computed_bytes

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


@once_a_stage
def sum_operations(
    stage: Stage, estimates: Mapping[str, int], order: tuple[str, ...], slowdown: float, waiting: float
) -> float:
    """Real operations of the loops of sums, outermost first: before a loop stands what it does not change.

    before:  for m: for l: product *= sin(x(m))
    after:   a sine for each m

    slowdown: of additions, which wait for each other or for loads; functions of terms do not.
    waiting: what an instruction of a function takes, before a loop, where each waits for the one before it.
    """
    total = slowdown * stage_operations(stage, estimates)
    if stage.segments is not None:  # whose inner loops are as long as data say
        return total
    each = COMPLEX_OPERATIONS if stage.dtype.kind == "c" else 1.0
    for item in stage.accumulations:
        count = each * points(stage.counted(item), estimates)
        box = zip(item.dims, item.box, strict=True)
        lengths = {dim: extent(high - low + 1, estimates) for dim, (low, high) in box}
        for node, names in _nodes_by_dims(item.expr):
            beside = _points_beside(names, order, lengths)
            is_function = function_operations(node) > 0.0
            known = operations_among(node, computed_bytes(stage)) / beside
            slow = slowdown if not is_function else 1.0 if beside == 1.0 else max(1.0, waiting)
            total += count * (known * slow - slowdown * node_operations(node))
    return total


def _points_beside(names: Set[str], order: tuple[str, ...], lengths: Mapping[str, float]) -> float:
    """The points of the inner loops, up to the first that changes one of these names."""
    inner = takewhile(lambda dim: dim not in names, reversed(order))
    return prod(max(lengths.get(dim, 1.0), 1.0) for dim in inner)


@remembered
def _nodes_by_dims(expr: Expr) -> tuple[tuple[Expr, frozenset[str]], ...]:
    """Each node of an expression, and the names that it changes with."""
    known: dict[int, frozenset[str]] = {}
    for node in postorder(expr)[0]:
        names = {name for form in node.indices for name in form.names()} if isinstance(node, Load) else set()
        names |= {node.name} if isinstance(node, Variable) else set()
        known[id(node)] = frozenset(names.union(*(known[id(child)] for child in children(node))))
    return tuple((node, known[id(node)]) for node in walk(expr))


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
