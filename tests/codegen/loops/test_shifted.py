"""Rows in vectors of registers, with shifted reads, against the interpreter."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.ctree import Assign, CBinary, For, Id, Literal, Subscript
from polymat.codegen.c.rows import RowTypes, rows_text
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.shifted import with_shifts
from polymat.machine.known import GENERIC
from polymat.options import Options
from polymat.runtime.libraryfile import build
from tests.differential.under_sanitizers import clean_output
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SCALE = pm.Parameter(pm.Float, "scale")
WIDE = replace(GENERIC, vector_bits=512)
LENGTHS = [0, 1, 4, 5, 15, 16, 17, 19, 20, 21, *range(31, 38), 47, 48, 49, 64, 67, 131]
SHIFT = "_PM_ROW_BEHIND"


def weighted(x: Any) -> Any:
    return 0.1 * x(i, j - 2) + 0.2 * x(i, j - 1) - x(i, j) / 3.0 + 0.2 * x(i, j + 1) + 0.1 * x(i, j + 2)


def far(x: Any) -> Any:
    """Reads of one row that are further apart than a vector."""
    return x(i, j - 17) + 2.0 * x(i, j - 16) - x(i, j) + x(i, j + 8) * x(i, j + 16)


def cross(x: Any) -> Any:
    return -x(i - 1, j) + x(i, j - 1) * x(i, j + 1) - x(i + 1, j - 1)


def window(x: Any) -> Any:
    return sum(x(i + row, j + column) for row in (-1, 0, 1) for column in (-1, 0, 1))


def shared(x: Any) -> Any:
    """A value that is computed once and used twice."""
    slope = x(i, j + 1) - x(i, j - 1)
    return slope * slope + slope


def scaled(x: Any) -> Any:
    return (x(i, j + 1) - x(i, j - 1)) * SCALE * (SCALE + 1.0)


def root(x: Any) -> Any:
    """Not what vectors have."""
    return pm.Sqrt(x(i, j + 1) * x(i, j + 1)) + x(i, j - 1)


def compiled_stage(
    value: Callable[[Any], Any], kind: Any, border: tuple[int, int], size: int = 1000
) -> pm.Compiled:
    image = pm.Image(kind, "image", [R, C])
    spans = [pm.Interval(pm.Int, low, size - 1 - low) for size, low in zip((R, C), border, strict=True)]
    found = pm.Function(([i, j], spans), kind, "found")
    found.defn = [value(image)]
    inputs: list[Any] = [image, SCALE] if value is scaled else [image]
    with compiling_for(WIDE):
        name, estimates = f"{value.__name__}_{kind}", {R: size, C: size}
        return pm.compile(found, inputs=inputs, name=name, estimates=estimates)


@pytest.mark.covering
@pytest.mark.parametrize("kind", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize(
    ("value", "border"), [(weighted, (0, 2)), (far, (0, 17)), (cross, (1, 1)), (shared, (0, 1))]
)
def test_rows_of_every_length(value: Callable[[Any], Any], border: tuple[int, int], kind: Any) -> None:
    compiled = compiled_stage(value, kind, border)
    assert SHIFT in compiled.source
    for columns in LENGTHS:
        array = np.random.default_rng(columns).random((3, columns)).astype(kind.dtype)
        assert_close(compiled(array), compiled.reference(array), roundings=12, magnitude=8.0)


@pytest.mark.parametrize("kind", [pm.Float, pm.Double], ids=str)
def test_rows_that_two_points_share_are_loaded_once(kind: Any) -> None:
    compiled = compiled_stage(window, kind, (1, 1), 40)  # in the first level
    assert compiled.source.count("_pm_next3") > 0  # four rows for two points
    assert "_pm_next4" not in compiled.source
    for rows in (0, 1, 2, 3, 4, 5, 6, 9):
        for columns in (0, 2, 17, 18, 19, 33, 51):
            array = np.random.default_rng(rows).random((rows, columns)).astype(kind.dtype)
            assert_close(compiled(array), compiled.reference(array), roundings=12, magnitude=9.0)


def test_scalars() -> None:
    compiled = compiled_stage(scaled, pm.Float, (0, 1))
    assert SHIFT in compiled.source
    for columns in (3, 18, 19, 40):
        array = np.random.default_rng(columns).random((2, columns), dtype=np.float32)
        assert_close(compiled(array, 1.25), compiled.reference(array, 1.25), roundings=8, magnitude=8.0)


def test_functions_stay_with_the_compiler() -> None:
    compiled = compiled_stage(root, pm.Float, (0, 1))
    assert SHIFT not in compiled.source
    array = np.random.default_rng(0).random((3, 70), dtype=np.float32)
    assert_close(compiled(array), compiled.reference(array), roundings=4)


def test_special_values_stay_where_they_are() -> None:
    compiled = compiled_stage(weighted, pm.Float, (0, 2))
    array = np.zeros((1, 80), np.float32)
    array[0, 33], array[0, 70], array[0, 10] = np.nan, np.inf, -0.0
    np.testing.assert_array_equal(np.isnan(compiled(array)), np.isnan(compiled.reference(array)))
    np.testing.assert_array_equal(np.isinf(compiled(array)), np.isinf(compiled.reference(array)))


def test_without_vectors_there_are_none() -> None:
    image = pm.Image(pm.Float, "image", [R, C])
    spans = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 2, C - 3)]
    found = pm.Function(([i, j], spans), pm.Float, "found")
    found.defn = [weighted(image)]
    with compiling_for(WIDE):
        assert SHIFT not in pm.compile(found, options=Options(vector=False)).source
    with compiling_for(replace(WIDE, vector_bits=256)):
        assert SHIFT not in pm.compile(found).source


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 40])
def test_a_chain_that_asks_for_rows_to_come(rows: int) -> None:
    """Two stages in rolling tiles; the requests run along with the vectors."""
    image = pm.Image(pm.Float, "image", [R, C])

    def stage(name: str, border: tuple[int, int], value: Any) -> pm.Function:
        spans = [pm.Interval(pm.Int, low, size - 1 - low) for size, low in zip((R, C), border, strict=True)]
        made = pm.Function(([i, j], spans), pm.Float, name)
        made.defn = [value]
        return made

    across = stage("across", (0, 2), weighted(image))
    down = stage("down", (2, 2), across(i - 2, j) + across(i, j) + across(i + 2, j))
    sharp = stage("sharp", (2, 3), 2.0 * down(i, j) - down(i, j - 1) * 0.5 - down(i, j + 1) * 0.5)
    with compiling_for(WIDE):
        options = Options(parallel_threshold=0, threads=2)
        compiled = pm.compile(sharp, options=options, estimates={R: 4096, C: 4096})
    assert "rolling tiles" in compiled.source
    assert SHIFT in compiled.source
    for columns in (0, 7, 22, 40, 519, 700):
        array = np.random.default_rng(rows).random((rows, columns), dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=24, magnitude=8.0)


def test_what_is_written_is_not_read_ahead() -> None:
    """A loop that reads the array it writes stays as it is."""
    left, right = (Subscript(Id("x"), CBinary("+", Id("j"), Literal(str(shift)))) for shift in (0, 3))
    body = Assign(Subscript(Id("y"), Id("j")), "=", CBinary("+", left, right))
    condition = CBinary("<", Id("j"), Id("n"))
    loop = For("j", Literal("0"), condition, Literal("1"), (body,), (VECTORS,))
    types = RowTypes("f32", 16)
    assert with_shifts([loop], types, scalars=(), distinct=["x"]) is not None
    assert with_shifts([loop], types, scalars=(), distinct=[]) is None


def test_no_access_outside_a_row() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_rows"])
    assert len(printed.splitlines()) == 3


@pytest.mark.parametrize("types", [RowTypes("f32", 16), RowTypes("f64", 8), RowTypes("f64", 4)], ids=str)
def test_shifts_of_neighbours(types: RowTypes) -> None:
    lines = [
        f"void shift{shift}(const {types.ctype} *from, {types.ctype} *to)\n{{\n"
        f"    const {types.vector} now = _pm_row_load_{types.suffix}(from);\n"
        f"    const {types.vector} next = _pm_row_load_{types.suffix}(from + {types.lanes});\n"
        f"    _pm_row_store_{types.suffix}(to, _PM_ROW_BEHIND_{types.suffix}(now, next, {shift}));\n}}\n"
        for shift in range(1, types.lanes)
    ]
    text = rows_text(types)
    assert ("__builtin_ia32_align" in text) == (types.size == 64)
    built = build("\n".join([text, *lines]))
    library = ctypes.CDLL(str(built.path))
    built.release()
    dtype = np.float32 if types.suffix == "f32" else np.float64
    numbers = np.arange(2 * types.lanes, dtype=dtype)
    for shift in range(1, types.lanes):
        found = np.full(types.lanes, np.nan, dtype)
        library[f"shift{shift}"](*(ctypes.c_void_p(each.ctypes.data) for each in (numbers, found)))
        np.testing.assert_array_equal(found, numbers[shift : shift + types.lanes])
