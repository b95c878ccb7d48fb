"""Rows of results between bounds from data, in registers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Int, Interval, Op, Parameter, Reduce, Reduction, Variable, Vector
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CExpr,
    CFunction,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.render import function_text
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.registerrows import with_register_rows
from polymat.codegen.program import Program
from tests.codegen.loops.test_jam import before_guard
from tests.fixed import NARROW, WIDE, compiled_levels, own_c

M, N, NNZ, C = (Parameter(Int, name) for name in ("M", "N", "NNZ", "C"))
i, k, c = (Variable(Int, name) for name in "ikc")
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, C - 1)
LENGTHS = (0, 1, 2, 3, 0, 40, 1, 7, 300, 0)
WIDTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 70, 130)


def sums(dtype: Any, start: Any = 0.0, scale: Any = None) -> tuple[Any, list[Any]]:
    """A sparse matrix times some vectors, or the sums of rows of a ragged array."""
    row = Vector(Int, "row", [M + 1], values=(0, NNZ), sorted=True)
    column = Vector(Int, "column", [NNZ], values=(0, N - 1))
    value, x = Vector(dtype, "value", [NNZ]), pm.Matrix(dtype, "x", [N, C])
    b = Vector(dtype, "b", [C])
    inside = Interval(Int, row(i), row(i + 1) - 1)
    y = Reduction(([i, c], [ROWS, COLUMNS]), ([i, k, c], [ROWS, inside, COLUMNS]), dtype, "y", start)
    term = value(k) * x(column(k), c)
    y.defn = [Reduce(y(i, c), term if scale is None else scale(term, x(column(k), c), b(c)), Op.Sum)]
    return y, [row, column, value, x, b]


@cache
def compiled(dtype: Any, start: float, threads: int) -> Any:
    y, inputs = sums(dtype, start)
    options = pm.Options(threads=threads, parallel_threshold=0)
    return pm.compile(y, inputs=inputs[:-1], options=options, name="rows")


def arrays(dtype: Any, width: int) -> list[Any]:
    rng = np.random.default_rng(width)
    row = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int32)
    column = rng.integers(0, 50, row[-1]).astype(np.int32)
    drawn = (rng.standard_normal(shape).astype(dtype.dtype) for shape in (row[-1], (50, width)))
    return [row, column, *drawn]


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("start", [0.0, 1.5])
def test_columns_of_any_number(dtype: Any, threads: int, start: float) -> None:
    for width in WIDTHS:
        row, column, value, x = arrays(dtype, width)
        found = compiled(dtype, start, threads)(row, column, value, x)
        assert found.shape == (len(LENGTHS), width)
        for number, (low, high) in enumerate(pairwise(row)):
            terms = value[low:high, None].astype(float) * x[column[low:high]].astype(float)
            bound = (high - low + 2) * np.finfo(dtype.dtype).eps * (np.abs(terms).sum(axis=0) + abs(start))
            assert np.all(np.abs(found[number] - terms.sum(axis=0) - start) <= bound)


def test_rows_that_nobody_names_are_not_added() -> None:
    """Lanes behind the end of a row would be those of the next one, which is NaN here."""
    row, column, value, x = arrays(Double, 5)
    x[7:9] = np.nan
    column[(column == 7) | (column == 8)] = 6
    assert not np.isnan(compiled(Double, 0.0, 1)(row, column, value, x)).any()


def c_of(dtype: Any, machine: Any = WIDE, **asked: Any) -> str:
    y, inputs = sums(dtype, **asked)
    program = compiled_levels(y, inputs=inputs, machine=machine)["codegen"]
    assert isinstance(program, Program)
    return " ".join(own_c(program).split())


def test_which_sums_are_in_registers() -> None:
    for machine, lanes in ((WIDE, 8), (NARROW, 4)):
        text = c_of(Double, machine)
        assert "_pm_row_f64 _pm_lanes_3 = {0}" in text
        assert f"c += {4 * lanes}" in text
        assert "const double _pm_same_0 = value[k];" in text
    pooled = c_of(Float, scale=lambda term, element, b: element)
    assert "_pm_lanes_0 += _pm_part_load_f32(&x[" in pooled
    assert "_pm_same_0" not in pooled
    both = c_of(Double, scale=lambda term, element, b: term * b + element)
    assert "_pm_row_load_f64(&b[c])" in both
    assert "_pm_lanes" not in c_of(Double, scale=lambda term, element, b: pm.Exp(term))
    assert "_pm_lanes" not in c_of(Int, start=0)


Y, X, A = (Id(name) for name in "yxa")
TYPES = RowTypes("f64", 8)


def loop(variable: str, body: Sequence[Stmt], end: str = "n", start: str = "0") -> For:
    return For(variable, Literal(start), CBinary("<", Id(variable), Id(end)), Literal("1"), tuple(body))


def element(array: CExpr, index: str) -> Subscript:
    return Subscript(array, Id(index))


def text_of(*statements: Stmt, types: RowTypes = TYPES) -> str | None:
    made = with_register_rows(statements, types, {"x", "a"})
    return None if made is None else " ".join(function_text(CFunction("void", "f", (), made)).split())


TERM = CBinary("*", element(A, "k"), element(X, "j"))
ADDED = Assign(element(Y, "j"), "+=", TERM)
FROM = Declare("const ptrdiff_t", "from", Literal("3"))


def added(*body: Stmt) -> Block:
    return Block((FROM, loop("k", [loop("j", body or [ADDED])], "m")))


ZERO = loop("j", [Assign(element(Y, "j"), "=", Literal("0.0"))])


def test_vectors_of_a_row_as_many_as_there_are() -> None:
    text = text_of(ZERO, added())
    assert text is not None
    assert "y[j] = 0.0" not in text
    assert "{ const ptrdiff_t from = 3; for (ptrdiff_t j = 0; j < n; j += 32) {" in text
    assert "const ptrdiff_t _pm_left = _pm_min_i64(n - j, 32);" in text
    assert "if (_pm_left <= 8) { const _pm_part_mask_f64 _pm_some = _PM_PART_MASK_f64(_pm_left);" in text
    assert "_PM_PART_MASK_f64(_pm_left - 24); _pm_row_f64 _pm_lanes_0 = {0};" in text
    assert (
        "for (ptrdiff_t k = 0; k < m; k++) { const double _pm_same_0 = a[k]; "
        "_pm_lanes_0 += _pm_same_0 * _pm_row_load_f64(&x[j]); "
        "_pm_lanes_1 += _pm_same_0 * _pm_part_load_f64(&x[j + 8], _pm_some); }"
    ) in text
    assert (
        "_pm_row_store_f64(&y[j], _pm_lanes_0); _pm_part_store_f64(&y[j + 8], _pm_lanes_1, _pm_some)" in text
    )


def test_rows_that_have_begun_go_on() -> None:
    """Where nothing, or something else, is in front of the loop."""
    others = (
        loop("j", [Assign(element(Y, "j"), "=", Literal("1.0"))]),
        loop("j", [Assign(element(Y, "j"), "=", Literal("0.0"))], "m"),
        loop("j", [Assign(element(Y, "j"), "=", Literal("0.0"))], start="1"),
        loop("j", [Assign(element(A, "j"), "=", Literal("0.0"))]),
        loop("j", [Assign(element(Y, "j"), "=", element(X, "j"))]),
    )
    for before in ((), *((each,) for each in others)):
        text = text_of(*before, added())
        assert text is not None
        assert "_pm_row_f64 _pm_lanes_0 = _pm_row_load_f64(&y[j]);" in text
        assert "_pm_row_f64 _pm_lanes_0 = _pm_part_load_f64(&y[j], _pm_some);" in text
    renamed = loop("c", [Assign(element(Y, "c"), "=", Literal("0.0"))])
    assert "{0}" in str(text_of(renamed, added()))


def test_what_stays_in_memory() -> None:
    assert text_of(ZERO, added(), types=RowTypes("f64", 2)) is None
    wrong = (
        Assign(element(Y, "k"), "+=", TERM),
        Assign(element(Y, "j"), "-=", TERM),
        Assign(element(Y, "j"), "+=", CBinary("*", element(Id("z"), "k"), element(X, "j"))),
        Assign(element(Y, "j"), "+=", CBinary("*", element(A, "k"), element(Id("z"), "j"))),
        Assign(element(Y, "j"), "+=", CBinary("*", element(A, "k"), element(Y, "j"))),
        Assign(element(Y, "j"), "+=", element(A, "k")),
        Assign(Subscript(Y, CBinary("*", Id("j"), Literal("2"))), "+=", TERM),
    )
    for statement in wrong:
        assert text_of(ZERO, added(statement)) is None
    assert text_of(ZERO, added(ADDED, ADDED)) is None
    assert text_of(ZERO, loop("k", [loop("j", [ADDED])])) is None
    assert text_of(ZERO, Block((FROM, loop("k", [loop("j", [ADDED], "k")])))) is None


def test_nothing_behind_arrays_is_read_or_written() -> None:
    for width in (1, 3, 8, 11, 32, 37):
        held: list[Any] = []
        row, column, value, x = arrays(Double, width)
        column[-1] = 49
        guarded = [before_guard(array, held) for array in (row, column, value, x)]
        out = before_guard(np.zeros((len(LENGTHS), width)), held)
        expected = compiled(Double, 0.0, 1)(row, column, value, x)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(compiled(Double, 0.0, 1)(*guarded, out=out), expected) else 1)
        assert os.waitpid(child, 0)[1] == 0, f"rows of {width} are read or written beyond"
