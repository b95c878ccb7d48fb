"""Ways of products: Python names those that generated code takes, and so it is with copies and prices.

Generated code is compiled so that it decides and does not multiply, once for each type of elements.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from polymat import Double, Float, Int, Matrix, Parameter
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape
from polymat.graph.group import Group
from polymat.lang.types import ScalarType
from polymat.machine.known import ZEN3
from polymat.machine.model import Machine
from polymat.plan.kernel import KernelPlan
from polymat.product.question import facts, facts_number, machine_values
from polymat.product.ways import COPIES_NOTHING, Way
from polymat.runtime.libraryfile import build
from polymat.tilesize.kernelplanner import blocking_of, kernel_operations, plan_kernel, shares_of
from tests.idiom.recognise import pipeline

PRODUCTS = 1250  # for each transposition, type of elements and machine
M, N, K = (Parameter(Int, name) for name in "MNK")
SMALL = replace(ZEN3, l1_bytes=1 << 13, l2_bytes=1 << 16)  # so that few elements are many
MACHINES = {"usual": ZEN3, "small": SMALL}
LIES = ("AB", "ATB", "ABT", "ATBT")

# Extents, and strides of A and B; then blocks for the caches.  Told: way and copies; the price.
_ASK = """\
void ask(ptrdiff_t count, const ptrdiff_t (*asked)[7], ptrdiff_t kc, ptrdiff_t mc, ptrdiff_t nc,
        ptrdiff_t small, int facts, int (*told)[6], double *prices)
{
    static $T a[64], b[64], c[64];
    const _pm_half_$S none = {0};
    for (ptrdiff_t i = 0; i < count; i++) {
        const ptrdiff_t *const to = asked[i];
        _pm_packed_left = _pm_packed_right = -1;
        _pm_gemm_$S(to[0], to[1], to[2], 1, _pm_origin_$S, 1, _pm_origin_$S, 1, _pm_origin_$S, 1, a, to[3],
                    to[4], b, to[5], to[6], 0, NULL, 0, c, to[1], kc, mc, nc, small, 0, none, NULL, NULL,
                    NULL, NULL);
        told[i][0] = _pm_taken;
        told[i][1] = _pm_packed_left;
        told[i][2] = _pm_packed_right;
        const _pm_product_$S all = {to[0], to[1], to[2], 1, _pm_origin_$S, 1, _pm_origin_$S, 1,
                _pm_origin_$S, 1, a, to[3], to[4], b, to[5], to[6], 0, NULL, 0, c, to[1], kc, mc, nc, small,
                0, none, NULL, NULL, NULL, NULL};
        const _pm_scheme_$S how = _pm_scheme_of_$S(&all);
        told[i][3] = (int)how.tall;
        told[i][4] = (int)how.broad;
        told[i][5] = (int)how.deepest;
        const _pm_asked extents = _pm_extents((double)to[0], (double)to[1], (double)to[2], 1.0, 1.0, 1.0);
        const _pm_asked lying = _pm_lying(extents, to[3], to[4], to[5], to[6], facts);
        prices[i] = _pm_blocks_operations(_pm_in_blocks(lying, $MACHINE));
    }
}
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What generated code says of some products: ways and copies, and prices."""

    decided: Any
    prices: Any


@cache
def library(dtype: ScalarType) -> Callable[[KernelPlan, Any], Told]:
    """The decisions of generated code for a type of elements."""
    blocks = kernel_of("AB", dtype, ZEN3).blocks
    need = Shape(dtype.suffix, blocks.vector_bytes, blocks.rows, blocks.vectors)
    constants = machine_values(blocks) | dict.fromkeys(("kc", "nc", "small"))
    given = ", ".join(name if value is None else str(value) for name, value in constants.items())
    ask = _ASK.replace("$MACHINE", given).replace("$S", dtype.suffix).replace("$T", dtype.c)
    text = prelude(frozenset({need, Piece.BLOCKS, Piece.PLACE, MIN_I64, MAX_I64}))
    made = build(f"#define _PM_TRACE 1\n{text}{ask}")
    found = ctypes.CDLL(str(made.path))
    made.release()

    def ask_of(plan: KernelPlan, asked: Any) -> Told:
        told = np.empty((len(asked), 6), np.int32)
        prices, own = np.empty(len(asked)), plan.blocks
        known = facts_number(facts(plan.contraction, own, plan.handed, plan.ended))
        sizes = (ctypes.c_ssize_t(size) for size in (own.kc, own.mc, own.nc, own.small))
        arrays = (ctypes.c_void_p(array.ctypes.data) for array in (told, prices))
        count, lies = ctypes.c_ssize_t(len(asked)), ctypes.c_void_p(asked.ctypes.data)
        found.ask(count, lies, *sizes, ctypes.c_int(known), *arrays)
        return Told(told, prices)

    return ask_of


@cache
def kernel_of(lies: str, dtype: ScalarType, machine: Machine) -> KernelPlan:
    """The plan of a product whose operands lie so."""
    A = Matrix(dtype, "A", [K, M]).T if "AT" in lies else Matrix(dtype, "A", [M, K])
    B = Matrix(dtype, "B", [N, K]).T if "BT" in lies else Matrix(dtype, "B", [K, N])
    built = pipeline(A @ B)
    (stage,) = built.stages
    plan = plan_kernel(Group((stage.name,)), stage, built.context, machine, {"M": 99, "N": 99, "K": 99})
    assert plan is not None
    return plan


def products(seed: int, count: int = PRODUCTS) -> list[dict[str, int]]:
    """Sizes of random products, many of them with a short side or two, or near a power of two."""
    draw = random.Random(seed)

    def extent() -> int:
        most = draw.choice((4, 30, 130, 600, 3000, 100000))
        return draw.choice((draw.randint(1, most), int(2 ** draw.uniform(0, 12)) + draw.randint(-1, 1) or 1))

    return [{"M": extent(), "N": extent(), "K": extent()} for _ in range(count)]


def asked_of(lies: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Extents and strides of a product, for generated code."""
    m, n, k = (sizes[name] for name in "MNK")
    left = (1, m) if "AT" in lies else (k, 1)
    return (m, n, k, *left, *((1, k) if "BT" in lies else (n, 1)))


def in_blocks(plan: KernelPlan, sizes: Mapping[str, int], cut: list[int]) -> tuple[int, int, int]:
    """Rows, columns and depth of blocks of so many strips and panels, which end with the product."""
    tall, broad, deepest = cut
    return min(tall * plan.blocks.rows, sizes["M"]), min(broad * plan.blocks.columns, sizes["N"]), deepest


@pytest.mark.covering
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
@pytest.mark.parametrize("lies", LIES)
def test_python_says_what_generated_code_does(lies: str, dtype: ScalarType, machine: str) -> None:
    plan = kernel_of(lies, dtype, MACHINES[machine])
    sizes = products(LIES.index(lies))
    told = library(dtype)(plan, np.array([asked_of(lies, each) for each in sizes], np.int64))
    taken = set()
    for each, (way, left, right, *cut), price in zip(
        sizes, told.decided.tolist(), told.prices.tolist(), strict=True
    ):
        made = blocking_of(plan, each)
        taken.add(made.way)
        assert made.way is [*Way][way], (each, made.way, [*Way][way])
        if made.way in (Way.RIGHT_IN_PARTS, Way.BLOCKED):
            assert (made.packs_left, made.packs_right) == (left, right), each
        if made.way is Way.BLOCKED:
            assert (made.rows, made.columns, made.depth) == in_blocks(plan, each, cut), each
        assert kernel_operations(plan, each) == pytest.approx(price, rel=1e-12), each
    assert len(taken) >= 4, taken


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
@pytest.mark.parametrize("lies", LIES)
def test_python_says_what_each_of_two_threads_does(lies: str, dtype: ScalarType) -> None:
    """Each decides by the extents of its share, and by the strides of the whole arrays."""
    plan = kernel_of(lies, dtype, ZEN3)
    drawn = products(7 + LIES.index(lies), PRODUCTS // 2)
    cases = [(each, *part) for each in drawn for part in shares(plan, each)]
    asked = [(*extents, *asked_of(lies, each)[3:]) for each, extents, _ in cases]
    told = library(dtype)(plan, np.array(asked, np.int64))
    differ, dearest = 0, dict[int, float]()
    for (each, _, share), (way, left, right, *_cut), price in zip(
        cases, told.decided.tolist(), told.prices.tolist(), strict=True
    ):
        made = blocking_of(plan, each, share=share)
        assert made.way is [*Way][way], (each, share, made.way, [*Way][way])
        if made.way in (Way.RIGHT_IN_PARTS, Way.BLOCKED):
            assert (made.packs_left, made.packs_right) == (left, right), (each, share)
        differ += made.way is not blocking_of(plan, each).way
        dearest[id(each)] = max(dearest.get(id(each), 0.0), price)
    assert differ > 0  # or asking with the share would be in vain
    for each in {id(each): each for each, _, _ in cases}.values():
        shared = replace(plan, parallel=shared_dim(plan, each), across=None)
        assert [*shares_of(shared, each, 2)] == [share for _, share in shares(plan, each)], each
        alike = pytest.approx(2.0 * dearest[id(each)], rel=1e-12)  # all wait for the slowest
        assert kernel_operations(shared, each, 2) == alike, each


@pytest.mark.covering
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
def test_what_has_no_room_for_copies_copies_nothing(dtype: ScalarType, machine: str) -> None:
    """Room is asked for by extents that are rounded up, or by the most that they may be."""
    plan, draw = kernel_of("AB", dtype, MACHINES[machine]), random.Random(19)
    blocks, copied, without = plan.blocks, 0, 0
    for most in products(19):
        rounded = {"m": most["M"] + blocks.rows, "n": most["N"] + blocks.columns, "k": most["K"]}
        spared = COPIES_NOTHING.holds({**rounded, "rows": blocks.rows, "small": blocks.small})
        without += spared
        for each in (most, {name: draw.randint(1, extent) for name, extent in most.items()}):
            copies = blocking_of(plan, each).way in (Way.RIGHT_IN_PARTS, Way.BLOCKED)
            assert not (spared and copies), (most, each)
            copied += copies
    assert copied > 0
    assert without > 0


def shared_dim(plan: KernelPlan, sizes: Mapping[str, int]) -> str:
    """The dimension of the result that two threads share: its rows, or its columns where these are many."""
    return plan.contraction.rows if 2 * sizes["M"] >= sizes["N"] else plan.contraction.columns


def shares(plan: KernelPlan, sizes: Mapping[str, int]) -> list[tuple[tuple[int, ...], dict[str, float]]]:
    """The extents of each of two threads, and the length of the dimension that they share out."""
    found = plan.contraction
    m, n, k = (sizes[name] for name in "MNK")
    by_rows = shared_dim(plan, sizes) == found.rows
    whole, unit = (m, plan.blocks.rows) if by_rows else (n, 1)
    first = min(-(-whole // unit) // 2 * unit, whole)
    parts = [part for part in (first, whole - first) if part > 0]
    return [
        ((part, n, k), {found.rows: float(part)}) if by_rows else ((m, part, k), {found.columns: float(part)})
        for part in parts
    ]
