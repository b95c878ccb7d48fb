"""Dimensions of sums of products as rows, columns and depth of a matrix product, and what is around it."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import Double, Image, Int, Matrix, Variable
from polymat.lang.affine import Affine
from polymat.product.contraction import Contraction
from polymat.product.grouping import reach
from polymat.product.matching import contraction_of
from tests.idiom.recognise import K, L, M, N, i, j, k, l, pipeline, total, upto

b, c = Variable(Int, "b"), Variable(Int, "c")
SIZES = {"M": 100, "N": 100, "K": 100, "L": 100}


def grouped(output: Any, **sizes: int) -> Contraction:
    """The contraction that the one stage of an output is."""
    built = pipeline(output)
    (stage,) = built.stages
    found = contraction_of(stage, built.context, SIZES | sizes)
    assert found is not None
    return found


def three(result: Any, left: Any, right: Any, summed: Any) -> Any:
    return total("C", result, summed, left * right)


def test_columns_are_the_last_dimension_and_the_right_operand_has_them() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    for value in (A(i, k) * B(k, j), B(k, j) * A(i, k)):
        found = grouped(total("C", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], value))
        assert (found.rows, found.columns) == ("i", "j")
        assert (found.left.source, found.right.source) == ("A", "B")
        assert found.summed == (found.depth,)
        assert found.outer == found.more_rows == found.more_columns == found.sums == ()


def test_what_both_operands_have_is_around_the_product() -> None:
    A, B = Image(Double, "A", [L, M, K]), Image(Double, "B", [L, K, N])
    result = [(b, upto(L)), (i, upto(M)), (j, upto(N))]
    found = grouped(three(result, A(b, i, k), B(b, k, j), [(k, upto(K))]))
    assert found.outer == ("b",)
    assert (found.rows, found.columns) == ("i", "j")


def test_the_longest_of_several_rows_is_that_of_register_blocks() -> None:
    A, B = Image(Double, "A", [L, M, K]), Matrix(Double, "B", [K, N])
    result = [(b, upto(L)), (i, upto(M)), (j, upto(N))]
    output = three(result, A(b, i, k), B(k, j), [(k, upto(K))])
    assert (grouped(output).rows, grouped(output).more_rows) == ("i", ("b",))
    few = grouped(output, M=2)
    assert (few.rows, few.more_rows) == ("b", ("i",))


def test_the_depth_is_the_sum_along_which_an_operand_is_contiguous() -> None:
    A, B = Image(Double, "A", [M, L, K]), Image(Double, "B", [K, L, N])
    sums = [(l, upto(L)), (k, upto(K))]
    found = grouped(three([(i, upto(M)), (j, upto(N))], A(i, l, k), B(k, l, j), sums))
    assert found.depth == grouped_name(found, 2)
    assert len(found.sums) == 1
    short = grouped(three([(i, upto(M)), (j, upto(N))], A(i, l, k), B(k, l, j), sums), K=1)
    assert short.depth == grouped_name(short, 1)


def grouped_name(found: Contraction, position: int) -> str:
    """The dimension in one of the indices of the left operand."""
    (name,) = found.left.indices[position].names()
    return name


def test_an_array_is_added_where_its_rows_are_contiguous() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    C = Matrix(Double, "C", [M, N])
    result, summed = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]
    begun = grouped(total("D", result, summed, A(i, k) * B(k, j), init=2.0 * C(i, j)))
    assert begun.start is not None
    assert (begun.start.factor.source, begun.starts) == ("C", False)
    turned = Matrix(Double, "C", [N, M])
    computed = grouped(total("D", result, summed, A(i, k) * B(k, j), init=2.0 * turned(j, i)))
    assert (computed.start, computed.starts) == (None, True)


@pytest.mark.parametrize(("terms", "values"), [(((1, "i"),), 10), (((2, "i"), (1, "j")), 2 * 9 + 4 + 1)])
def test_an_index_reaches_what_its_dimensions_do(terms: tuple[tuple[int, str], ...], values: int) -> None:
    form = sum((Affine.name(name).scale(factor) for factor, name in terms), Affine())
    assert reach(form + 7, {"i": 10.0, "j": 5.0}) == values
