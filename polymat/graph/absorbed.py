"""Products that sums take in: a multiply-add computes them where they are added, as fast as it adds alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter
from polymat.lang.traverse import children, walk

LEAST_BYTES = 4  # of a number that is multiplied and added as it is stored

_Place = tuple[str, tuple[Affine, ...]]


def is_absorbed(producer: Stage, readers: Sequence[Stage]) -> bool:
    """Whether a product of two values is a term of sums wherever it is read, which load no more without it.

    Three products of two slopes, each added up over nine neighbours, are 27 loads of products or 18 of
    slopes, and nobody writes the products.

    before:  t(i) = a(i) * a(i);  y(i) = b(i) + t(i - 1) + t(i) + t(i + 1)
    after:   y(i) = b(i) + a(i - 1) * a(i - 1) + a(i) * a(i) + a(i + 1) * a(i + 1)
    """
    value = producer.parts[0].expr
    if producer.dtype.kind != "f" or producer.dtype.size < LEAST_BYTES or value.dtype != producer.dtype:
        return False
    if not isinstance(value, Binary) or value.op != "*":
        return False
    if not all(isinstance(side, Load | Const | Parameter) for side in (value.left, value.right)):
        return False
    return all(_absorbs(reader, producer, value) for reader in readers)


def _absorbs(reader: Stage, producer: Stage, value: Binary) -> bool:
    """Whether a reader adds each product that it takes to something else, for no more loads."""
    if reader.is_reduction or reader.reads_itself:
        return False
    for _, expr in reader.expressions():
        if is_load_of(expr, producer) or not all(_adds(node, producer) for node in walk(expr)):
            return False
    before = {(node.source.name, node.indices) for node in reader.loads()}
    after = {place for place in before if place[0] != producer.name}
    for _, indices in before - after:
        after |= set(_places(value, dict(zip(producer.dims, indices, strict=True))))
    return len(after) <= len(before)


def _adds(node: Expr, producer: Stage) -> bool:
    """Whether a node takes no product of the producer, or adds one to what is no product itself."""
    taken = [part for part in children(node) if is_load_of(part, producer)]
    if not taken:
        return True
    if not isinstance(node, Binary) or node.op not in ("+", "-"):
        return False
    others = [part for part in (node.left, node.right) if not is_load_of(part, producer)]
    return len(others) == 1 and not (isinstance(others[0], Binary) and others[0].op == "*")


def is_load_of(node: Expr, producer: Stage) -> TypeGuard[Load]:
    """Whether an expression is an element of a stage."""
    return isinstance(node, Load) and node.source.name == producer.name


def _places(value: Binary, values: dict[str, Affine]) -> Iterator[_Place]:
    """What a product loads where its dimensions have these values, what its indices look up among it."""
    for node in walk(value):
        if isinstance(node, Load):
            yield node.source.name, tuple(form.substitute(values) for form in node.indices)
