"""Grids of threads over rows and columns of a product: even shares, and the same cuts in C as in Python."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from benchmarks.polybench import find_kernel
from benchmarks.polybench.kernel import Kernel
from benchmarks.sections.polybench import PRODUCTS
from polymat.codegen.c.needs import Piece
from polymat.codegen.prelude import prelude
from polymat.machine.known import SAPPHIRE_RAPIDS
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.registerblocks import kernel_of
from polymat.plan.schedule import Schedule
from polymat.product.contraction import Contraction
from polymat.product.shares import LEAST_GRID, Shared, SharedSide, columns_of, grid_down
from polymat.runtime.libraryfile import build
from tests.fixed import compiled_levels

TEAMS = (4, 8, 16, 32)
EVEN = 1.1  # of an even share, the most that a thread has
_TOLD = """
ptrdiff_t down(ptrdiff_t pieces, ptrdiff_t length, ptrdiff_t unit, double each, ptrdiff_t other,
        ptrdiff_t other_unit)
{
    return _pm_grid_down(pieces, length, unit, each, other, other_unit, 1.0);
}

ptrdiff_t within(int before, ptrdiff_t first, ptrdiff_t last, ptrdiff_t length, ptrdiff_t unit,
        ptrdiff_t part, ptrdiff_t parts)
{
    return _pm_grid_within(before, first, last, length, unit, part, parts);
}
"""


@cache
def told() -> ctypes.CDLL:
    """What generated code asks, as functions."""
    made = build(prelude(frozenset({Piece.GRID, Piece.MATH})) + _TOLD)
    found = ctypes.CDLL(str(made.path))
    made.release()
    for name in ("down", "within"):
        getattr(found, name).restype = ctypes.c_ssize_t
    return found


def number(value: int) -> ctypes.c_ssize_t:
    return ctypes.c_ssize_t(value)


def test_generated_code_lays_pieces_out_as_python_does() -> None:
    draw, grids = random.Random(5), 0
    for _ in range(3000):
        pieces, unit, other = draw.randint(1, 64), draw.choice((4, 6, 8)), draw.choice((4, 8, 16))
        high, wide = (draw.choice((0, 1, 20, 300, 1000, 4000)) + draw.randint(0, 99) for _ in range(2))
        each = draw.choice((1.0, 14.0))
        found = grid_down(pieces, SharedSide(high, unit, each), SharedSide(wide, other))
        values = (*map(number, (pieces, high, unit)), ctypes.c_double(each), *map(number, (wide, other)))
        assert found == told().down(*values)
        assert pieces % found == 0
        grids += found < pieces
    assert grids > 500


def test_generated_code_cuts_rows_of_a_triangle_as_python_does() -> None:
    draw = random.Random(6)
    for _ in range(1000):
        length, unit, parts = draw.randint(1, 900), draw.choice((4, 8)), draw.randint(2, 8)
        first = draw.randint(0, length - 1)
        last = draw.randint(first + 1, length)
        for work in ("before", "after"):
            cuts = [*columns_of(work, (first, last), SharedSide(length, unit), parts)]
            values = (first, last, length, unit)
            in_c = [
                told().within(ctypes.c_int(work == "before"), *map(number, (*values, part, parts)))
                for part in range(parts + 1)
            ]
            assert cuts == [*pairwise(in_c)], (work, values)
            assert (in_c[0], in_c[-1]) == (0, length)


@pytest.mark.parametrize("threads", TEAMS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_threads_have_even_shares_of_products(name: str, threads: int) -> None:
    """Of what is multiplied; where loops around products are shared, whole turns of them."""
    kernel = find_kernel(name)
    sizes, found = kernel.sizes["LARGE"], [*kernels(kernel, threads)]
    assert found
    for plan in found:
        work = [points(plan, share, sizes) for share in cells(plan, sizes, threads)]
        assert len(work) == threads
        whole = sum(work)
        assert max(work) <= EVEN * whole / threads, (plan, max(work) * threads / whole)


@pytest.mark.parametrize("name", ["gemm", "symm", "syr2k", "trmm"])
def test_sixteen_threads_copy_a_few_times_what_is_multiplied(name: str) -> None:
    """And not all of the right operand each."""
    found = find_kernel(name)
    sizes = found.sizes["LARGE"]
    for plan in kernels(found, 16):
        shares = [*cells(plan, sizes, 16)]
        columns = [right - left for _, (left, right) in shares]
        assert sum(columns) <= 5 * plan.contraction.length(plan.contraction.columns, sizes)


def test_columns_of_complex_products_are_laid_out_as_their_real_ones() -> None:
    draw = random.Random(7)
    for _ in range(300):
        pieces, lanes, wide, high = (
            draw.randint(4, 64),
            draw.choice((2, 4, 8, 16)),
            draw.randint(1, 2000),
            draw.randint(1, 2000),
        )
        down, reals, pairs = (
            SharedSide(high, 6),
            SharedSide(2 * wide, lanes),
            SharedSide(wide, lanes // 2, 2.0),
        )
        assert grid_down(pieces, down, reals) == grid_down(pieces, down, pairs)
        for count in range(1, pieces):
            cuts = [*columns_of("even", (0, 0), pairs, count)]
            assert [*columns_of("even", (0, 0), reals, count)] == [(2 * a, 2 * b) for a, b in cuts]


def test_few_threads_share_one_dimension() -> None:
    for threads in range(1, LEAST_GRID):
        assert grid_down(threads, SharedSide(1000, 8), SharedSide(1000, 8)) == threads


def kernels(kernel: Kernel, threads: int) -> Iterator[KernelPlan]:
    """The plans around register blocks of a kernel's products."""
    described = next(iter(kernel.builds.values()))()
    known = {size: kernel.sizes["LARGE"][size.name] for size in described.sizes}
    schedule = compiled_levels(
        described.outputs,
        machine=replace(SAPPHIRE_RAPIDS, cores=threads),
        options=Options(blas="never", threads=threads),
        estimates=known,
        inputs=described.inputs,
    )["tilesize"]
    assert isinstance(schedule, Schedule)
    for plan in schedule.plans:
        found = kernel_of(plan)
        if found is not None:
            yield from (replace(found, contraction=each) for each in found.contraction.products)


Cell = tuple[tuple[int, int], tuple[int, int]]


def cells(plan: KernelPlan, sizes: Mapping[str, int], threads: int) -> Iterator[Cell]:
    """Rows and columns of each thread; of loops around products the turns, and all columns."""
    shared = Shared(plan.contraction, plan.parallel, plan.across, plan.blocks.rows, plan.blocks.lanes)
    yield from shared.cells(sizes, threads)


def points(plan: KernelPlan, cell: Cell, sizes: Mapping[str, int]) -> float:
    """Multiplications of a thread's part, or turns of the loops that threads share."""
    found, ((begin, end), (left, right)) = plan.contraction, cell
    if plan.across is None:
        return float(end - begin)
    rows, columns = ((begin, end), (left, right))
    if plan.parallel == found.columns:
        rows, columns = columns, rows
    return float(multiplied(found, rows, columns, sizes))


def multiplied(
    found: Contraction, rows: tuple[int, int], columns: tuple[int, int], sizes: Mapping[str, int]
) -> int:
    """Points of some rows and columns, of a triangle those on its side of the diagonal."""
    depth = int(found.length(found.depth, sizes))
    half = found.half
    if half is None:
        return (rows[1] - rows[0]) * (columns[1] - columns[0]) * depth
    if half.place == "result":
        edges = (min(max(row + half.shift, columns[0]), columns[1]) for row in range(*rows))
        return depth * sum(edge - columns[0] if half.before else columns[1] - edge for edge in edges)
    lines, others = (rows, columns) if half.place == "left" else (columns, rows)
    deep = sum(
        min(max(line + half.shift, 0), depth)
        if half.before
        else depth - min(max(line + half.shift, 0), depth)
        for line in range(*lines)
    )
    return deep * (others[1] - others[0])
