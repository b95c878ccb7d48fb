"""Products of few rows or few columns, whose large operand is read where it is, against NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from tests.hosts import CompileFor
from tests.tolerance import assert_close

# A second level so small that the large operands here do not fit it.
MACHINE = replace(GENERIC, vector_bits=512, vector_registers=32, l1_bytes=1 << 12, l2_bytes=1 << 16)
OWN = pm.Options(blas="never", threads=2, parallel_threshold=0)
KINDS = [np.float32, np.float64]


@pytest.fixture(autouse=True)
def small_caches(compile_for: CompileFor) -> None:
    """The machine of these tests."""
    compile_for(MACHINE)


def check(compiled: pm.Compiled, contraction: str, extents: str, kind: type[np.floating], seed: int) -> None:
    """The result is that of NumPy, but for rounding, and nothing beside it is written."""
    result, left, right = contraction.split("-")
    extent = dict(zip(sorted({*left, *right}), map(int, extents.split()), strict=True))
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal([extent[i] for i in of]).astype(kind) for of in (left, right)]
    double = [array.astype(np.float64) for array in arrays]
    formula, shape = f"{left},{right}->{result}", [extent[i] for i in result]
    depth = int(np.prod([extent[i] for i in {*left, *right} - {*result}]))
    memory = np.full(int(np.prod(shape)) + 64, -7.0, dtype=kind)
    out = memory[32:-32].reshape(shape)
    compiled(*arrays, out=out)
    assert_close(
        out,
        np.einsum(formula, *double, optimize=True).astype(kind),
        roundings=2 * depth + 4,
        magnitude=np.einsum(formula, *map(np.abs, double), optimize=True),
        name=f"{contraction} of {extents}",
    )
    assert (memory[:32] == -7.0).all()
    assert (memory[-32:] == -7.0).all()


# Rows in two to five strips, whole or not; columns that end within a panel, a vector, or beside it; depths
# around the least, and steps of the depth that are powers of two.
FEW_ROWS = (
    "6 4 16 131 40",
    "1 2 9 1300 33",
    "4 8 24 64 33",
    "4 3 31 257 40",
    "2 9 33 101 40",
    "4 4 16 95 15",
)
# Columns in one to three panels, or hardly any; rows in whole strips or not.
FEW_COLUMNS = ("301 14 24 20", "1300 2 17 33", "64 80 48 16", "97 21 9 41", "203 20 49 17", "128 40 31 30")


@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("contraction", "all_extents"), [("abcd-ebad-ce", FEW_ROWS), ("abc-bda-dc", FEW_COLUMNS)]
)
def test_large_operands_read_in_place(
    contraction: str, all_extents: tuple[str, ...], kind: type[np.floating], seed: int
) -> None:
    result, left, right = contraction.split("-")
    sizes = {letter: pm.Parameter(pm.Int, f"n{letter}") for letter in sorted({*left, *right})}
    dtype = pm.Float if kind is np.float32 else pm.Double
    a, b = (pm.Image(dtype, x, [sizes[i] for i in of]) for x, of in (("A", left), ("B", right)))
    product = pm.einsum(f"{left},{right}->{result}", a, b)
    estimates = {size: 24 if letter == "c" else 128 for letter, size in sizes.items()}
    compiled = pm.compile(product, name="product", inputs=[a, b], options=OWN, estimates=estimates)
    for extents in all_extents:
        check(compiled, contraction, extents, kind, seed)


def test_epilogue_of_few_rows(seed: int) -> None:
    """Who reads the result along with the product is handed every part of it."""
    m, n, k = (pm.Parameter(pm.Int, name) for name in "mnk")
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    a, b = pm.Matrix(pm.Double, "A", [m, k]), pm.Matrix(pm.Double, "B", [k, n])
    positive = pm.Function(
        ([i, j], [pm.Interval(pm.Int, 0, m - 1), pm.Interval(pm.Int, 0, n - 1)]), pm.Double, "positive"
    )
    positive.defn = [pm.Max((a @ b)(i, j), 0)]
    compiled = pm.compile(
        positive, name="layer", inputs=[a, b], options=OWN, estimates={m: 16, n: 2000, k: 50}
    )
    assert [group.kind for group in compiled.explain().groups] == ["kernel"]
    rng = np.random.default_rng(seed)
    for rows, columns, depth in ((16, 2001, 20), (31, 1200, 33)):
        arrays = [rng.standard_normal(shape) for shape in ((rows, depth), (depth, columns))]
        assert_close(
            compiled(*arrays),
            np.maximum(arrays[0] @ arrays[1], 0),
            roundings=2 * depth + 4,
            magnitude=np.abs(arrays[0]) @ np.abs(arrays[1]),
            name=f"{rows} x {columns} x {depth}",
        )


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_share_sets_are_read_in_pieces_of_the_depth(kind: type[np.floating], seed: int) -> None:
    """Each piece is added to what those before it left, and the first one to what the product is added to."""
    m, n, k = sizes = [pm.Parameter(pm.Int, name) for name in "mnk"]
    dtype = pm.Float if kind is np.float32 else pm.Double
    a, b, c = (pm.Matrix(dtype, name, shape) for name, shape in (("A", [m, k]), ("B", [k, n]), ("C", [m, n])))
    most = 128 if kind is np.float32 else 64  # steps of rows that are 64 times an odd number of elements long
    most, far = (
        32,
        256 if kind is np.float32 else 128,
    )  # steps of rows that are an odd multiple of so many apart
    estimates = dict(zip(sizes, (16, 11 * far, 2 * most), strict=True))
    plain = pm.compile(a @ b, inputs=[a, b], options=OWN, estimates=estimates)
    added = pm.compile(pm.gemm(a, b, c, -1.5, 0.5), inputs=[a, b, c], options=OWN, estimates=estimates)
    for compiled in (plain, added):
        told = str(compiled.explain())
        assert f"T(l, {most}), " in told, told
        assert "few rows beside the right operand where it is" in told, told
    rng = np.random.default_rng(seed)
    # Whole pieces, one more step, one piece, half as many steps, and rows that share hardly any set.
    pieces = (
        (16, 7, 2 * most),
        (13, 7, most + 1),
        (16, 9, most),
        (12, 6, 2 * most - 7),
        (21, 5.01, 2 * most),
    )
    for rows, wide, depth in pieces:
        columns = int(wide * far)
        A, B, C = (
            rng.standard_normal(shape).astype(kind)
            for shape in ((rows, depth), (depth, columns), (rows, columns))
        )
        exact, magnitude = A.astype(np.float64) @ B, np.abs(A).astype(np.float64) @ np.abs(B)
        name = f"{rows} x {columns} x {depth}"
        roundings = 2 * depth + 8
        assert_close(plain(A, B), exact.astype(kind), roundings=roundings, magnitude=magnitude, name=name)
        expected = (0.5 * C.astype(np.float64) - 1.5 * exact).astype(kind)
        assert_close(
            added(A, B, C), expected, roundings=roundings, magnitude=1.5 * magnitude + np.abs(C), name=name
        )
