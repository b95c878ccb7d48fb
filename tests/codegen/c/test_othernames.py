"""Trees with other expressions, or names, in place of some."""

from __future__ import annotations

from polymat.codegen.c.ctree import Assign, CBinary, CCall, CExpr, For, Id, Literal, Subscript
from polymat.codegen.c.othernames import called_otherwise, substituted
from polymat.codegen.c.render import statement_text

K, N = Id("i"), Id("N")
X, Y = Subscript(Id("x"), K), CCall("f", (Subscript(Id("y"), K), N))
LOOP = For("i", Literal("0"), CBinary("<", K, N), Literal("1"), (Assign(X, "=", Y), Assign(X, "+=", N)))


def test_what_has_none_of_them_is_the_same_tree() -> None:
    assert substituted(LOOP, {}) is LOOP
    assert substituted(LOOP, {Id("j"): N, Literal("7"): K}) is LOOP
    assert called_otherwise(LOOP, {"g": "h"}) is LOOP


def test_what_changes_is_made_anew_and_nothing_else() -> None:
    found = substituted(LOOP, {Y: Id("t"), Literal("7"): K})
    assert statement_text(found, "") == statement_text(LOOP, "").replace("f(y[i], N)", "t")
    assert found.body[1] is LOOP.body[1]


def test_a_larger_expression_goes_before_what_it_is_made_of() -> None:
    value: CExpr = X
    assert substituted(value, {K: N, X: Id("t")}) == Id("t")
    assert substituted(X, {K: N}) == Subscript(Id("x"), N)


def test_other_names_of_functions() -> None:
    found = called_otherwise(LOOP, {"f": "g"})
    assert statement_text(found, "") == statement_text(LOOP, "").replace("f(", "g(")
    assert found.body[1] is LOOP.body[1]
    handed = CCall("run", (Id("f"), K))
    assert called_otherwise(handed, {"f": "g"}) == CCall("run", (Id("g"), K))
