"""Items of sums along rows, and which of them are the same, for `polymat.graph.lanerows`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.graph.laned import LaidElement, RowCase
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import SharedArrays
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.graph.stepwise import ArrayView
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Unary
from polymat.lang.reduction import Op
from polymat.lang.traverse import walk
from polymat.poly.domain import Domain

ARITHMETIC = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """A pipeline of single steps, with what its inputs are: a point, and the sum that it has, if any."""

    pipeline: Pipeline
    given: Sequence[ArrayView]
    total: Stage | None
    point: Stage


@dataclass(frozen=True, slots=True, eq=False)
class AddedTerms:
    """The terms that an item adds: its own loads, all that it reads, and what steps made others of it."""

    item: Accumulation
    own: frozenset[Load]
    elements: Mapping[Load, LaidElement]
    others: Mapping[Load, tuple[Affine, ...]]
    terms: Domain


def insides(shared: SharedArrays) -> tuple[Inside, ...] | None:
    """The pipelines of single steps, each a point that may sum up; None where there are others."""
    if shared.inner is None:
        return None
    steps = [each.steps for each in shared.inner.sections]
    if any(each is None or each.least or each.below for each in steps):
        return None
    found = []
    for pipeline, given in shared.innermost():
        *totals, point = pipeline.stages
        total = totals[0] if totals else None
        plain = not pipeline.scalars and not any(stage.dims for stage in pipeline.stages)
        if len(totals) > 1 or not plain or pipeline.outputs != (point.name,) or point.op is not None:
            return None
        if total is not None and (total.op is not Op.Sum or total.dtype != point.dtype):
            return None
        found.append(Inside(pipeline, given, total, point))
    alike = len({(each.point.name, each.point.dtype) for each in found}) == 1
    return tuple(found) if alike and found[0].point.dtype.kind == "f" else None


def is_arithmetic(expr: Expr, stage: Stage) -> bool:
    """Whether an expression adds, subtracts, multiplies and divides values of one type."""
    return all(each.dtype == stage.dtype or isinstance(each, Const) for each in walk(expr)) and all(
        _is_plain(each) for each in walk(expr)
    )


def _is_plain(node: object) -> bool:
    return isinstance(node, Load | Const | Unary) or (isinstance(node, Binary) and node.op in ARITHMETIC)


def is_even(case: RowCase, row: str) -> bool:
    """Whether what a case reads of an array is as far apart from each row to the next."""
    return all(form.is_linear_in([row]) for laid in case.elements.values() for form in laid.indices)


def are_same(one: AddedTerms, other: AddedTerms, there: Mapping[str, Affine]) -> bool:
    """Whether two items add the same where names have the values of forms."""
    texts = [
        tuple(_shape(node, added.elements, there) for node in walk(added.item.expr)) for added in (one, other)
    ]
    return texts[0] == texts[1]


def are_same_cases(alone: RowCase, other: RowCase) -> bool:
    """Whether a case is what another one is where its sum is 0."""
    texts = [tuple(_shape(node, case.elements, {}) for node in walk(case.expr)) for case in (alone, other)]
    return texts[0] == texts[1]


def _shape(
    node: object, elements: Mapping[Load, LaidElement], there: Mapping[str, Affine]
) -> tuple[object, ...]:
    if isinstance(node, Load) and node not in elements:
        return (0,)
    if isinstance(node, Load):
        laid = elements[node]
        return (laid.array, *(form.substitute(there) for form in laid.indices))
    if isinstance(node, Const):
        return (node.value,)
    return (type(node), getattr(node, "op", ""))


def is_zero(parts: Sequence[Part]) -> bool:
    return all(isinstance(part.expr, Const) and part.expr.value == 0 for part in parts)
