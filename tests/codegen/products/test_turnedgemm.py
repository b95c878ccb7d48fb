"""Products whose vectors hold segments of columns, against NumPy, and when the model has them."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape
from polymat.graph.group import Group
from polymat.machine.known import GENERIC
from polymat.plan.kernel import KernelPlan
from polymat.product.blocking import blocking
from polymat.product.ways import Way
from polymat.runtime.libraryfile import build
from polymat.tilesize.kernelplanner import kernel_operations, plan_kernel, upright
from tests.hosts import CompileFor
from tests.idiom.recognise import pipeline
from tests.tolerance import assert_close

# Caches so small that operands of some ten thousand elements do not fit the second level.
MACHINE = replace(GENERIC, vector_bits=512, vector_registers=32, l2_bytes=1 << 17, l3_bytes=1 << 10)

# Rows that follow each other in the result, segments that do, and neither; past the caches or not.
CASES = (
    ("abcd-dbea-ec", True),
    ("abcde-efbad-cf", True),
    ("abcde-efbad-cf", False),
    ("abcd-deca-be", True),
)
# Extents of abcde(f): rows and columns beside whole blocks or not, runs of segments that end within a vector,
# sets that end within a run, fewer segments than a vector, too few rows and too much depth for turned blocks.
EXTENTS: Mapping[str, tuple[str, ...]] = {
    "abcd-dbea-ec": (
        "40 3 24 16 16",
        "9 12 13 49 17",
        "130 2 12 32 19",
        "17 8 15 40 30",
        "7 30 24 16 24",
        "16 8 11 24 60",
    ),
    "abcde-efbad-cf": ("6 3 12 8 24 16", "3 2 14 40 17 20", "5 2 12 9 64 19", "2 3 25 16 16 33"),
    "abcd-deca-be": ("40 12 3 16 16", "9 13 12 49 17", "24 15 8 40 30"),
}


@pytest.fixture(autouse=True)
def small_caches(compile_for: CompileFor) -> None:
    """The machine of these tests."""
    compile_for(MACHINE)


@pytest.mark.parametrize(("contraction", "past"), CASES)
def test_turned_products(contraction: str, past: bool, seed: int, compile_for: CompileFor) -> None:
    """Results that begin anywhere in a line of cache, with nothing beside them touched."""
    machine = MACHINE if past else replace(MACHINE, l3_bytes=1 << 30)
    compile_for(machine)
    result, left, right = contraction.split("-")
    sizes = {letter: pm.Parameter(pm.Int, f"n{letter}") for letter in sorted({*left, *right})}
    a, b = (pm.Image(pm.Double, x, [sizes[i] for i in of]) for x, of in (("A", left), ("B", right)))
    product = pm.einsum(f"{left},{right}->{result}", a, b)
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    estimates = {size: 24 for size in sizes.values()}
    compiled = pm.compile(product, name="turned", inputs=[a, b], options=options, estimates=estimates)
    scheme = compiled.explain().groups[0].reason
    assert "U(c, 3)" in scheme or "U(b, 3)" in scheme, scheme
    assert "_pm_turned_f64(" in compiled.source
    rng = np.random.default_rng(seed)
    for extents in EXTENTS[contraction]:
        extent = dict(zip(sorted(sizes), map(int, extents.split()), strict=True))
        arrays = [rng.standard_normal([extent[i] for i in of]) for of in (left, right)]
        formula, depth = f"{left},{right}->{result}", extent[next(iter({*left} & {*right}))]
        expected = np.einsum(formula, *arrays, optimize=True).reshape([extent[i] for i in result])
        magnitude = np.einsum(formula, *map(np.abs, arrays), optimize=True)
        for shift in (0, 2, 7):
            memory = np.full(expected.size + 64, -7.0)
            first = -memory.ctypes.data % 64 // 8 + 8 + shift
            out = memory[first : first + expected.size].reshape(expected.shape)
            compiled(*arrays, out=out)
            name = f"{contraction} of {extents} at {shift}"
            assert_close(out, expected, roundings=2 * depth + 4, magnitude=magnitude, name=name)
            assert (memory[:first] == -7.0).all(), name
            assert (memory[first + expected.size :] == -7.0).all(), name


def test_infinities_stay_in_their_rows_and_columns() -> None:
    """What is computed beside the rows and columns there are does not reach any of them."""
    m, n, s, k = (pm.Parameter(pm.Int, name) for name in "MNSK")
    a, b = pm.Matrix(pm.Double, "A", [m, k]), pm.Image(pm.Double, "B", [n, k, s])
    compiled = pm.compile(
        pm.einsum("mk,nks->smn", a, b),
        name="turned",
        inputs=[a, b],
        options=pm.Options(blas="never"),
        estimates={m: 24, n: 24, s: 240, k: 16},
    )
    assert "U(m, 3)" in compiled.explain().groups[0].reason
    x, y = np.ones((14, 16)), np.ones((13, 16, 165))
    x[13, 5], y[12, 3, 164] = np.inf, np.nan
    expected = np.full((165, 14, 13), 16.0)
    expected[:, 13] = np.inf
    expected[164, :, 12] = np.nan
    np.testing.assert_array_equal(compiled(x, y), expected)


_ASK = """\
int ask(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t s, ptrdiff_t kc, ptrdiff_t small)
{
    static double a[64], b[64], c[64];
    static ptrdiff_t columns[3 << 12];
    const _pm_half_f64 none = {0};
    for (ptrdiff_t segment = 0; segment < s; segment++) {
        columns[3 * segment] = segment;
        columns[3 * segment + 1] = segment * m * n;
    }
    _pm_gemm_f64(m, n, k, 1, _pm_origin_f64, s, columns, 1, _pm_origin_f64, 1, a, k, 1, b, s, k * s, 0, NULL,
                 0, c, n, kc, 8, 64, small, 0, none, NULL, NULL, NULL, NULL);
#ifdef _PM_TURNS_f64
    return _pm_taken;
#else
    return -1;
#endif
}
"""


def planned(sizes: Mapping[str, int], policy: Literal["shares", "working-sets"] = "shares") -> KernelPlan:
    """The plan of a product of matrices, the right one of them transposed, for many segments."""
    m, n, s, k = (pm.Parameter(pm.Int, name) for name in "MNSK")
    built = pipeline(
        pm.einsum("mk,nks->smn", pm.Matrix(pm.Double, "A", [m, k]), pm.Image(pm.Double, "B", [n, k, s]))
    )
    (stage,) = built.stages
    plan = plan_kernel(Group((stage.name,)), stage, built.context, MACHINE, sizes, policy=policy)
    assert plan is not None
    return plan


def test_the_model_takes_what_generated_code_takes() -> None:
    plan = planned({"M": 24, "N": 24, "S": 99, "K": 24})
    blocks = plan.blocks
    need = Shape("f64", 64, blocks.rows, blocks.vectors, turns=blocks.turned_depth)
    made = build("#define _PM_TRACE 1\n" + prelude(frozenset({need, Piece.PLACE, MIN_I64, MAX_I64})) + _ASK)
    library = ctypes.CDLL(str(made.path))
    made.release()
    library.ask.argtypes = (ctypes.c_ssize_t,) * 6
    if library.ask(24, 24, 24, 99, blocks.kc, blocks.small) < 0:
        pytest.skip("the C compiler has no turned blocks for this processor")
    taken = 0
    cases = list(itertools.product((11, 12, 40, 128), (16, 50), (15, 16, 55, 56), (7, 8, 40, 200)))
    for m, n, k, s in cases:
        asked = [*Way][library.ask(m, n, k, s, blocks.kc, blocks.small)]
        found = blocking(plan.contraction, blocks, {"M": m, "N": n, "K": k, "S": s})
        assert found.way is asked, (m, n, k, s)
        taken += asked is Way.LANES_OVER_SEGMENTS
    assert 0 < taken < len(cases)


def test_products_with_readers_are_not_turned() -> None:
    sizes = {"M": 24, "N": 24, "S": 240, "K": 24}
    plan = planned(sizes)
    assert "V(s, 8)" in plan.reason
    other = upright(plan, sizes)
    assert "V(n, 8)" in other.reason
    assert kernel_operations(plan, sizes) < kernel_operations(other, sizes)


def test_blocks_by_working_sets_leave_turned_ones_no_room() -> None:
    sizes = {"M": 24, "N": 24, "S": 240, "K": 24}
    assert planned(sizes).blocks.turned_depth > 0
    plan = planned(sizes, "working-sets")
    assert plan.blocks.turned_depth == 0
    assert "V(n, 8)" in plan.reason
