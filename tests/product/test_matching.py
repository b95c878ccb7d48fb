"""Which stages are products of matrices for register blocks, and which triangle they have."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Double, Float, Int, Matrix, Op, Vector
from polymat.product.contraction import Contraction
from polymat.product.matching import contraction_of
from tests.codegen.test_halves import HALVES, inputs_of, structured
from tests.idiom.recognise import K, M, N, i, j, k, pipeline, total, upto
from tests.product.test_triangleways import of_symmetric

A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
RESULT, SUMMED = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]
SIZES = {"M": 100, "N": 100, "K": 100}


def matched(output: Any) -> Contraction | None:
    """What the last stage of an output is."""
    built = pipeline(output)
    return contraction_of(built.stages[-1], built.context, SIZES)


def test_a_sum_of_products_is_matched_with_its_scale() -> None:
    found = matched(total("C", RESULT, SUMMED, 2.0 * A(i, k) * B(k, j)))
    assert found is not None
    assert str(found.scale) == "2.0"
    assert (found.triangle, found.mirror, found.starts, found.more) == (None, None, False, ())


@pytest.mark.parametrize(
    "refused",
    [
        lambda: total("C", RESULT, SUMMED, A(i, k) + B(k, j)),
        lambda: total("C", RESULT, SUMMED, A(i, k) * B(k, j), op=Op.Max),
        lambda: total("C", RESULT, SUMMED, A(i, k) * A(i, k) * B(k, j)),
        lambda: total("C", RESULT, SUMMED, A(i, k) * Matrix(Double, "one", [K, 1])(k, 0)),
        lambda: total("C", [(i, upto(M))], SUMMED, A(i, k) * Vector(Double, "x", [K])(k)),
        lambda: total(
            "C", RESULT, SUMMED, Matrix(Int, "E", [M, K])(i, k) * Matrix(Int, "F", [K, N])(k, j), dtype=Int
        ),
    ],
    ids=["a sum", "the largest", "three factors", "no columns", "one dimension", "whole numbers"],
)
def test_others_are_none(refused: Any) -> None:
    assert matched(refused()) is None


def test_several_products_are_added_one_after_the_other() -> None:
    C = Matrix(Double, "C", [N, N])
    X, Y = Matrix(Double, "X", [N, K]), Matrix(Double, "Y", [N, K])
    built = pipeline(pm.syr2k(X, Y, C, 1.0, 1.0))
    found = contraction_of(built.stages[0], built.context, SIZES)
    assert found is not None
    assert len(found.products) == 2
    further = found.more[0]
    assert (further.start, further.starts) == (None, True)
    assert {found.left.source, found.right.source} == {further.left.source, further.right.source}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("place", ["left", "right", "result"])
def test_a_triangle_is_in_the_matrix_that_has_it(place: str, half: str) -> None:
    found = matched(structured(place, half, inputs_of(place, Float), Float))
    assert found is not None
    assert found.triangle is not None
    assert found.triangle.place == place
    assert found.triangle.before is (half != "upper")
    assert found.triangle.shift == (1 if half == "lower" else 0)
    assert found.half == found.triangle


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_symmetric_matrix_is_a_triangle_and_its_mirror(side: str) -> None:
    found = matched(of_symmetric(side))
    assert found is not None
    assert found.triangle is not None
    assert found.triangle.place == side
    assert found.half is None
    own = found.left if side == "left" else found.right
    assert found.mirror is not None
    assert found.mirror.source == own.source
    assert found.mirror.indices == own.indices[::-1]


@pytest.mark.parametrize("alike", [True, False])
def test_two_sums_beside_a_diagonal_are_symmetric_with_the_same_factor(alike: bool) -> None:
    S, other = Matrix(Double, "S", [M, M]), Matrix(Double, "B", [M, N])
    further = other if alike else Matrix(Double, "E", [M, N])
    spans = [upto(M), upto(N)]
    stage = pm.Reduction(([i, j], spans), ([i, j, k], [*spans, upto(M)]), Double, "C")
    stage.defn = [
        pm.Case(pm.Condition(k, "<=", i), pm.Reduce(stage(i, j), S(i, k) * other(k, j), Op.Sum)),
        pm.Case(pm.Condition(k, ">", i), pm.Reduce(stage(i, j), S(k, i) * further(k, j), Op.Sum)),
    ]
    found = matched(stage)
    assert (found is not None and found.mirror is not None) is alike
