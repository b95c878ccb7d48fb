"""Items of sums along rows, and which of them are the same, for `polymat.graph.lanerows`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.graph.laned import LaidElement
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Unary
from polymat.lang.traverse import walk
from polymat.poly.domain import Domain

ARITHMETIC = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True, eq=False)
class AddedTerms:
    """What an item adds: its own loads, all that it reads, what steps made others of it, and its terms."""

    item: Accumulation
    own: frozenset[Load]
    elements: Mapping[Load, LaidElement]
    others: Mapping[Load, tuple[Affine, ...]]
    terms: Domain


def is_arithmetic(expr: Expr, stage: Stage) -> bool:
    """Whether an expression adds, subtracts, multiplies and divides values of one type."""
    return all(each.dtype == stage.dtype or isinstance(each, Const) for each in walk(expr)) and all(
        _is_plain(each) for each in walk(expr)
    )


def _is_plain(node: object) -> bool:
    return isinstance(node, Load | Const | Unary) or (isinstance(node, Binary) and node.op in ARITHMETIC)


def are_same(one: AddedTerms, other: AddedTerms, there: Mapping[str, Affine]) -> bool:
    """Whether two items add the same where names have the values of forms."""
    texts = [
        tuple(_shape(node, added.elements, there) for node in walk(added.item.expr)) for added in (one, other)
    ]
    return texts[0] == texts[1]


def _shape(
    node: object, elements: Mapping[Load, LaidElement], there: Mapping[str, Affine]
) -> tuple[object, ...]:
    if isinstance(node, Load):
        laid = elements[node]
        return (laid.array, *(form.substitute(there) for form in laid.indices))
    if isinstance(node, Const):
        return (node.value,)
    return (type(node), getattr(node, "op", ""))


def is_zero(parts: Sequence[Part]) -> bool:
    return all(isinstance(part.expr, Const) and part.expr.value == 0 for part in parts)
