"""What statements declare and change, scope by scope."""

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Subscript,
)
from polymat.codegen.c.scopes import changed, declared, every, pragma_names, redeclared
from polymat.codegen.c.vectorloops import Vectors

ONE, N = Literal("1"), Id("N")
PLACED = Declare("const size_t", "at", CCall("place", (CUnary("&", Id("bytes")), ONE)))
INNER = Block((Declare("double", "x", ONE), Assign(Id("x"), "+=", N)))
LOOP = For("i", Literal("0"), CBinary("<", Id("i"), N), ONE, (INNER,), (Vectors((("+", ("total",)),)),))
BODY = (
    Declare("size_t", "bytes", ONE),
    Declare("double", "row[4]"),
    PLACED,
    LOOP,
    If(N, (Assign(Subscript(Id("row"), ONE), "=", N),), (Assign(Id("state"), "=", ONE),)),
)


def test_what_a_scope_declares_is_its_own() -> None:
    assert declared(BODY) == {"bytes", "row", "at"}
    assert redeclared(BODY) == {"i", "x"}
    assert redeclared((INNER, Declare("int", "y"))) == {"x"}


def test_assignments_and_addresses_change_variables_and_elements_do_not() -> None:
    assert changed(BODY) == {"bytes", "x", "state"}
    assert changed((Evaluate(CUnary("&", Subscript(Id("row"), ONE))),)) == set()


def test_every_statement_is_found_once() -> None:
    assert len([*every(BODY)]) == 10
    assert [*every((LOOP,))][:2] == [LOOP, INNER]


def test_variables_that_pragmas_name() -> None:
    assert "total" in pragma_names(LOOP)
