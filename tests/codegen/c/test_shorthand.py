"""Conditions that are put together, and requests of lines of memory."""

from __future__ import annotations

from polymat.codegen.c.ctree import CBinary, CUnary, Evaluate, Id, Literal, Subscript
from polymat.codegen.c.render import expression, statement_text
from polymat.codegen.c.shorthand import all_of, is_request, request

LOW, HIGH = (CBinary(op, Id("k"), Literal("3")) for op in ("<=", ">="))
ELEMENT = CUnary("&", Subscript(Id("x"), Id("k")))


def test_all_of_some_conditions_each_once() -> None:
    assert expression(all_of([LOW])) == "k <= 3"
    assert expression(all_of([LOW, HIGH, LOW])) == "k <= 3 && k >= 3"


def test_requests_say_what_for() -> None:
    asked = [request(ELEMENT), request(ELEMENT, write=False), request(ELEMENT, write=True)]
    assert [statement_text(each, "") for each in asked] == [
        "__builtin_prefetch(&x[k]);",
        "__builtin_prefetch(&x[k], 0);",
        "__builtin_prefetch(&x[k], 1);",
    ]
    assert all(map(is_request, asked))
    assert not is_request(Evaluate(ELEMENT))
