"""Every load of an expression, with the points at which it happens."""

from __future__ import annotations

from typing import Any

from polymat import Condition, Image, Int, Parameter, Select, Variable
from polymat.graph.accesses import loads_with_domains
from polymat.lang.affine import Affine
from polymat.lang.indices import as_affine
from polymat.poly.domain import Domain

N = Parameter(Int, "N")
i = Variable(Int, "i")
a, b = (Image(Int, name, [N]) for name in "ab")
WHOLE = Domain.box(("N",), ("i",), [(Affine(), as_affine(N - 1, None))])


def found(expr: Any) -> list[tuple[str, bool]]:
    """The loads in order, and whether they happen at all points."""
    return [(str(load), where.equals(WHOLE)) for where, load in loads_with_domains(WHOLE, expr)]


def test_without_choices_every_element_is_loaded_everywhere_and_comes_once() -> None:
    assert found(a(i) + b(a(i)) * a(i) + b(0)) == [("a(i)", True), ("b(a(i))", True), ("b(0)", True)]
    assert found(i + N) == []


def test_choices_by_indices_narrow_their_branches() -> None:
    chosen = Select(Condition(i, "<", 3), a(i), b(i)) + a(i)
    assert found(chosen) == [("a(i)", False), ("b(i)", False), ("a(i)", True)]
    assert found(Select(Condition(b(i), "<", 3), a(i), b(i))) == [("b(i)", True), ("a(i)", True)]
