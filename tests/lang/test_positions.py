"""Op.ArgMin and Op.ArgMax where not every point of the intervals counts, beside plain loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Int, Interval, Long, Op, Parameter, Reduce, Reduction, Variable

M, N = (Parameter(Int, name) for name in "MN")
i, k = (Variable(Int, name) for name in "ik")
ROWS, POINTS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)


@pytest.mark.parametrize("op", [Op.ArgMin, Op.ArgMax])
def test_products_are_kept_where_a_case_counts_them_alone(op: Op) -> None:
    """Elsewhere what they read does not exist."""
    a = pm.Matrix(Double, "a", [M, N])
    place = Reduction(([i], [ROWS]), ([i, k], [ROWS, POINTS]), Long, "place")
    place.defn = [Case(Condition(k, ">=", 1), Reduce(place(i), a(i, k - 1) * a(i, k), op))]
    assert place.extreme is not None
    compiled = pm.compile([place, place.extreme])
    for shape in ((3, 2), (1, 7), (5, 33)):
        given = np.random.default_rng(shape[1]).standard_normal(shape)
        products = given[:, :-1] * given[:, 1:]
        wanted = 1 + (products.argmin(axis=1) if op is Op.ArgMin else products.argmax(axis=1))
        for found, extreme in (compiled(given), compiled.reference(given)):
            np.testing.assert_array_equal(found, wanted)
            best = products[np.arange(shape[0]), wanted - 1]
            np.testing.assert_allclose(extreme, best, rtol=1e-15)


def test_products_within_the_rows_of_a_sparse_matrix() -> None:
    row = pm.Vector(Int, "row", [M + 1], values=(0, N), sorted=True)
    v = pm.Vector(Double, "v", [N])
    own = Interval(Int, row(i), row(i + 1) - 1)
    place = Reduction(([i], [ROWS]), ([i, k], [ROWS, own]), Long, "place")
    place.defn = [Reduce(place(i), v(k) * v(k), Op.ArgMax)]
    compiled = pm.compile(place, inputs=[row, v])
    ends, values = np.array([0, 3, 4, 9], np.int32), np.random.default_rng(0).standard_normal(9)
    wanted = [low + (values[low:high] ** 2).argmax() for low, high in pairwise(ends)]
    for call in (compiled, compiled.reference):
        np.testing.assert_array_equal(call(ends, values), wanted)
