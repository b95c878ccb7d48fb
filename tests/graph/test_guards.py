"""Terms that a Select leaves out of a reduction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Double, Float, Int, Matrix, Op, Options, Parameter, Select, Vector
from polymat.graph.build import build
from polymat.graph.guards import leave_out_terms
from polymat.lang.expr import Const
from tests.idiom.recognise import K, M, N, i, j, k, total, upto
from tests.tolerance import assert_close

A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
S, v, t = Matrix(Int, "S", [M, K]), Vector(Float, "v", [K]), Parameter(Double, "t")
ROWS, BOTH, SUM = [(i, upto(M))], [(i, upto(M)), (j, upto(N))], [(k, upto(K))]
BELOW, NEAR = Condition(k, "<=", i), Condition(k, ">=", i - 2) & Condition(k, "<", i + 3)
PRODUCT = A(i, k) * B(k, j)

LEFT_OUT: dict[str, Any] = {
    "triangle": total("P", BOTH, SUM, Select(BELOW, PRODUCT, 0.0)),
    "band": total("P", BOTH, SUM, Select(NEAR, PRODUCT, 0)),
    "whole numbers": total("P", ROWS, SUM, Select(BELOW, S(i, k), 0), dtype=Int),
    "largest": total("P", ROWS, SUM, Select(BELOW, A(i, k), -float("inf")), op=Op.Max),
    "factors": total("P", ROWS, SUM, Select(NEAR, A(i, k), 1.0), op=Op.Mul),
    "another type": total("P", ROWS, SUM, Select(BELOW, v(k), Const(0.0, Double))),
}
KEPT: dict[str, Any] = {
    "another value": total("P", ROWS, SUM, Select(BELOW, A(i, k), 1.0)),
    "values decide": total("P", ROWS, SUM, Select(Condition(A(i, k), ">", 0), A(i, k), 0.0)),
    "an argument decides": total("P", ROWS, SUM, Select(Condition(t, ">", 0), A(i, k), 0.0)),
    "either of two": total("P", ROWS, SUM, Select(BELOW | Condition(k, ">", 2 * i), A(i, k), 0.0)),
    "a part": total("P", BOTH, SUM, Select(BELOW, A(i, k), 0.0) * B(k, j)),
    "a negative zero": total("P", ROWS, SUM, Select(BELOW, A(i, k), 0.0), init=-0.0),
    "a start": total("P", BOTH, SUM, Select(BELOW, PRODUCT, 0.0), init=C(i, j)),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_terms_that_change_nothing_are_no_points(name: str) -> None:
    output = LEFT_OUT[name]
    before = build([output])
    after = leave_out_terms(before).stage("P").accumulations[0]
    assert after.domain.set.is_strict_subset(before.stage("P").accumulations[0].domain.set)
    compiled = pm.compile(output, name="c", options=Options(threads=1))
    rng = np.random.default_rng(1)
    for m, n, depth in ((0, 0, 0), (1, 1, 1), (5, 7, 0), (3, 25, 13), (33, 9, 31)):
        extents = {"A": (m, depth), "B": (depth, n), "S": (m, depth), "v": (depth,)}
        given = {array.name: rng.uniform(-3, 3, extents[array.name]) for array in compiled.signature.inputs}
        arrays = {name: value.astype({"S": "i4", "v": "f4"}.get(name, "f8")) for name, value in given.items()}
        sizes = {} if "A" in arrays or "S" in arrays else {"M": m}
        if "A" in arrays and depth > m:
            arrays["A"][:, m + 2 :] = np.nan  # in no term of any of them
        expected = compiled.reference(**arrays, **sizes)
        magnitude = 9.0 * depth + 1 if name != "factors" else 3.0**5
        assert_close(compiled(**arrays, **sizes), expected, roundings=2 * depth + 4, magnitude=magnitude)


@pytest.mark.parametrize("name", KEPT)
def test_all_other_terms_stay(name: str) -> None:
    before = build([KEPT[name]])
    assert leave_out_terms(before).stage("P").accumulations[0] is before.stage("P").accumulations[0]


def test_a_triangle_is_one_however_it_is_written() -> None:
    square = Matrix(Double, "A", [K, K])
    inner = [(k, upto(K))]
    output = total("P", [(i, upto(K)), (j, upto(N))], inner, Select(BELOW, square(i, k) * B(k, j), 0.0))
    report = pm.compile(output, name="c", options=Options(blas="always")).explain()
    assert report.groups[0].library_calls == ("trmm",)
