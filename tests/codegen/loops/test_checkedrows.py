"""Declared values that are checked where they are read, along the rows of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Int, Interval, Op, Parameter, Reduce, Reduction, Variable, Vector

N, M, NNZ, C = (Parameter(Int, name) for name in ("N", "M", "NNZ", "C"))
i, k, c = (Variable(Int, name) for name in "ikc")
ROWS, COLUMNS = Interval(Int, 0, N - 1), Interval(Int, 0, C - 1)
TYPES = (pm.Int, pm.Long, pm.UChar, pm.UInt64, pm.Short)
value, x = Vector(pm.Double, "value", [NNZ]), Vector(pm.Double, "x", [M])
LENGTHS = (3, 0, 1, 2000, 0, 7, 5, 1100)  # some rows are longer than what is looked at before one begins


def given(dtype: Any = pm.Int, *, sorted: bool = True) -> tuple[Any, Any]:
    row = Vector(Int, "row", [N + 1], values=(0, NNZ), sorted=sorted)
    return row, Vector(dtype, "column", [NNZ], values=(0, M - 1))


def product(row: Any, column: Any, rows: Any = ROWS) -> Any:
    """A sparse matrix times a vector."""
    y = Reduction(([i], [ROWS]), ([i, k], [rows, Interval(Int, row(i), row(i + 1) - 1)]), pm.Double, "y")
    y.defn = [Reduce(y(i), value(k) * x(column(k)), Op.Sum)]
    return y


def compiled(dtype: Any, threads: int) -> pm.Compiled:
    row, column = given(dtype)
    options = pm.Options(threads=threads, parallel_threshold=0)
    return pm.compile(product(row, column), inputs=[row, column, value, x], options=options, name="rows")


def arrays(dtype: Any = pm.Int, lengths: Any = LENGTHS) -> list[Any]:
    rng = np.random.default_rng(0)
    row = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    column = rng.integers(0, 90, row[-1]).astype(dtype.dtype)
    return [row, column, rng.integers(-9, 9, row[-1]).astype(float), rng.integers(-9, 9, 90).astype(float)]


def is_checked_before(source: str) -> bool:
    """Whether the entry looks at all columns whatever the rows are."""
    return "_pm_seen_column" not in source


@pytest.mark.covering
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_one_outside_is_named_wherever_it_is(dtype: Any, threads: int) -> None:
    rows, fine = compiled(dtype, threads), arrays(dtype)
    assert not is_checked_before(rows.source)
    np.testing.assert_array_equal(rows(*fine), rows.reference(*fine))
    for at in (0, 1, 3, 4, 1027, 1028, 2003, 2010, 2016, 3114, 3115):
        for wrong in (90, np.iinfo(dtype.dtype).max, *([-1] if dtype.kind == "i" else [])):
            column = fine[1].copy()
            column[[at, -1]] = wrong
            with pytest.raises(pm.ArgumentError) as caught:
                rows(fine[0], column, *fine[2:])
            assert (
                str(caught.value) == f"rows(): column[{at}] is {wrong}, and its values are declared as 0..89"
            )
    np.testing.assert_array_equal(rows(*fine), rows.reference(*fine))


@pytest.mark.parametrize("threads", [1, 2])
def test_elements_of_no_row_are_looked_at(threads: int) -> None:
    rows = compiled(pm.Int, threads)
    _, column, values, vector = arrays()
    count = len(column)
    for ends in ([5, count], [0, count - 1], [7, 9, 9], [3], [0], [count], [0, 0, 0], [count, count]):
        row = np.array(ends, np.int32)
        inner = (column, values, vector)
        np.testing.assert_array_equal(rows(row, *inner), rows.reference(row, *inner))
        for at in (0, count - 1):
            wrong = column.copy()
            wrong[at] = 1000
            with pytest.raises(pm.ArgumentError, match=rf"column\[{at}\] is 1000"):
                rows(row, wrong, values, vector)


def test_rows_are_looked_at_before_they_are_read() -> None:
    rows = compiled(pm.Int, 1)
    _, column, values, vector = arrays()
    column[0] = -5
    for ends, text in (
        ([0, 9, 4, 20], r"row\[2\] is 4, less than 9"),
        ([0, 2**30], r"row\[1\] is 1073741824"),
    ):
        with pytest.raises(pm.ArgumentError, match=text):
            rows(np.array(ends, np.int32), column, values, vector)


def test_nothing_is_read_or_written_where_nothing_is_asked_for() -> None:
    rows = compiled(pm.Int, 2)
    nothing = np.zeros(0)
    assert rows(np.zeros(1, np.int32), np.zeros(0, np.int32), nothing, nothing).shape == (0,)
    assert np.array_equal(rows(np.zeros(4, np.int32), np.zeros(0, np.int32), nothing, nothing), np.zeros(3))


def test_several_columns_of_a_result() -> None:
    """Without columns no row is read, and the elements are looked at all the same."""
    row, column = given()
    vectors = pm.Matrix(pm.Double, "vectors", [M, C])
    inside = Interval(Int, row(i), row(i + 1) - 1)
    y = Reduction(([i, c], [ROWS, COLUMNS]), ([i, k, c], [ROWS, inside, COLUMNS]), pm.Double, "y")
    y.defn = [Reduce(y(i, c), value(k) * vectors(column(k), c), Op.Sum)]
    times = pm.compile(y, inputs=[row, column, value, vectors], name="several")
    assert not is_checked_before(times.source)
    rows, columns, values, _ = arrays()
    for count in (0, 1, 3, 8):
        some = np.random.default_rng(1).integers(-9, 9, (90, count)).astype(float)
        np.testing.assert_array_equal(
            times(rows, columns, values, some), times.reference(rows, columns, values, some)
        )
        wrong = columns.copy()
        wrong[-2] = 90
        with pytest.raises(pm.ArgumentError, match=r"column\[3114\] is 90"):
            times(rows, wrong, values, some)


def test_a_sum_into_the_places_themselves() -> None:
    row, column = given()
    w = Vector(pm.Double, "w", [N])
    inside = Interval(Int, row(i), row(i + 1) - 1)
    y = Reduction(([c], [Interval(Int, 0, M - 1)]), ([i, k], [ROWS, inside]), pm.Double, "y")
    y.defn = [Reduce(y(column(k)), value(k) * w(i), Op.Sum)]
    turned = pm.compile(y, inputs=[row, column, value, w, x], name="turned", sizes=None)
    rows, columns, values, vector = arrays()
    weights = np.arange(len(LENGTHS), dtype=float)
    calls = (rows, columns, values, weights, vector)
    np.testing.assert_array_equal(turned(*calls), turned.reference(*calls))
    columns[2500] = -1
    with pytest.raises(pm.ArgumentError, match=r"column\[2500\] is -1"):
        turned(*calls)


def test_what_others_read_is_checked_before() -> None:
    row, column = given()
    copied = pm.Function(([k], [Interval(Int, 0, NNZ - 1)]), pm.Double, "copied")
    copied.defn = [x(column(k))]
    both = pm.compile([product(row, column), copied], inputs=[row, column, value, x])
    assert is_checked_before(both.source)


def test_rows_in_no_order_are_checked_before() -> None:
    row, column = given(sorted=False)
    assert is_checked_before(pm.compile(product(row, column), inputs=[row, column, value, x]).source)


def test_only_some_rows_are_checked_before_where_there_are_more() -> None:
    """The rows but the last: elements of that one are looked at before."""
    row, column = given()
    most = pm.compile(product(row, column, Interval(Int, 0, N - 2)), inputs=[row, column, value, x])
    calls = arrays()
    np.testing.assert_array_equal(most(*calls), most.reference(*calls))
    calls[1][-1] = 90
    with pytest.raises(pm.ArgumentError, match=r"column\[3115\] is 90"):
        most(*calls)


def test_what_follows_is_not_computed_behind_an_error() -> None:
    """A second group that is written over its input leaves that as it is."""
    row, column = given()
    y, b = product(row, column), Vector(pm.Double, "b", [N])
    shifted = pm.Function(([i], [ROWS]), pm.Double, "shifted")
    shifted.defn = [y(i) + b(i)]
    options = pm.Options(fuse=False, inline=False)
    run = pm.compile(shifted, inputs=[row, column, value, x, b], options=options, name="shifted")
    calls = [*arrays(), np.arange(len(LENGTHS), dtype=float)]
    np.testing.assert_array_equal(run(*calls), run.reference(*calls))
    calls[1][3000] = 90
    out = np.full(len(LENGTHS), -7.0)
    with pytest.raises(pm.ArgumentError, match=r"column\[3000\] is 90"):
        run(*calls, out=out)
    assert np.all(out == -7)
