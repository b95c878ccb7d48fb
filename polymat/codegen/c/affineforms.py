"""Affine forms as C: sums of sizes, dimensions and what is computed from data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polymat.codegen.c.ctree import Cast, CBinary, CCall, CExpr, CUnary, Literal
from polymat.codegen.c.needs import FLOORDIV_I64, Need
from polymat.lang.affine import Affine, Computed, FloorDiv

NO_VALUES: Mapping[Computed, CExpr] = MappingProxyType({})


def affine_expr(
    form: Affine,
    index: Callable[[str], CExpr],
    needs: set[Need],
    values: Mapping[Computed, CExpr] = NO_VALUES,
) -> CExpr:
    """An affine form over names that `index` knows; positive terms first, so that it reads well.

    values: of what is computed from data.
    """
    terms = sorted(form.terms, key=lambda term: term[1] < 0)
    total: CExpr | None = None
    for atom, coefficient in terms:
        match atom:
            case FloorDiv(numerator, divisor):
                needs.add(FLOORDIV_I64)
                inner = affine_expr(numerator, index, needs, values)
                value: CExpr = CCall(FLOORDIV_I64.function, (inner, Literal(str(divisor))))
            case Computed():
                value = Cast("ptrdiff_t", values[atom], atom.limits)
            case _:
                value = index(atom)
        if abs(coefficient) != 1:
            value = CBinary("*", Literal(str(abs(coefficient))), value)
        if total is None:
            total = CUnary("-", value) if coefficient < 0 else value
        else:
            total = CBinary("-" if coefficient < 0 else "+", total, value)
    if total is None:
        return Literal(str(form.const))
    if form.const:
        return CBinary("-" if form.const < 0 else "+", total, Literal(str(abs(form.const))))
    return total
