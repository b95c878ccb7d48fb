"""The price of register blocks in C: the same as in Python."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat import Double, Float, Int, Matrix, Parameter
from polymat.codegen.blockcost import BLOCKS_HELPER
from polymat.codegen.choice import triangle_kind
from polymat.codegen.curve import CURVE_HEADERS
from polymat.graph.group import Group
from polymat.machine.known import GENERIC, ZEN3
from polymat.machine.model import Machine
from polymat.runtime.build import build
from polymat.tilesize.kernel import KernelPlan, is_packed, kernel_operations, plan_kernel
from tests.idiom.recognise import pipeline

M, N, K = (Parameter(Int, name) for name in "MNK")
SIZES = (1, 2, 7, 8, 9, 24, 31, 100, 1000)


def product(dtype: Any) -> Any:
    return Matrix(dtype, "A", [M, K]) * Matrix(dtype, "B", [K, N])


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


@pytest.mark.parametrize("machine", [GENERIC, ZEN3], ids=["generic", "zen3"])
@pytest.mark.parametrize("make", [product, lower_half, symmetric])
@pytest.mark.parametrize("dtype", [Double, Float], ids=["double", "float"])
def test_c_prices_what_python_prices(make: Callable[[Any], Any], dtype: Any, machine: Machine) -> None:
    plan = kernel_of(make(dtype), machine)
    found, blocks = plan.contraction, plan.blocks
    shape = (blocks.rows, blocks.vectors, blocks.lanes, blocks.kc, blocks.nc, blocks.small)
    body = (
        "double ask(double m, double n, double k) { return _pm_blocks_operations(m, n, k, 1.0, 1.0, "
        f"{triangle_kind(found)}, {int(is_packed(found))}, {', '.join(map(str, shape))}); }}\n"
    )
    includes = "".join(f"#include <{header}>\n" for header in CURVE_HEADERS)
    built = build("\n".join([includes, BLOCKS_HELPER, body]))
    library = ctypes.CDLL(str(built.path))
    built.release()
    library.ask.restype = ctypes.c_double
    library.ask.argtypes = (ctypes.c_double,) * 3
    for sizes in itertools.product(SIZES, repeat=3):
        values = dict(zip("MNK", sizes, strict=True))
        asked = [found.length(dim, values) for dim in (found.rows, found.columns, found.depth)]
        assert library.ask(*asked) == pytest.approx(kernel_operations(plan, values), rel=1e-12)
