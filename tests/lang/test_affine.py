"""Affine forms: arithmetic, equality, text, and reading them from expressions."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.errors import BoundsError, LangError, NotAffineError
from polymat.lang.affine import Affine, extremes
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast, Select
from polymat.lang.expr import Parameter, Variable
from polymat.lang.function import Case, Function
from polymat.lang.indices import as_affine
from polymat.lang.interval import Interval
from polymat.lang.matrix import Vector
from polymat.lang.types import Double, Int, Long, Short, UChar, UInt

N, M = Parameter(Int, "N"), Parameter(Long, "M")
i, j = Variable(Int, "i"), Variable(Int, "j")
x = Vector(Double, "x", [N])
VALUES = {"N": 17, "M": -5, "i": 3, "j": 11}


@pytest.mark.parametrize(
    ("expr", "text", "value"),
    [
        (N, "N", 17),
        (2 * N + M - 1, "2*N + M - 1", 28),
        (-(i - j), "-i + j", 8),
        (N - N, "0", 0),
        (3 * (i + 2), "3*i + 6", 15),
        (i * 2 // 2, "i", 3),
        (N // 2, "(N)//2", 8),
        ((M - 1) // 4, "(M - 1)//4", -2),
        ((2 * N + 1) // 2, "N", 17),
        (j % 4, "j - 4*((j)//4)", 3),
        (M % 3, "M - 3*((M)//3)", 1),
        (Cast(Long, i) + 1, "i + 1", 4),
        (Cast(UChar, 255) + i, "i + 255", 258),
        (7, "7", 7),
        (0 * N, "0", 0),
        (N // 2 * 2 - N, "2*((N)//2) - N", -1),
        (-(N // 2) + M, "-((N)//2) + M", -13),
        (M - N // 2, "M - (N)//2", -13),
    ],
)
def test_expression_reads_as_affine(expr: Any, text: str, value: int) -> None:
    form = as_affine(expr, None)
    assert str(form) == text
    assert form.evaluate(VALUES) == value
    assert eval(text, {}, VALUES) == value  # as Python reads it


def test_order_is_no_part_of_equality() -> None:
    one, other = as_affine(N + M + 1, None), as_affine(M + 1 + N, None)
    assert one == other
    assert hash(one) == hash(other)
    assert as_affine((N + M) // 2, None) == as_affine((M + N) // 2, None)
    assert one != as_affine(N + M, None)
    assert one != "N + M + 1"


def test_substitution_is_simultaneous() -> None:
    form = as_affine(i + 2 * j + (i + j) // 3, None)
    swapped = form.substitute({"i": Affine.name("j"), "j": Affine.name("i")})
    assert swapped == as_affine(j + 2 * i + (i + j) // 3, None)
    assert list(form.names()) == ["i", "j", "i", "j"]
    assert (form.coefficient("j"), form.coefficient("N")) == (2, 0)


def test_extremes_enclose() -> None:
    bounds = {"i": (Affine(), as_affine(N - 1, None))}
    assert [str(e) for e in extremes(as_affine(3 - 2 * i, None), bounds)] == ["-2*N + 5", "3"]
    assert [str(e) for e in extremes(as_affine(i // 2 + M, None), bounds)] == ["M", "(N - 1)//2 + M"]


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (i * j, "not affine: i * j"),
        (1 + N * N, "not affine: N * N"),
        (i // N, "not affine: i // N"),
        (i % 0, "not affine: i % 0"),
        (i // -2, "not affine: i // (-2)"),
        (i / 2, "not affine: i / 2"),
        (i**2, "not affine: i ** 2"),
        (x(i), "not affine: x(i)"),
        (1.5, "not affine: 1.5 is not an integer"),
        (i + 2.0, "not affine: 2.0 is not an integer"),
        (Parameter(Double, "N") - 1, "not affine: the parameter N is a Double, not an integer"),
        (Cast(Int, Parameter(Double, "a")), "not affine: the parameter a is a Double"),
        (Cast(UChar, i) + 1, "not affine: Cast(UChar, i)"),
        (Cast(Short, N), "not affine: Cast(Short, N)"),
        (Cast(UInt, i - 5), "not affine: Cast(UInt, i - 5)"),
        (Cast(UChar, Cast(Int, 256)), "not affine: Cast(UChar, "),
    ],
)
def test_other_expressions_are_not_affine(expr: Any, message: str) -> None:
    with pytest.raises(NotAffineError) as caught:
        as_affine(expr, None)
    assert caught.value.message.startswith(message)


def test_an_index_that_comes_round_in_a_small_type_bounds_nothing() -> None:
    """i % 256 is below 5 at i = 256, too, where five elements end."""
    five, domain = Vector(Double, "five", [5]), ([i], [Interval(Int, 0, N - 1)])
    f, g = Function(domain, Double, "f"), Function(domain, Double, "g")
    low = Condition(Cast(UChar, i), "<", 5)
    f.defn = [Select(low, five(i), 0.0)]
    with pytest.raises(BoundsError, match=r"f reads five\(i\) outside five: at i = 5"):
        pm.compile(f)
    g.defn = [Case(low, 1.0), Case(~low, 2.0)]  # was a condition on i itself
    with pytest.raises(NotAffineError, match=r"not affine: Cast\(UChar, i\)"):
        pm.compile(g)
    h = Function(domain, Double, "h")
    h.defn = [Select(Condition(Cast(UInt, i - 5), "<", N), 0.0, five(i - N - 5))]
    with pytest.raises(BoundsError, match=r"h reads five\(i - N - 5\) outside five"):
        pm.compile(h)
    with pytest.raises(NotAffineError) as caught:
        as_affine(Cast(UChar, i), None)
    assert caught.value.hint == "the index itself, i, or its bits, (i) % 256 say"


@pytest.mark.parametrize("value", [None, "N", [1], True, x, {}, object()])
def test_other_values_are_no_index(value: Any) -> None:
    with pytest.raises(LangError):
        as_affine(value, None)


def test_deep_index_sums_are_read() -> None:
    index: Any = i
    for _ in range(5000):
        index = index + 1
    assert str(as_affine(index, None)) == "i + 5000"
