"""Formulas of what the compiler decides in C, for what a call decides in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Literal as OneOf

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, CUnary, Declare, Id, Literal, Ternary
from polymat.codegen.c.render import INDENT, expression, statement_text
from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.product.formula import (
    ALWAYS,
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

Kind = OneOf["double", "ptrdiff_t"]
_ONE = Literal("1")


@dataclass(frozen=True, slots=True, eq=False)
class FormulaWriter:
    """Writes formulas in C.

    kind: the type of their numbers; of integers there are no roots, and quotients are rounded where a formula
    says so.  given: what stands for names, which else are variables of these names.  prefix: begins those
    that stand for formulas.
    """

    kind: Kind = "double"
    given: Mapping[str, CExpr] = field(default_factory=dict)
    prefix: str = ""

    def declared(self, formulas: Sequence[Formula]) -> Iterator[Declare]:
        """The names that stand for formulas in these, each after those that it needs; some may be given."""
        return (self.declaration(each) for each in lets(formulas) if each.name not in self.given)

    def declaration(self, let: LetNumber | LetCondition) -> Declare:
        """The variable that stands for a formula."""
        ctype = f"const {self.kind}" if isinstance(let, LetNumber) else "const int"
        return Declare(ctype, f"{self.prefix}{let.name}", self.expr(let.formula))

    def expr(self, formula: Formula) -> CExpr:
        """The expression that computes a formula."""
        match formula:
            case Name(name) | Fact(name):
                return self.given.get(name) or Id(name)
            case LetNumber(name) | LetCondition(name):
                return self.given.get(name) or Id(f"{self.prefix}{name}")
            case Constant(value):
                return Literal(repr(float(value)) if self.kind == "double" else str(int(value)))
            case Arithmetic(sign, left, right) | Comparison(sign, left, right) | Joined(sign, left, right):
                made = CBinary(sign, self.expr(left), self.expr(right))
                return made.left if sign in ("*", "/") and made.right == _ONE else made
            case Denied(Comparison("==", left, right)):
                return CBinary("!=", self.expr(left), self.expr(right))
            case Denied(condition):
                return CUnary("!", self.expr(condition))
            case Rounded(up, left, right):
                return self._rounded(up, self.expr(left), self.expr(right))
            case Choice(condition, chosen, other):
                return Ternary(self.expr(condition), self.expr(chosen), self.expr(other))
            case Root(square):
                return CCall("__builtin_sqrt", (self.expr(square),))
        if formula is ALWAYS:
            return Literal("1")
        raise InternalError(
            f"bug in polymat: no C is written for a formula that is a {type(formula).__name__}"
        )

    def _rounded(self, up: bool, left: CExpr, right: CExpr) -> CExpr:
        """A quotient as a whole number."""
        if self.kind == "double":
            return CCall(f"__builtin_{'ceil' if up else 'floor'}", (CBinary("/", left, right),))
        if right == _ONE:
            return left
        if isinstance(right, Literal) and right.text.isdigit():
            more = CBinary("+", left, Literal(str(int(right.text) - 1)))
        else:
            more = CBinary("-", CBinary("+", left, right), _ONE)
        return CBinary("/", more if up else left, right)


# Of formulas, which are constants of the package.
@cache
def formula_text(formula: Formula, kind: Kind) -> str:
    """The text of a formula, of variables with its names."""
    return expression(FormulaWriter(kind).expr(formula))


def declarations(formulas: Sequence[Formula], kind: Kind) -> list[str]:
    """Declarations in a function of the names that stand for formulas in these, each after what it needs."""
    return [_declaration(each, kind) for each in lets(formulas)]


# As above.
@cache
def _declaration(let: LetNumber | LetCondition, kind: Kind) -> str:
    return statement_text(FormulaWriter(kind).declaration(let), INDENT)
