"""Minima and maxima of rows side by side, in registers: sizes around rows and vectors, NaN anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Int, Interval, Op, Parameter, Reduce, Reduction, Variable
from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.render import function_text
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.registerextremes import with_register_extremes
from polymat.codegen.program import Program
from tests.fixed import NARROW, WIDE, compiled_levels, own_c

M, N, K = (Parameter(Int, name) for name in "MNK")
i, j, k = (Variable(Int, name) for name in "ijk")
ROWS, COLUMNS, TERMS = (Interval(Int, 0, size - 1) for size in (M, N, K))
HEIGHTS = (0, 1, 4, 5, 11)
WIDTHS = (0, 1, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 65)
DEPTHS = (0, 1, 15, 16, 17, 35)
FORMS: dict[str, Any] = {
    "sum": lambda A, B, c: A(i, k) + B(k, j),
    "weighted": lambda A, B, c: A(i, k) + B(k, j) + c(i) * c(k) * B(k, j),
    "difference": lambda A, B, c: pm.Abs(A(i, k) - B(k, j)) * -c(k),
    "numbers": lambda A, B, c: A(i, k) * 0.5 + 2 * B(k, j),
}


def closest(dtype: Any, op: Any, form: str) -> tuple[Any, list[Any]]:
    """The least or the largest of terms of a row of A, a column of B and weights."""
    A, B = pm.Matrix(dtype, "A", [M, K]), pm.Matrix(dtype, "B", [K, N])
    c = pm.Vector(dtype, "c", [M + K])
    found = Reduction(([i, j], [ROWS, COLUMNS]), ([i, j, k], [ROWS, COLUMNS, TERMS]), dtype, "found")
    found.defn = [Reduce(found(i, j), FORMS[form](A, B, c), op)]
    return found, [A, B, c]


@cache
def compiled(dtype: Any, op: Any, form: str, threads: int) -> Any:
    found, inputs = closest(dtype, op, form)
    options = pm.Options(threads=threads, parallel_threshold=0)
    return pm.compile(found, inputs=inputs, options=options, name="closest")


def drawn(dtype: Any, rng: np.random.Generator, *shape: int) -> Any:
    """Numbers among which some are none, some are infinite and some are equal."""
    made = rng.integers(-6, 7, shape).astype(dtype.dtype)
    for value, often in ((np.nan, 0.02), (np.inf, 0.03), (-np.inf, 0.03), (-0.0, 0.05)):
        made[rng.random(shape) < often] = value
    return made


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("form", FORMS)
def test_sizes_around_blocks(dtype: Any, op: Any, form: str) -> None:
    run = compiled(dtype, op, form, 1 + (op is Op.Max))
    assert f"_pm_row_{op.value}_" in run.source
    for height in HEIGHTS:
        for width in WIDTHS:
            rng = np.random.default_rng([height, width])
            depth = DEPTHS[(height + width) % len(DEPTHS)]
            shapes = ((height, depth), (depth, width), (height + depth,))
            arrays = [drawn(dtype, rng, *shape) for shape in shapes]
            with np.errstate(all="ignore"):
                expected = run.reference(*arrays)
            np.testing.assert_array_equal(run(*arrays), expected, err_msg=f"{height} {width} {depth}")


@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
def test_nothing_outside_of_arrays_is_read(dtype: Any) -> None:
    """Around the arrays lies what would be the least."""
    run = compiled(dtype, Op.Min, "sum", 1)
    for width in WIDTHS[1:]:
        room = np.full(64 + 9 * width, -1e30, dtype.dtype)
        B = room[32 : 32 + 9 * width].reshape(9, width)
        B[:] = np.random.default_rng(width).random((9, width))
        A, c = np.ones((6, 9), dtype.dtype), np.zeros(15, dtype.dtype)
        assert np.all(run(A, B, c) == 1 + B.min(axis=0))


def test_windows_of_two_dimensions() -> None:
    """All loops of terms are inside of those over columns."""
    x = pm.Matrix(Float, "x", [M + 2, N + 2])
    a, b = (Variable(Int, name) for name in "ab")
    near = Interval(Int, 0, 2)
    wide = Reduction(([i, j], [ROWS, COLUMNS]), ([i, j, a, b], [ROWS, COLUMNS, near, near]), Float, "wide")
    wide.defn = [Reduce(wide(i, j), x(i + a, j + b), Op.Max)]
    run = pm.compile(wide, name="wide", options=pm.Options(threads=1))
    for shape in ((3, 3), (6, 9), (7, 18), (10, 10), (13, 40)):
        given = drawn(Float, np.random.default_rng(shape), *shape)
        np.testing.assert_array_equal(run(given), run.reference(given))


def c_of(form: str, machine: Any, dtype: Any = Double) -> str:
    found, inputs = closest(dtype, Op.Min, form)
    program = compiled_levels(found, inputs=inputs, machine=machine)["codegen"]
    assert isinstance(program, Program)
    return " ".join(own_c(program).split())


def test_four_rows_and_two_vectors_are_in_registers() -> None:
    for machine, lanes in ((NARROW, 4), (WIDE, 8)):
        text = c_of("sum", machine)
        assert "_pm_lanes_7 = _pm_row_min_f64(_pm_lanes_7, " in text
        assert "_pm_lanes_8" not in text
        assert f"j += {2 * lanes})" in text
        assert "const double _pm_same_0 = A[" in text


R, X, A = (Id(name) for name in "rxa")
TYPES = RowTypes("f64", 4)


def loop(variable: str, body: Sequence[Stmt], start: str = "0", end: str = "n") -> For:
    return For(variable, Literal(start), CBinary("<", Id(variable), Id(end)), Literal("1"), tuple(body))


def element(array: CExpr, row: str, column: str) -> Subscript:
    return Subscript(array, CBinary("+", CBinary("*", Id(row), Id("n")), Id(column)))


def least(row: str, value: CExpr, kind: str = "min") -> Assign:
    target = element(R, row, "j")
    return Assign(target, "=", CCall(f"_pm_{kind}_f64", (target, value)))


def text_of(*statements: Stmt) -> str | None:
    made = with_register_extremes(statements, TYPES, {"x", "a"})
    return None if made is None else " ".join(function_text(CFunction("void", "f", (), made)).split())


def test_blocks_of_columns_and_what_they_leave() -> None:
    term = CBinary("+", Subscript(A, Id("k")), element(X, "k", "j"))
    text = text_of(loop("k", [loop("j", [least("p", term), least("q", term)])], end="m"))
    assert text is not None
    assert "_pm_behind = _pm_low + (_pm_high - _pm_low) / 16 * 16" in text
    assert "j = _pm_min_i64(_pm_last_at, _pm_high - 4)" in text
    assert "_pm_part_end = _pm_min_i64(_pm_part_first + 16, m);" in text
    assert "for (ptrdiff_t k = _pm_part_first; k < _pm_part_end; k++)" in text
    assert "_pm_row_store_f64(&r[p * n + (j + 12)], _pm_lanes_3)" in text
    assert "r[p * n + j] = _pm_min_f64(r[p * n + j], a[k] + x[k * n + j])" in text


def test_terms_beside_each_other_are_in_one_row() -> None:
    """Loops of terms run inside of those over columns up to the first that goes to other rows."""
    near = Subscript(X, CBinary("+", CBinary("*", Id("k"), Id("n")), CBinary("+", Id("j"), Id("l"))))
    rows = [least("p", near), least("q", near)]
    text = text_of(loop("k", [loop("l", [loop("j", rows)], end="w")], end="m"))
    assert text is not None
    assert "k++) { for (ptrdiff_t l = 0; l < w; l++) { _pm_lanes_0" in text
    far = Subscript(X, CBinary("+", CBinary("*", CBinary("+", Id("k"), Id("l")), Id("n")), Id("j")))
    text = text_of(loop("k", [loop("l", [loop("j", [least("p", far), least("q", far)])], end="w")], end="m"))
    assert text is not None
    assert "for (ptrdiff_t k = 0; k < m; k++) { for (ptrdiff_t _pm_part_first = 0;" in text


def test_what_stays_in_memory() -> None:
    term = CBinary("+", Subscript(A, Id("k")), element(X, "k", "j"))
    both = [least("p", term), least("q", term)]
    assert text_of(loop("k", [loop("j", both)])) is not None
    assert text_of(loop("j", both)) is None  # there is but one term
    assert text_of(loop("k", [loop("j", both[:1])])) is None  # a row alone
    assert text_of(loop("k", [loop("j", [both[0], both[0]])])) is None  # the same row twice
    assert text_of(loop("k", [loop("j", [both[0], least("q", term, "max")])])) is None
    assert text_of(loop("k", [loop("j", both, end="k")])) is None  # columns follow from the term
    assert text_of(loop("k", [loop("j", [least("k", term), least("q", term)])])) is None
    apart = element(X, "j", "k")
    assert text_of(loop("k", [loop("j", [least("p", apart), least("q", apart)])])) is None
    again = element(R, "k", "j")
    assert text_of(loop("k", [loop("j", [least("p", again), least("q", again)])])) is None
    other = element(Id("whole"), "k", "j")  # elements of another type
    assert text_of(loop("k", [loop("j", [least("p", other), least("q", other)])])) is None
