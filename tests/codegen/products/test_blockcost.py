"""The price of register blocks in C: the same as in Python."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import pytest

import polymat as pm
from polymat import Double, Float, Int, Matrix, Parameter
from polymat.codegen.c.kernels import kernel_headers
from polymat.codegen.products.blockcost import prices_text
from polymat.graph.group import Group
from polymat.machine.known import GENERIC, ZEN3
from polymat.machine.model import Machine
from polymat.plan.kernel import KernelPlan
from polymat.product import prices
from polymat.product.blocking import blocking
from polymat.product.question import facts, facts_number, machine_values, strides
from polymat.runtime.libraryfile import build
from polymat.tilesize.kernelplanner import kernel_operations, plan_kernel
from tests.idiom.recognise import pipeline

FILL, FULL_SHARE, STARTING = (each.value for each in (prices.FILL, prices.FULL_SHARE, prices.STARTING))
PACKING, CACHED_PACKING = prices.PACKING.value, prices.CACHED_PACKING.value
READING, STORING = prices.READING.value, prices.STORING.value
M, N, K = (Parameter(Int, name) for name in "MNK")
SIZES = (1, 2, 7, 8, 9, 24, 31, 100, 1000, 8192, 12000)
FEW = (1, 7, 8, 31, 1000, 12000)


def product(dtype: Any) -> Any:
    return Matrix(dtype, "A", [M, K]) * Matrix(dtype, "B", [K, N])


def transposed(dtype: Any) -> Any:
    return Matrix(dtype, "A", [K, M]).T * Matrix(dtype, "B", [K, N])


def right_transposed(dtype: Any) -> Any:
    return Matrix(dtype, "A", [M, K]) * Matrix(dtype, "B", [N, K]).T


def of_the_result(dtype: Any) -> Any:
    return pm.syrk(Matrix(dtype, "A", [M, K]), Matrix(dtype, "C", [M, M]), 1.0, 1.0)


def lower_half(dtype: Any) -> Any:
    return pm.trmm(Matrix(dtype, "A", [M, M]), Matrix(dtype, "B", [M, N]), 1.0)


def symmetric(dtype: Any) -> Any:
    A, B, C = Matrix(dtype, "A", [M, M]), Matrix(dtype, "B", [M, N]), Matrix(dtype, "C", [M, N])
    return pm.symm(A, B, C, M, N, 1.0, 1.0)


def kernel_of(output: Any, machine: Machine) -> KernelPlan:
    built = pipeline(output)
    plans = (
        plan_kernel(Group((stage.name,)), stage, built.context, machine, {"M": 100, "N": 100, "K": 100})
        for stage in built.stages
    )
    return next(plan for plan in plans if plan is not None)


@pytest.mark.covering
@pytest.mark.parametrize("machine", [GENERIC, ZEN3], ids=["generic", "zen3"])
@pytest.mark.parametrize(
    "make", [product, transposed, right_transposed, of_the_result, lower_half, symmetric]
)
@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
@pytest.mark.parametrize("ended", [False, True], ids=["stored", "ended"])
def test_c_prices_what_python_prices(
    make: Callable[[Any], Any], dtype: Any, machine: Machine, ended: bool
) -> None:
    plan = replace(kernel_of(make(dtype), machine), ended=ended)
    found, blocks = plan.contraction, plan.blocks
    machine_text = ", ".join(str(value) for value in machine_values(blocks).values())
    known = facts_number(facts(found, blocks, plan.handed, plan.ended))
    body = (
        "double ask(double m, double n, double k, long long a_row, long long a_step, long long b_step, "
        "long long b_column) { return _pm_blocks_operations(_pm_in_blocks(_pm_lying(_pm_extents(m, n, k, "
        f"1.0, 1.0, 1.0), a_row, a_step, b_step, b_column, {known}), {machine_text})); }}\n"
    )
    includes = "".join(f"#include <{header}>\n" for header in kernel_headers("curve"))
    built = build("\n".join([includes, prices_text(), body]))
    library = ctypes.CDLL(str(built.path))
    built.release()
    library.ask.restype = ctypes.c_double
    library.ask.argtypes = (*(ctypes.c_double,) * 3, *(ctypes.c_longlong,) * 4)
    for sizes in itertools.product(SIZES if dtype is Double and not ended else FEW, repeat=3):
        values = dict(zip("MNK", sizes, strict=True))
        asked = [found.length(dim, values) for dim in (found.rows, found.columns, found.depth)]
        steps = strides(found, values)
        assert library.ask(*asked, *steps) == pytest.approx(kernel_operations(plan, values), rel=1e-12)


@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
def test_only_copies_that_are_made_are_charged(dtype: Any) -> None:
    straight, copied = kernel_of(product(dtype), ZEN3), kernel_of(transposed(dtype), ZEN3)
    sizes = {"M": 1000, "N": 1000, "K": 16}
    price = kernel_operations(straight, sizes)
    vectors = ceil(1000 / straight.blocks.lanes) * straight.blocks.lanes
    blocks = 2.0 * 1000 * vectors * (16 + FILL) / FULL_SHARE
    assert price == pytest.approx(blocks + PACKING * 16 * 1000 + STARTING)  # B alone is copied
    assert kernel_operations(copied, sizes) == pytest.approx(price + PACKING * 1000 * 16)


@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
def test_a_large_operand_that_is_read_in_place_is_not_charged_as_copied(dtype: Any) -> None:
    rows, columns = kernel_of(product(dtype), ZEN3), kernel_of(transposed(dtype), ZEN3)
    for plan, sizes in ((rows, {"M": 16, "N": 99999, "K": 160}), (columns, {"M": 99999, "N": 12, "K": 160})):
        few, lanes = min(sizes["M"], sizes["N"]), plan.blocks.lanes
        width = ceil(sizes["N"] / lanes) * lanes
        blocks = 2.0 * sizes["M"] * width * (160 + FILL) / FULL_SHARE + STARTING
        least = blocks + 160 * (READING * 99999 + CACHED_PACKING * few)
        price = kernel_operations(plan, sizes)
        assert (
            0.999 * least <= price <= 1.001 * (least + STORING * 99999 * few) < blocks + PACKING * 160 * 99999
        )


@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
def test_a_single_column_is_not_copied(dtype: Any) -> None:
    straight, turned = kernel_of(product(dtype), ZEN3), kernel_of(right_transposed(dtype), ZEN3)
    for rows in (1, 300):
        one, two = ({"M": rows, "N": n, "K": 300} for n in (1, 2))
        assert kernel_operations(turned, one) == kernel_operations(straight, one)
        assert not blocking(turned.contraction, turned.blocks, one).packs_right
        assert not blocking(turned.contraction, turned.blocks, two).packs_right  # sums along rows
        assert blocking(turned.contraction, turned.blocks, two | {"N": 9}).packs_right


@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
def test_a_few_columns_are_charged_as_sums_along_rows(dtype: Any) -> None:
    plan = kernel_of(product(dtype), ZEN3)
    prices = [kernel_operations(plan, {"M": 300, "N": n, "K": 300}) for n in (1, 2, 4)]
    assert 1.1 * prices[0] < prices[1] < 0.9 * prices[2]  # a vector of columns would cost the same for all
