"""Ways of products with a triangle: Python names those that generated code takes, and its copies."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import pytest

from polymat import Case, Condition, Double, Op, Reduce, Reduction
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape
from polymat.machine.known import ZEN3
from polymat.plan.kernel import KernelPlan
from polymat.product.question import facts, facts_number, machine_values, strides
from polymat.product.ways import COPIES_NEAR, Way
from polymat.runtime.libraryfile import build
from polymat.tilesize.kernelplanner import blocking_of, kernel_operations
from tests.codegen.products.test_blockcost import kernel_of, right_transposed, transposed
from tests.codegen.test_halves import inputs_of, structured
from tests.idiom.recognise import M, N, i, j, k, upto
from tests.product.test_ways import products


def of_symmetric(side: str) -> Any:
    """A sum with a symmetric matrix of which one triangle is stored, on the left or on the right."""
    S, B = inputs_of(side, Double)
    left = side == "left"
    line, spans = (i, [upto(M), upto(N)]) if left else (j, [upto(N), upto(M)])
    stage = Reduction(([i, j], spans), ([i, j, k], [*spans, upto(M)]), Double, side)
    other = B(k, j) if left else B(i, k)
    stage.defn = [
        Case(Condition(k, "<=", line), Reduce(stage(i, j), S(line, k) * other, Op.Sum)),
        Case(Condition(k, ">", line), Reduce(stage(i, j), S(k, line) * other, Op.Sum)),
    ]
    return stage


PACKING = (Way.COPIED_NEAR, Way.RIGHT_IN_PARTS, Way.BLOCKED)

# Extents, and strides of A and B; a triangle of one of the matrices.  Told: way and copies; the price.
_ASK = """\
void ask(ptrdiff_t count, const ptrdiff_t (*asked)[7], ptrdiff_t kc, ptrdiff_t mc, ptrdiff_t nc,
        ptrdiff_t small, int facts, int place, int before, int mirrored, int (*told)[3], double *prices)
{
    static double a[64], b[64], c[64];
    const _pm_half_f64 half = {place, before, 0, mirrored ? a : NULL, 0, 0};
    for (ptrdiff_t i = 0; i < count; i++) {
        const ptrdiff_t *const to = asked[i];
        _pm_packed_left = _pm_packed_right = -1;
        _pm_gemm_f64(to[0], to[1], to[2], 1, _pm_origin_f64, 1, _pm_origin_f64, 1, _pm_origin_f64, 1, a,
                     to[3], to[4], b, to[5], to[6], 0, NULL, 0, c, to[1], kc, mc, nc, small, 0, half, NULL,
                     NULL, NULL, NULL);
        told[i][0] = _pm_taken;
        told[i][1] = _pm_packed_left;
        told[i][2] = _pm_packed_right;
        const _pm_asked extents = _pm_extents((double)to[0], (double)to[1], (double)to[2], 1.0, 1.0, 1.0);
        const _pm_asked lying = _pm_lying(extents, to[3], to[4], to[5], to[6], facts);
        prices[i] = _pm_blocks_operations(_pm_in_blocks(lying, $MACHINE));
    }
}
"""
TRIANGLES = {
    "left": lambda: structured("left", "lower", inputs_of("left", Double), Double),
    "right": lambda: structured("right", "upper", inputs_of("right", Double), Double),
    "result": lambda: structured("result", "lower", inputs_of("result", Double), Double),
    "symmetric left": lambda: of_symmetric("left"),
    "symmetric right": lambda: of_symmetric("right"),
}


@cache
def plan_of(kind: str) -> KernelPlan:
    """The plan of a product with a triangle."""
    return kernel_of(TRIANGLES[kind](), ZEN3)


@cache
def _library(block: tuple[int, int, int], machine: tuple[float, ...]) -> Any:
    """What generated code decides, of register blocks that know triangles."""
    text = prelude(
        frozenset({Shape("f64", *block, halves=True), Piece.BLOCKS, Piece.PLACE, MIN_I64, MAX_I64})
    )
    ask = _ASK.replace("$MACHINE", ", ".join(map(str, machine)))
    made = build(f"#define _PM_TRACE 1\n{text}{ask}")
    found = ctypes.CDLL(str(made.path))
    made.release()
    return found


def told(plan: KernelPlan, asked: Any) -> tuple[Any, Any]:
    """The ways of some products, copies of both operands, and prices."""
    blocks, found = plan.blocks, plan.contraction
    assert found.triangle is not None
    known = facts(found, blocks, plan.handed, plan.ended)
    library = _library(
        (blocks.vector_bytes, blocks.rows, blocks.vectors), (*machine_values(blocks).values(),)
    )
    decided, prices = np.empty((len(asked), 3), np.int32), np.empty(len(asked))
    sizes = (ctypes.c_ssize_t(size) for size in (blocks.kc, blocks.mc, blocks.nc, blocks.small))
    triangle = (facts_number(known), int(known["place"]), found.triangle.before, found.mirror is not None)
    arrays = (ctypes.c_void_p(array.ctypes.data) for array in (decided, prices))
    count, lies = ctypes.c_ssize_t(len(asked)), ctypes.c_void_p(asked.ctypes.data)
    library.ask(count, lies, *sizes, *map(ctypes.c_int, triangle), *arrays)
    return decided, prices


def asked_of(plan: KernelPlan, sizes: dict[str, int]) -> tuple[int, ...]:
    """Extents and strides of a product, for generated code."""
    found = plan.contraction
    extents = (int(found.length(dim, sizes)) for dim in (found.rows, found.columns, found.depth))
    return (*extents, *strides(found, sizes))


@pytest.mark.parametrize("kind", TRIANGLES)
def test_python_says_what_generated_code_does_beside_triangles(kind: str) -> None:
    plan = plan_of(kind)
    sizes = [each for each in products(23 + [*TRIANGLES].index(kind)) if max(each.values()) < 20000]
    sizes += [{"M": m, "N": n, "K": k} for m in (1, 7, 30, 90, 100) for n in (1, 2, 33, 96) for k in (1, 40)]
    decided, prices = told(plan, np.array([asked_of(plan, each) for each in sizes], np.int64))
    taken = set()
    for each, (way, left, right), price in zip(sizes, decided.tolist(), prices.tolist(), strict=True):
        made = blocking_of(plan, each)
        taken.add(made.way)
        assert made.way is [*Way][way], (each, made.way, [*Way][way])
        assert made.way in PACKING, each
        assert (made.packs_left, made.packs_right) == (left, right), each
        assert kernel_operations(plan, each) == pytest.approx(price, rel=1e-12), each
    assert {Way.COPIED_NEAR, Way.BLOCKED} <= taken


@pytest.mark.parametrize("kind", [*TRIANGLES, "transposed", "right transposed"])
def test_copies_that_stay_near_need_no_room(kind: str) -> None:
    """Nor those of products with fewer rows, columns or steps: room is asked for by the most of them."""
    of_whole = {"transposed": transposed, "right transposed": right_transposed}
    plan = kernel_of(of_whole[kind](Double), ZEN3) if kind in of_whole else plan_of(kind)
    found, blocks = plan.contraction, plan.blocks
    machine = {"rows": blocks.rows, "lanes": blocks.lanes, "small": blocks.small}
    without = 0
    for most in products(29):
        lengths = [found.length(dim, most) for dim in (found.rows, found.columns, found.depth)]
        spared = COPIES_NEAR.holds({**dict(zip("mnk", lengths, strict=True)), **machine})
        without += spared
        for part in (1, 2, 7):
            each = {name: -(-extent // part) for name, extent in most.items()}
            assert not spared or blocking_of(plan, each).way not in PACKING[1:], (most, each)
    assert without > 0
