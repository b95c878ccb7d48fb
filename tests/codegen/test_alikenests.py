"""Nests of a tile that are alike but for the names of their arrays share a C function."""

from __future__ import annotations

from polymat.codegen.alikenests import with_one_function
from polymat.codegen.c.ctree import Assign, CBinary, CFunction, CParameter, Id, Literal, Subscript
from polymat.codegen.loops.nestfunction import NestFunction


def nest(name: str, source: str, result: str, ctype: str = "double *", helper: str = "") -> NestFunction:
    """A function that copies an element from one array to another."""
    copied = Assign(Subscript(Id(result), Id("n")), "=", Subscript(Id(source), Literal("0")))
    parameters = (CParameter(ctype, source), CParameter("double *", result), CParameter("ptrdiff_t", "n"))
    function = CFunction("void", name, parameters, (copied,), f"{name}(i)\n= a copy")
    helpers = (CFunction("void", helper, (), ()),) if helper else ()
    return NestFunction(function, (Id(source), Id(result), Id("n")), (), helpers=helpers)


def called(*nests: NestFunction) -> list[str]:
    """The functions that nests call; all of them are there, each once."""
    found, functions = with_one_function(nests)
    names = [each.function.name for each in found]
    there = [function.name for function in functions]
    assert len(there) == len(set(there))
    assert set(names) <= set(there)
    assert [each.arguments for each in found] == [each.arguments for each in nests]
    assert [each.function.parameters for each in found] == [each.function.parameters for each in nests]
    return names


def test_copies_of_a_step_are_one_function() -> None:
    nests = nest("b", "a0", "b0"), nest("c", "b0", "c0"), nest("d", "c0", "d0")
    assert called(*nests) == ["b", "b", "b"]
    _, (only,) = with_one_function(nests)
    assert only.comment == "b(i)\n= a copy\nof the same form, with other arrays: c(i), d(i)"


def test_what_differs_stays() -> None:
    assert called(nest("b", "x", "y"), nest("c", "x", "y", "float *")) == ["b", "c"]
    assert called(nest("b", "x", "y"), nest("c", "y", "x")) == ["b", "b"]
    turned = nest("c", "x", "y")
    first, *others = turned.function.parameters
    swapped = (others[0], first, *others[1:])
    other = NestFunction(
        CFunction("void", "c", swapped, turned.function.body), (Id("y"), Id("x"), Id("n")), ()
    )
    assert called(nest("b", "x", "y"), other) == ["b", "c"]


def test_operations_and_numbers_tell_functions_apart() -> None:
    nests = []
    for number, (op, value) in enumerate((("+", "1"), ("-", "1"), ("+", "2"), ("+", "1"))):
        stored = Assign(Subscript(Id("x"), Literal("0")), "=", CBinary(op, Id("x"), Literal(value)))
        function = CFunction("void", f"n{number}", (CParameter("double *", "x"),), (stored,))
        nests.append(NestFunction(function, (Id("x"),), ()))
    assert called(*nests) == ["n0", "n1", "n2", "n0"]


def test_functions_with_helpers_stay() -> None:
    assert called(nest("b", "x", "y", helper="h"), nest("c", "x", "y", helper="g")) == ["b", "c"]
