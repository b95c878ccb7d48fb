"""What builders of signals are told: the kinds of stages to make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from polymat.dataclass import dataclass
from polymat.lang import later
from polymat.lang.affine import Affine, FloorDiv
from polymat.lang.algebra import Result
from polymat.lang.expr import CastExpr, Const, Expr, as_expr, binary
from polymat.lang.types import WEAK_INT, Long

R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Makers(Generic[R]):
    """How a computed and an accumulated signal are made, from domains and an element type."""

    computed: Callable[[Any, Any], R]
    accumulated: Callable[[Any, Any, Any], R]


@later.extent_expression.given
def extent_expression(form: Affine) -> Expr:
    """The value of an extent, `A.shape[0]`, in arithmetic: as weak as the Python number that NumPy's is."""
    if form.is_constant:
        return as_expr(form.const)
    leaves: dict[str, Expr] = {parameter.name: parameter for parameter in form.parameters}
    return CastExpr(index_expression(form, leaves), WEAK_INT)


def index_expression(form: Affine, leaves: dict[str, Expr]) -> Expr:
    """An affine form as an expression over the variables and parameters that stand for its names."""
    total: Expr = Const(form.const, Long)
    for atom, coefficient in form.terms:
        if isinstance(atom, FloorDiv):
            value = binary("//", index_expression(atom.numerator, leaves), Const(atom.divisor, Long))
        elif isinstance(atom, str):
            value = leaves[atom]
        else:
            value = CastExpr(atom.value, Long)
        term = value if coefficient == 1 else binary("*", Const(coefficient, Long), value)
        total = term if total == Const(0, Long) else binary("+", total, term)
    return total
