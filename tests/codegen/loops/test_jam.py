"""Blocks of points that run together: rectangles, triangles and bands, against the interpreter."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Double, Int, Interval, Matrix, Op, Parameter, Reduce, Reduction, Variable
from tests.tolerance import assert_close

N = Parameter(Int, "N")
i, j, k = (Variable(Int, name) for name in "ijk")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
whole = Interval(Int, 0, N - 1)
SIZES = (0, 1, 2, 7, 8, 9, 13, 16, 17, 31, 40)
Bounds = tuple[Interval, Interval, Interval]


def summed(bounds: Bounds, term: Any, op: Op = Op.Sum) -> Reduction:
    result = Reduction(([i, j], list(bounds[:2])), ([i, j, k], list(bounds)), Double, "result")
    result.defn = [Reduce(result(i, j), term, op)]
    return result


def rows() -> Any:
    """Both operands contiguous along the sum: an accumulator a point."""
    return A(i, k) * B(j, k)


def columns() -> Any:
    """Contiguous along the row of results, which is accumulated in memory."""
    return A(k, i) * B(k, j)


SHAPES: dict[str, Bounds] = {
    "rectangle": (whole, whole, whole),
    "lower": (whole, Interval(Int, 0, i), whole),
    "upper": (whole, Interval(Int, i, N - 1), whole),
    "strictly lower": (whole, Interval(Int, 0, i - 1), whole),
    "against the diagonal": (whole, Interval(Int, 0, N - 1 - i), whole),
    "sum above": (whole, whole, Interval(Int, i + 1, N - 1)),
    "sum below": (whole, whole, Interval(Int, 0, i)),
    "sum by column": (whole, whole, Interval(Int, 0, j)),
    "sum in both": (whole, Interval(Int, 0, i), Interval(Int, j, i)),
    "band": (Interval(Int, 2, N - 3), Interval(Int, i - 2, i + 2), whole),
}


def compiled(reduction: Reduction, **options: Any) -> pm.Compiled:
    loops = pm.Options(kernels=False, blas="never", **options)
    return pm.compile(reduction, name="jammed", inputs=[A, B], options=loops)


def check(call: pm.Compiled, sizes: tuple[int, ...] = SIZES) -> None:
    random = np.random.default_rng(3)
    for size in sizes:
        a, b = random.standard_normal((2, size, size))
        wanted = call.reference(a, b)
        magnitude = call.reference(np.abs(a), np.abs(b))
        assert_close(call(a, b), wanted, roundings=size + 2, magnitude=magnitude, name=f"N={size}")


@pytest.mark.covering
@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("term", [rows, columns])
def test_fixed_sizes_about_as_long_as_a_block(term: Callable[[], Any], shape: str, size: int) -> None:
    """A block that fills its range leaves no choice of its first point, which isl then writes as a number."""
    reduction = summed(SHAPES[shape], term())
    loops = pm.Options(kernels=False, blas="never", cflags=("-O1",))
    call = pm.compile(reduction, name="jammed", inputs=[A, B], options=loops, sizes={N: size})
    check(call, (size,))


@pytest.mark.covering
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("term", [rows, columns])
def test_sums(shape: str, term: Callable[[], Any]) -> None:
    call = compiled(summed(SHAPES[shape], term()), parallel_threshold=0)
    for threads in (1, 3):
        with pm.threads(threads):
            check(call)


@pytest.mark.parametrize("shape", ["lower", "upper", "strictly lower", "against the diagonal"])
def test_the_common_part_of_triangles_is_jammed(shape: str) -> None:
    """A block of rows, then what its rows do not have in common one by one."""
    for term in (rows, columns):
        source = compiled(summed(SHAPES[shape], term())).source
        assert "i_block +=" in source, source


def test_a_sum_over_a_triangle_is_jammed_where_it_is_accumulated_in_memory() -> None:
    assert "i_block +=" in compiled(summed(SHAPES["sum above"], columns())).source
    assert "_pm_start0" not in compiled(summed(SHAPES["sum above"], rows())).source


@pytest.mark.parametrize("shape", ["rectangle", "lower", "sum above", "sum below"])
def test_several_addends_are_added_to_a_row_at_a_time(shape: str) -> None:
    source = compiled(summed(SHAPES[shape], columns())).source
    assert "k < _pm_rest; k += 4" in source
    assert "A[(k + 3) * N + i" in source
    assert "_pm_rest" not in compiled(summed(SHAPES[shape], columns()), unroll=False).source


def test_values_of_an_extreme_are_compared_pair_by_pair() -> None:
    source = compiled(summed(SHAPES["rectangle"], columns(), Op.Max)).source
    assert "k < _pm_rest; k += 4" in source
    assert "const double _pm_value_4 = _pm_value_0 > _pm_value_1 ? _pm_value_0 : _pm_value_1;" in source


def test_other_reductions_take_one_addend_at_a_time() -> None:
    assert "_pm_rest" not in compiled(summed(SHAPES["rectangle"], columns(), Op.Mul)).source


@pytest.mark.covering
@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("element", [pm.Double, pm.Float])
def test_extremes_of_no_numbers_and_of_equal_ones(op: Op, element: Any) -> None:
    """One row of them in memory, of every count of values."""
    M = Parameter(Int, "M")
    E, x, row = Matrix(element, "E", [N, M]), pm.Vector(element, "x", [N]), Interval(Int, 0, M - 1)
    best = Reduction(([i], [row]), ([i, k], [row, whole]), element, "best")
    best.defn = [Reduce(best(i), x(k) + E(k, i), op)]
    call = pm.compile(best, name="extremes", inputs=[E, x])
    assert "_pm_value_4" in call.source
    random = np.random.default_rng(7)
    for rows in range(1, 19):
        values = random.integers(-2, 3, (rows, 21)).astype(np.float64 if element is pm.Double else np.float32)
        values[random.random(values.shape) < 0.05] = np.nan
        values[random.random(values.shape) < 0.05] = -np.inf
        shift = random.integers(0, 2, rows).astype(np.float64 if element is pm.Double else np.float32)
        np.testing.assert_array_equal(call(values, shift), call.reference(values, shift))


@pytest.mark.covering
@pytest.mark.parametrize("op", [Op.Min, Op.Max, Op.Mul])
@pytest.mark.parametrize("shape", ["rectangle", "lower", "sum above"])
def test_other_reductions(shape: str, op: Op) -> None:
    for term in (rows, columns):
        call = compiled(summed(SHAPES[shape], term(), op), threads=2, parallel_threshold=0)
        random = np.random.default_rng(4)
        for size in (0, 1, 8, 17):
            a, b = 1 + random.random((2, size, size)) / 16
            assert_close(call(a, b), call.reference(a, b), roundings=3 * size + 2)


@pytest.mark.parametrize("shape", ["rectangle", "lower", "sum above"])
def test_complex_sums(shape: str) -> None:
    C, D = Matrix(Complex, "C", [N, N]), Matrix(Complex, "D", [N, N])
    random = np.random.default_rng(6)
    for term in (C(i, k) * D(j, k), C(k, i) * D(k, j)):
        result = Reduction(([i, j], list(SHAPES[shape][:2])), ([i, j, k], list(SHAPES[shape])), Complex, "r")
        result.defn = [Reduce(result(i, j), term, Op.Sum)]
        options = pm.Options(threads=2, parallel_threshold=0, kernels=False, blas="never")
        call = pm.compile(result, name="jammed", inputs=[C, D], options=options)
        assert shape == "sum above" or "i + 3" in call.source or "i_block + 3" in call.source
        for size in (0, 1, 3, 4, 5, 9, 17):
            real, imaginary = random.standard_normal((2, 2, size, size))
            c, d = real + 1j * imaginary
            magnitude = call.reference(abs(c).astype(complex), abs(d).astype(complex)).real
            assert_close(call(c, d), call.reference(c, d), roundings=2 * size + 4, magnitude=magnitude)


@pytest.mark.covering
@pytest.mark.parametrize("rows", [4, 8, 16])
@pytest.mark.parametrize("length", [0, 3])
def test_one_block_is_all_there_is(rows: int, length: int) -> None:
    """Every row has its own start, also where nothing is added to it."""
    X = Matrix(Double, "X", [rows, 9])
    over = Interval(Int, 0, rows - 1)
    result = Reduction(
        ([i], [over]), ([i, k], [over, Interval(Int, 0, length - 1)]), Double, "r", init=i * 0.5
    )
    result.defn = [Reduce(result(i), X(i, k), Op.Sum)]
    call = pm.compile(result, inputs=[X], options=pm.Options(kernels=False, blas="never"))
    array = np.random.default_rng(0).random((rows, 9))
    assert_close(call(array), call.reference(array), roundings=length + 1, magnitude=rows)


def before_guard(array: Any, held: list[Any]) -> Any:
    """A copy of an array that ends where a page begins which nobody may read; held: keeps its memory."""
    page = mmap.PAGESIZE
    room = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, room + page)
    held.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address + room), ctypes.c_size_t(page), 0) == 0
    found = np.frombuffer(memory, array.dtype, array.size, room - array.nbytes).reshape(array.shape)
    found[...] = array
    return found


@pytest.mark.parametrize("dtype", [Complex, pm.ComplexFloat, Double])
def test_nothing_beyond_an_operand_is_read(dtype: Any) -> None:
    """Sums side by side share an operand with long steps along the sum (gcc 12 read on, of complex ones)."""
    depth, batch, points = (Parameter(Int, name) for name in ("K", "M", "P"))
    a, b = pm.Image(dtype, "A", [depth, batch, points]), Matrix(dtype, "B", [depth, batch])
    own, summed_over = (
        [Interval(Int, 0, points - 1), Interval(Int, 0, batch - 1)],
        Interval(Int, 0, depth - 1),
    )
    result = Reduction(([i, j], own), ([i, j, k], [*own, summed_over]), dtype, "S")
    result.defn = [Reduce(result(i, j), a(k, j, i) * b(k, j), Op.Sum)]
    call = pm.compile(result, name="jammed", inputs=[a, b], options=pm.Options(blas="never", threads=1))
    held: list[Any] = []
    for shape in ((7, 2, 16), (3, 1000, 16), (1, 5, 4), (7, 300, 9)):
        left = before_guard(np.ones(shape, dtype.dtype), held)
        right = before_guard(np.ones(shape[:2], dtype.dtype), held)
        child = os.fork()
        if child == 0:
            found = call(left, right)
            os._exit(0 if (found == shape[0]).all() else 1)
        assert os.waitpid(child, 0)[1] == 0, shape
