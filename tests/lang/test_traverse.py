"""Walks over expressions are the same in a compilation, which keeps them, as outside."""

from __future__ import annotations

from collections.abc import Iterator

from polymat import Condition, Image, Int, Select, Variable
from polymat.lang.expr import Expr
from polymat.lang.traverse import postorder, postorder_with_operands, walk
from polymat.memo import with_memo

i = Variable(Int, "i")
a = Image(Int, "a", [9])
SHARED = a(i) * 2
EXPRESSION = Select(Condition(a(i), "<", SHARED), SHARED - i, a(a(1))) + SHARED


def test_every_node_once_parents_first() -> None:
    @with_memo
    def steps() -> Iterator[list[Expr]]:
        yield [*walk(EXPRESSION)]
        yield [*walk(EXPRESSION)]

    outside = [*walk(EXPRESSION)]
    assert [[id(node) for node in found] for found in steps()] == 2 * [[id(node) for node in outside]]
    assert len({id(node) for node in outside}) == len(outside)
    assert outside[0] is EXPRESSION
    assert [node is SHARED for node in outside].count(True) == 1


def test_operands_come_before_what_is_made_of_them() -> None:
    order, operands, uses = postorder_with_operands(EXPRESSION)
    places = {id(node): k for k, node in enumerate(order)}
    assert sorted(places) == sorted({id(node) for node in walk(EXPRESSION)})
    for node, parts in zip(order, operands, strict=True):
        assert all(places[id(part)] < places[id(node)] for part in parts)
    assert uses[id(SHARED)] == 3
    assert postorder(EXPRESSION) == (order, uses)
