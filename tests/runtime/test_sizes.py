"""Rows of a signature in Python: values, the sizes that follow from extents, and their text."""

from __future__ import annotations

import pytest

from polymat.codegen.c.abi import Array, Row, Signature, Size
from polymat.errors import InternalError
from polymat.runtime.sizes import (
    evaluation_order,
    invert,
    merged,
    origin_text,
    row_text,
    row_value,
    shape_text,
    symbol_text,
)

N, M = 0, 1
HALF = Row(1, ((N, 1),), 2)  # (N + 1)//2, the symbol 2 below


def signature(*extents: Row, sizes: tuple[Size, ...] = (), derived: tuple[Row, ...] = ()) -> Signature:
    return Signature("p", (Array("A", "float64", extents),), (), sizes, derived)


def both(*rows: Row) -> Signature:
    return signature(*rows, sizes=(Size("N", 0, 0), Size("M", 0, 1)), derived=(HALF,))


def test_rows_are_rounded_down() -> None:
    assert row_value(Row(1, ((N, 3), (M, -1)), 2), {N: 2, M: 4}) == 1
    assert row_value(Row(0, ((N, -1),), 2), {N: 3}) == -2


def test_the_launcher_s_arithmetic_would_overflow() -> None:
    assert row_value(Row(0, ((N, 2),)), {N: 2**62 - 1}) == 2**63 - 2
    assert row_value(Row(0, ((N, 2),)), {N: 2**62}) is None
    assert row_value(Row(1, ((N, 1),)), {N: 2**63 - 1}) is None


def test_terms_of_one_symbol_are_one_and_may_cancel() -> None:
    assert merged(Row(0, ((N, 2), (M, 1), (N, -2)))) == ((M, 1),)
    assert merged(Row(0, ((N, 2), (N, 3)))) == ((N, 5),)


@pytest.mark.parametrize(
    ("row", "extent", "size"),
    [
        (Row(-1, ((N, 2),)), 9, 5),
        (Row(0, ((N, 1),), 2), 3, 6),  # of 6 and 7 the smaller
        (Row(1, ((N, 1),), 2), 3, 5),
        (Row(0, ((N, 2),), 3), 3, 5),
        (Row(10, ((N, -1),)), 3, 7),
        (Row(0, ((N, 1), (M, 3))), 20, 14),
    ],
)
def test_a_size_follows_from_an_extent(row: Row, extent: int, size: int) -> None:
    found = invert(both(row, Row(0, ((M, 1),))), N)
    assert found.size(extent, {M: 2}) == size
    assert row_value(row, {N: size, M: 2}) == extent


def test_no_size_follows_from_what_overflows() -> None:
    assert invert(both(Row(0, ((N, 1),), 2), Row(0)), N).size(2**62, {}) is None
    assert invert(both(Row(-5, ((N, 1),)), Row(0)), N).size(2**63 - 1, {}) is None


def test_a_size_that_cancels_is_a_bug() -> None:
    with pytest.raises(InternalError, match="p: N is not in its dimension's row"):
        invert(both(Row(3, ((N, 1), (N, -1))), Row(0)), N)


def test_what_is_derived_comes_as_early_as_it_can() -> None:
    assert evaluation_order(both(Row(0, ((N, 1),)), Row(0, ((2, 1), (M, 1))))) == (N, 2, M)
    with pytest.raises(InternalError, match=r"size N needs M first"):
        evaluation_order(both(Row(0, ((N, 1), (M, 1))), Row(0, ((M, 1),))))
    circle = signature(derived=(Row(0, ((1, 1),)), Row(0, ((0, 1),))))
    with pytest.raises(InternalError, match="form a circle"):
        evaluation_order(circle)


def test_rows_as_they_are_written() -> None:
    known = both(Row(0), Row(0))
    texts = [row_text(known, row) for row in (Row(0), Row(-1, ((N, 2),)), Row(2, ((N, -1), (M, 1))), HALF)]
    assert texts == ["0", "2*N - 1", "-N + M + 2", "(N + 1)//2"]
    assert row_text(known, Row(0, ((N, 3),), 2)) == "3*N//2"
    assert symbol_text(known, 2) == "((N + 1)//2)"
    assert shape_text(known, [Row(0, ((2, 2),))]) == "(2*((N + 1)//2),)"
    assert shape_text(known, [Row(3), Row(0, ((M, 1),))]) == "(3, M)"


def test_where_a_size_came_from() -> None:
    known = both(Row(0, ((N, 1),)), Row(0, ((M, 1),)))
    assert origin_text(known, known.sizes[1]) == "which A's dimension 1 sets"
    assert origin_text(known, Size("K", -1)) == "which is passed by name"
