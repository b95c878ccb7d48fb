"""What functions cost, for fusion and for threads alike."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat.codegen.c.elements import FUNCTIONS
from polymat.codegen.loops.work import operations
from polymat.graph.operations import _OWN, ONE_AT_A_TIME, function_operations
from polymat.lang.expr import Expr

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
x = pm.Vector(pm.Double, "x", [N])(i)
z = pm.Vector(pm.Complex, "z", [N])(i)


def test_own_functions_have_their_costs() -> None:
    assert set(_OWN) == FUNCTIONS


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        (x + 1, pm.Exp(x)),
        (pm.Sqrt(x), pm.Exp(x)),
        (x**2, x**3.5),
        (x**0.5, x**1.5),
        (pm.Exp(x), x**1.5),
        (x**1.5, pm.Erf(x)),
        (pm.Exp(x), pm.Exp(z)),
        (pm.Exp(x), pm.Atan2(x, 1.0)),
    ],
)
def test_order(cheap: Expr, dear: Expr) -> None:
    assert function_operations(cheap) < function_operations(dear) <= ONE_AT_A_TIME
    assert operations(cheap) < operations(dear)


def test_arithmetic_is_no_function() -> None:
    assert function_operations(x + 1) == function_operations(x) == 0.0
