"""Formulas: the same numbers and conditions in Python and in C, of doubles and of integers."""

from __future__ import annotations

import ctypes
import itertools

import pytest

from polymat.product.formula import ALWAYS, Formula, Kind
from polymat.product.formulanames import Fact, LetCondition, LetNumber, Name, declarations, names
from polymat.product.numbers import larger, quotient, smaller, where, whole
from polymat.runtime.libraryfile import build

A, B, F = Name("a"), Name("b"), Fact("f")
PARTS = LetNumber("parts", quotient(A, B + 1))
MANY = LetCondition("many", (PARTS > 2) | F)
FORMULAS: list[Formula] = [
    A + 2 * B,
    A - (B - 1),
    A - B - 1,
    quotient(A * 3, B + 2) * 2,
    whole(A * 3, B + 2) - whole(A, 2),
    larger(A, B) + smaller(A, B * 2),
    where(MANY & ~F, PARTS, A),
    (A < B) & ((A > 1) | F) & ~A.equals(4),
    ((A <= B) & F) | ((A >= 3) & ~(F | (B > 2))),
    MANY & (PARTS * PARTS > A),
    ALWAYS,
]


@pytest.mark.parametrize("kind", ["double", "ptrdiff_t"])
def test_python_and_c_agree(kind: Kind) -> None:
    declared = "".join(f"    {line}\n" for line in declarations(FORMULAS, kind))
    cases = "".join(
        f"    if (which == {at})\n        return (double)({each.text(kind)});\n"
        for at, each in enumerate(FORMULAS)
    )
    given = f"#include <stddef.h>\ndouble ask(int which, {kind} a, {kind} b, int f)\n"
    built = build(f"{given}{{\n{declared}{cases}    return -1;\n}}\n")
    ask = ctypes.CDLL(str(built.path)).ask
    built.release()
    number = ctypes.c_double if kind == "double" else ctypes.c_ssize_t
    ask.argtypes, ask.restype = (ctypes.c_int, number, number, ctypes.c_int), ctypes.c_double
    for (at, each), a, b, f in itertools.product(enumerate(FORMULAS), range(8), range(5), (0, 1)):
        assert ask(at, a, b, f) == each.at({"a": a, "b": b, "f": f}), (each.text(kind), a, b, f)


def test_quotients_of_doubles_are_held_together_and_divide_exactly() -> None:
    assert (A / (B / 2)).text("double") == "a / (b / 2.0)"
    assert (A / (B * 2)).at({"a": 3, "b": 2}) == 0.75
    assert (~(A.equals(2))).text("ptrdiff_t") == "a != 2"
    assert (~(F & (A > 2))).text("ptrdiff_t") == "!(f && a > 2)"


def test_names_that_stand_for_formulas_are_declared_after_what_they_need() -> None:
    assert declarations([MANY], "ptrdiff_t") == [
        "const ptrdiff_t parts = ((a + (b + 1) - 1) / (b + 1));",
        "const int many = parts > 2 || f;",
    ]
    assert names([MANY]) == ["a", "b", "f"]


def test_a_name_is_computed_once() -> None:
    values = {"a": 9.0, "b": 2.0, "f": 0.0}
    assert MANY.holds(values)
    assert values["parts"] == 3.0
