"""Readers of products that register blocks compute in registers, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from tests.codegen.products.test_contractionwriter import MACHINES, K, M, N
from tests.codegen.products.test_epiloguewriter import COLUMN, OWN, ROW, is_fused, operands, point
from tests.fixed import NARROW
from tests.hosts import CompileFor
from tests.tolerance import assert_close

INNER = pm.Variable(pm.Int, "inner")
SIZES = ((0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (7, 23, 5), (8, 49, 16), (61, 97, 103))
FORMS: dict[str, Callable[[Any, Any, Any, Any, Any], Any]] = {
    "bias": lambda x, row, column, full, s: pm.Max(x + column, 0),
    "row": lambda x, row, column, full, s: pm.Min(x * row - 0.25, column),
    "full": lambda x, row, column, full, s: pm.Max(full, x) - full,
    "number": lambda x, row, column, full, s: pm.Max(-x * s, s) + pm.Max(s, x),
    "all": lambda x, row, column, full, s: pm.Min(pm.Max((x * row + column) * s, full), 0.5) * (2 + row),
}


def others(dtype: ScalarType) -> tuple[Any, Any, Any, Any]:
    """What is read beside the product: along rows, along columns, everywhere, and a number."""
    row, column = pm.Vector(dtype, "row", [M]), pm.Vector(dtype, "column", [N + 2])
    return row, column, pm.Matrix(dtype, "full", [M, N]), pm.Parameter(dtype, "s")


def compiled_form(form: str, dtype: ScalarType) -> Any:
    a, b = operands(dtype)
    row, column, full, s = others(dtype)
    value = FORMS[form]((a @ b)(ROW, COLUMN), row(ROW), column(COLUMN + 1), full(ROW, COLUMN), s)
    inputs = [a, b, row, column, full, s]
    options = pm.Options(blas="never", threads=2, parallel_threshold=0, cflags=OWN.cflags)
    return pm.compile(point(dtype, "end", value), name="ends", inputs=inputs, options=options)


# The widest vectors take compilers for a processor without them longest: of the forms that which has all.
@pytest.mark.parametrize(
    ("machine", "form"),
    [(each, form) for each in MACHINES for form in FORMS if each != "wide" or form == "all"],
)
def test_forms(form: str, machine: str, seed: int, compile_for: CompileFor) -> None:
    compile_for(MACHINES[machine])
    dtype = pm.Float if machine == "wide" else pm.Double
    compiled = compiled_form(form, dtype)
    assert is_fused(compiled, "end")
    assert "end in registers" in str(compiled.explain())
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        shapes = ((m, k), (k, n), (m,), (n + 2,), (m, n))
        arrays = [rng.uniform(-1, 1, shape).astype(dtype.dtype) for shape in shapes]
        found, expected = compiled(*arrays, 0.75), compiled.reference(*arrays, 0.75)
        assert_close(found, expected, roundings=k + 8, magnitude=6.0 * k + 6, name=f"{form} {m, n, k}")


@pytest.mark.parametrize(
    ("machine", "form"), [*(("narrow", form) for form in ("bias", "full", "number", "all")), ("wide", "all")]
)
def test_what_is_no_number_stays_none(machine: str, form: str, compile_for: CompileFor) -> None:
    """Of small integers every result is exact, NaN and infinities included."""
    compile_for(MACHINES[machine])
    dtype = pm.Float if machine == "wide" else pm.Double
    compiled = compiled_form(form, dtype)
    rng = np.random.default_rng(5)
    a, b = rng.integers(-3, 4, (19, 6)).astype(float), rng.integers(-3, 4, (6, 29)).astype(float)
    row, column = rng.integers(-3, 4, 19).astype(float), rng.integers(-3, 4, 31).astype(float)
    full = rng.integers(-3, 4, (19, 29)).astype(float)
    a[3, 2], a[5, 1], b[4, 7] = np.nan, np.inf, -np.inf
    column[9], full[11, 13], full[12, 1], row[17] = np.nan, np.nan, np.inf, np.nan
    for number in (2.0, np.nan, -np.inf):
        arguments = (*(array.astype(dtype.dtype) for array in (a, b, row, column, full)), number)
        with np.errstate(invalid="ignore"):
            assert np.array_equal(compiled(*arguments), compiled.reference(*arguments), equal_nan=True)


def test_layers_share_register_blocks(seed: int, compile_for: CompileFor) -> None:
    """Two products with ends of their own and one without, in one file."""
    compile_for(NARROW)
    a, b = operands(pm.Double)
    c, d = pm.Matrix(pm.Double, "C", [N, K]), pm.Matrix(pm.Double, "D", [K, M])
    first = point(pm.Double, "first", pm.Max((a @ b)(ROW, COLUMN), 0))
    hidden = pm.Reduction(
        ([ROW, COLUMN], [pm.Interval(pm.Int, 0, size - 1) for size in (M, K)]),
        ([ROW, COLUMN, INNER], [pm.Interval(pm.Int, 0, size - 1) for size in (M, K, N)]),
        pm.Double,
        "second",
    )
    hidden.defn = [pm.Reduce(hidden(ROW, COLUMN), first(ROW, INNER) * c(INNER, COLUMN), pm.Op.Sum)]
    domain = ([ROW, COLUMN], [pm.Interval(pm.Int, 0, size - 1) for size in (M, K)])
    second = point(pm.Double, "clipped", pm.Min(hidden(ROW, COLUMN) * 0.125, 1), domain)
    last = pm.Reduction(
        ([ROW, COLUMN], [pm.Interval(pm.Int, 0, M - 1)] * 2),
        ([ROW, COLUMN, INNER], [pm.Interval(pm.Int, 0, size - 1) for size in (M, M, K)]),
        pm.Double,
        "last",
    )
    last.defn = [pm.Reduce(last(ROW, COLUMN), second(ROW, INNER) * d(INNER, COLUMN), pm.Op.Sum)]
    compiled: Any = pm.compile(
        last, name="network", inputs=[a, b, c, d], options=OWN, estimates={M: 3000, N: 2000, K: 2500}
    )
    assert str(compiled.explain()).count("in registers") >= 2
    rng = np.random.default_rng(seed)
    for m, n, k in ((3, 5, 2), (31, 53, 17)):
        arrays = [rng.uniform(-1, 1, shape) for shape in ((m, k), (k, n), (n, k), (k, m))]
        bound = float(m + n + k) ** 2
        assert_close(compiled(*arrays), compiled.reference(*arrays), roundings=m + n + k, magnitude=bound)


@pytest.mark.parametrize("value", [lambda x: pm.Tanh(x), lambda x: x / (1 + x * x), lambda x: pm.Max(x, ROW)])
def test_other_expressions_run_on_parts(value: Callable[[Any], Any], seed: int) -> None:
    a, b = operands(pm.Double)
    compiled: Any = pm.compile(point(pm.Double, "R", value((a @ b)(ROW, COLUMN))), inputs=[a, b], options=OWN)
    assert is_fused(compiled, "R")
    assert "R on every part" in str(compiled.explain())
    rng = np.random.default_rng(seed)
    for m, n, k in ((3, 2, 0), (1, 1, 1), (40, 33, 17)):
        arrays = [rng.uniform(-1, 1, shape) for shape in ((m, k), (k, n))]
        assert_close(compiled(*arrays), compiled.reference(*arrays), roundings=k + 8, magnitude=k + 50)


@pytest.mark.turns(2)
def test_results_past_the_caches(seed: int, compile_for: CompileFor) -> None:
    """Rows of whole lines, which begin with one or not, in the place of a residual."""
    small = replace(MACHINES["small caches"], vector_bits=512, vector_registers=32, line_bytes=64)
    compile_for(small)
    compiled = compiled_form("all", pm.Double)
    report = str(compiled.explain())
    assert "past the caches; end in registers" in report
    rng = np.random.default_rng(seed)
    for m, n, k in ((130, 136, 9), (67, 256, 40), (19, 1016, 3)):
        shapes = ((m, k), (k, n), (m,), (n + 2,))
        arrays = [rng.uniform(-1, 1, shape) for shape in shapes]
        for offset in (0, 3):
            full = rng.uniform(-1, 1, m * n + 8)[offset : offset + m * n].reshape(m, n)
            expected = compiled.reference(*arrays, full.copy(), 0.75)
            compiled(*arrays, full, 0.75, out=full)
            assert_close(
                full, expected, roundings=k + 8, magnitude=6.0 * k + 6, name=f"{m, n, k} at {offset}"
            )


@pytest.mark.parametrize(("machine", "turned"), [("wide", True), ("narrow", False)])
def test_several_dimensions_of_columns(
    machine: str, turned: bool, seed: int, compile_for: CompileFor
) -> None:
    """Columns that follow each other in memory are one dimension only where no array is read beside a row."""
    compile_for(MACHINES[machine])
    sizes = [pm.Parameter(pm.Int, name) for name in "KMNQ"]
    k, m, n, q = sizes
    a = pm.Matrix(pm.Double, "A", [k, m])
    b = pm.Image(pm.Double, "B", [n, q, k] if turned else [k, n, q])
    v, w = pm.Vector(pm.Double, "v", [q]), pm.Matrix(pm.Double, "w", [m, n])
    full = pm.Image(pm.Double, "C", [m, n, q])
    product = pm.einsum("km,nqk->mnq" if turned else "km,knq->mnq", a, b)
    x, y, z = (pm.Variable(pm.Int, name) for name in "xyz")
    forms = {
        "bias": pm.Max(product(x, y, z) + v(z), 0),
        "row": product(x, y, z) * w(x, y),
        "full": pm.Max(product(x, y, z), full(x, y, z)),
        "all": pm.Min(product(x, y, z) * w(x, y) + v(z), full(x, y, z)),
    }
    rng = np.random.default_rng(seed)
    for form, value in forms.items():
        layer = pm.Function(
            ([x, y, z], [pm.Interval(pm.Int, 0, e - 1) for e in (m, n, q)]), pm.Double, "layer"
        )
        layer.defn = [value]
        compiled = pm.compile(layer, name="layer", inputs=[a, b, v, w, full], options=OWN)
        assert "layer in registers" in str(compiled.explain())
        for depth, rows, middle, columns in (
            (12, 4, 3, 65),
            (9, 11, 5, 7),
            (64, 9, 4, 24),
            (5, 17, 3, 100),
            (3, 2, 1, 5),
        ):
            shapes = [(depth, rows), (middle, columns, depth) if turned else (depth, middle, columns)]
            shapes += [(columns,), (rows, middle), (rows, middle, columns)]
            arrays = [rng.integers(-9, 10, shape).astype(float) for shape in shapes]
            np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays), err_msg=form)
