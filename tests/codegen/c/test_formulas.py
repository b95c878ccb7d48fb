"""Formulas in C: the same numbers and conditions as in Python, of doubles and of integers."""

from __future__ import annotations

import ctypes
import itertools

import pytest

from polymat.codegen.c.ctree import Id, Literal
from polymat.codegen.c.formulas import FormulaWriter, Kind, declarations, formula_text
from polymat.codegen.c.render import expression
from polymat.errors import InternalError
from polymat.product.formula import ALWAYS, Formula, Predicate
from polymat.product.formulanames import Fact, LetCondition, LetNumber, Name
from polymat.product.numbers import larger, quotient, root, smaller, where, whole
from polymat.runtime.libraryfile import build

A, B, F = Name("a"), Name("b"), Fact("f")
PARTS = LetNumber("parts", quotient(A, B + 1))
MANY = LetCondition("many", (PARTS > 2) | F)
FORMULAS: list[Formula] = [
    A + 2 * B,
    A - (B - 1),
    A - B - 1,
    A * (B * A),
    quotient(A * 3, B + 2) * 2,
    whole(A * 3, B + 2) - whole(A, 2),
    whole(A * 3, quotient(B + 2, 2)),
    larger(A, B) + smaller(A, B * 2),
    where(MANY & ~F, PARTS, A),
    (A < B) & ((A > 1) | F) & ~A.equals(4),
    ((A <= B) & F) | ((A >= 3) & ~(F | (B > 2))),
    (F | (A > 2)) | ((B > 1) | A.equals(0)),
    MANY & (PARTS * PARTS > A),
    ALWAYS,
]


@pytest.mark.parametrize("kind", ["double", "ptrdiff_t"])
def test_python_and_c_agree(kind: Kind) -> None:
    declared = "\n".join(declarations(FORMULAS, kind))
    cases = "".join(
        f"    if (which == {at})\n        return (double)({formula_text(each, kind)});\n"
        for at, each in enumerate(FORMULAS)
    )
    given = f"#include <stddef.h>\ndouble ask(int which, {kind} a, {kind} b, int f)\n"
    built = build(f"{given}{{\n{declared}\n{cases}    return -1;\n}}\n")
    ask = ctypes.CDLL(str(built.path)).ask
    built.release()
    number = ctypes.c_double if kind == "double" else ctypes.c_ssize_t
    ask.argtypes, ask.restype = (ctypes.c_int, number, number, ctypes.c_int), ctypes.c_double
    for (at, each), a, b, f in itertools.product(enumerate(FORMULAS), range(8), range(5), (0, 1)):
        assert ask(at, a, b, f) == each.at({"a": a, "b": b, "f": f}), (formula_text(each, kind), a, b, f)


def test_expressions_are_held_together_where_it_matters() -> None:
    assert formula_text(A / (B / 2), "double") == "a / (b / 2.0)"
    assert formula_text(~(A.equals(2)), "ptrdiff_t") == "a != 2"
    assert formula_text(~(F & (A > 2)), "ptrdiff_t") == "!(f && a > 2)"
    assert formula_text(F & (MANY & (A > 2)), "ptrdiff_t") == "f && many && a > 2"
    assert formula_text((F & (A > 2)) | MANY, "ptrdiff_t") == "(f && a > 2) || many"


def test_whole_quotients_are_those_of_the_type() -> None:
    assert formula_text(quotient(A, B), "ptrdiff_t") == "(a + b - 1) / b"
    assert formula_text(quotient(A, B), "double") == "__builtin_ceil(a / b)"
    assert formula_text(whole(A, B), "double") == "__builtin_floor(a / b)"
    assert formula_text(root(A), "double") == "__builtin_sqrt(a)"
    assert formula_text(quotient(A, 8), "ptrdiff_t") == "(a + 7) / 8"


def test_ones_are_left_out_where_they_are_given() -> None:
    unit = Name("unit")
    writer = FormulaWriter("ptrdiff_t", {"unit": Literal("1")})
    assert expression(writer.expr(quotient(A, unit) * unit + whole(B, unit))) == "a + b"


def test_names_that_stand_for_formulas_are_declared_after_what_they_need() -> None:
    assert declarations([MANY], "ptrdiff_t") == [
        "    const ptrdiff_t parts = (a + (b + 1) - 1) / (b + 1);",
        "    const int many = parts > 2 || f;",
    ]


def test_what_is_given_stands_for_names_and_the_others_begin_alike() -> None:
    writer = FormulaWriter(given={"a": Id("_pm_size"), "many": Id("_pm_known")}, prefix="_pm_")
    assert [each.name for each in writer.declared([MANY])] == ["_pm_parts"]
    assert expression(writer.expr(MANY & (PARTS > A))) == "_pm_known && _pm_parts > _pm_size"


def test_a_formula_of_another_kind_is_ours_to_mend() -> None:
    with pytest.raises(InternalError, match="no C is written for a formula that is a Predicate"):
        formula_text(Predicate(), "double")
