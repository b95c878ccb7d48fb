"""Sums and maps that are there at some sizes alone, beside others over the same arrays: compiled as interpreted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Matrix, Op, Vector
from tests.idiom.recognise import M, N, i, j, point, total, upto

A, x, y = Matrix(Double, "A", [M, N]), Vector(Double, "x", [N]), Vector(Double, "y", [M])
SOME, FEWER = Condition(N, ">=", 3), Condition(N, "<", 3)


def rows(value: Any, op: Op = Op.Sum) -> pm.Reduction:
    return total("rows", [(i, upto(M))], [(j, upto(N))], value, op=op)


def columns(value: Any) -> pm.Reduction:
    return total("columns", [(j, upto(N))], [(i, upto(M))], value)


def recurrence() -> pm.Function:
    f = point("f", [(i, upto(M))], 0.0)
    first, later = SOME & Condition(i, "<=", 0), SOME & Condition(i, ">", 0)
    f.defn = [Case(first, y(0)), Case(later, 0.5 * f(i - 1) + y(i)), Case(FEWER, 2 * y(i))]
    return f


def made_and_added() -> list[Any]:
    made = point("made", [(i, upto(M)), (j, upto(N))], [Case(SOME, 2 * A(i, j)), Case(FEWER, A(i, j) - 1)])
    return [made, columns(made(i, j) * y(i))]


OUTPUTS: dict[str, list[Any]] = {
    "product": [rows([Case(SOME, A(i, j) * x(j))])],
    "maximum": [rows([Case(SOME, A(i, j))], Op.Max)],
    "rows beside columns": [rows(A(i, j) * x(j)), columns([Case(SOME, y(i) * A(i, j))])],
    "columns beside rows": [columns(y(i) * A(i, j)), rows([Case(SOME, A(i, j) * x(j))])],
    "recurrence": [recurrence()],
    "made and added": made_and_added(),
}


@pytest.mark.covering
@pytest.mark.parametrize("estimates", [{}, {M: 300, N: 200}], ids=["default", "large"])
@pytest.mark.parametrize("outputs", OUTPUTS.values(), ids=OUTPUTS)
def test_sizes_that_do_not_have_all_of_it(outputs: Sequence[Any], estimates: dict[Any, int]) -> None:
    compiled = pm.compile(outputs, inputs=[A, x, y], estimates=estimates)
    rng = np.random.default_rng(3)
    for m, n in product((1, 5, 40), (1, 2, 3, 17)):
        arrays = rng.random((m, n)), rng.random(n), rng.random(m)
        got, expected = compiled(*arrays), compiled.reference(*arrays)
        for one, other in zip(
            *([each] if isinstance(each, np.ndarray) else each for each in (got, expected)), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)
