"""Formulas of what the compiler decides as C expressions, for what a call decides in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, CUnary, Declare, Id, Literal, Ternary
from polymat.errors import InternalError
from polymat.product.formula import (
    Arithmetic,
    Choice,
    Comparison,
    Constant,
    Denied,
    Formula,
    Joined,
    Rounded,
)
from polymat.product.formulanames import Fact, LetCondition, LetNumber, Name, lets
from polymat.product.numbers import Root

PREFIX = "_pm_"


def formula_expr(formula: Formula, given: Mapping[str, CExpr]) -> CExpr:
    """A formula of doubles in C; given: what whoever asks gives, by its name."""
    match formula:
        case Constant(value):
            return Literal(repr(float(value)))
        case Name(name) | Fact(name):
            return given[name]
        case LetNumber(name) | LetCondition(name):
            return Id(f"{PREFIX}{name}")
        case Arithmetic(sign, left, right) | Comparison(sign, left, right) | Joined(sign, left, right):
            return CBinary(sign, formula_expr(left, given), formula_expr(right, given))
        case Rounded(up, left, right):
            quotient = CBinary("/", formula_expr(left, given), formula_expr(right, given))
            return CCall("ceil" if up else "floor", (quotient,))
        case Choice(condition, chosen, other):
            if function := _extreme(condition, chosen, other):
                return CCall(function, (formula_expr(chosen, given), formula_expr(other, given)))
            return Ternary(*(formula_expr(part, given) for part in formula.parts))
        case Denied(condition):
            return CUnary("!", formula_expr(condition, given))
        case Root(square):
            return CCall("sqrt", (formula_expr(square, given),))
    raise InternalError(f"bug in polymat: no C is written for a formula that is a {type(formula).__name__}")


def _extreme(condition: Formula, chosen: Formula, other: Formula) -> str | None:
    """The function that chooses the larger or the smaller of two numbers; None where something else does."""
    match condition:
        case Comparison("<" | ">" as sign, left, right) if left is chosen and _same(right, other):
            return "fmin" if sign == "<" else "fmax"
    return None


def _same(one: Formula, other: Formula) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return one.value == other.value
    return one is other


def declared(formulas: Sequence[Formula], given: Mapping[str, CExpr]) -> Iterator[Declare]:
    """The names that stand for formulas in these, each after those that it needs; some may be given."""
    for each in lets(formulas):
        if each.name not in given:
            ctype = "const double" if isinstance(each, LetNumber) else "const int"
            yield Declare(ctype, f"{PREFIX}{each.name}", formula_expr(each.formula, given))
