"""Shares of threads: where products are cut, and what is asked of each part."""

from __future__ import annotations

import pytest

from polymat import (
    Double,
    Int,
    Interval,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Variable,
)
from polymat.graph.group import Group
from polymat.machine.known import ZEN3
from polymat.plan.kernel import KernelPlan
from polymat.product.contraction import Contraction
from polymat.product.shares import WHOLE, Share, Shared, work_along
from polymat.tilesize.kernelplanner import kernel_operations, plan_kernel
from tests.idiom.recognise import pipeline

M, N, K = (Parameter(Int, name) for name in "MNK")
SIZES = {"M": 100, "N": 50, "K": 300}


def plan_of(output: Reduction) -> KernelPlan:
    built = pipeline(output)
    (stage,) = built.stages
    plan = plan_kernel(Group((stage.name,)), stage, built.context, ZEN3, SIZES)
    assert plan is not None
    return plan


def shares(found: Contraction, dim: str | None, sizes: dict[str, int], threads: int) -> tuple[Share, ...]:
    """Of register blocks of six rows, where threads share one dimension."""
    return Shared(found, dim, None, 6, 4).shares(sizes, threads)


def product() -> KernelPlan:
    return plan_of(Matrix(Double, "A", [M, K]) @ Matrix(Double, "B", [K, N]))


def triangle() -> KernelPlan:
    """The lower triangle of a matrix times its transpose."""
    i, j, k = (Variable(Int, name) for name in "ijk")
    A = Matrix(Double, "A", [M, K])
    rows, depth = Interval(Int, 0, M - 1), Interval(Int, 0, K - 1)
    C = Reduction(
        ([i, j], [rows, Interval(Int, 0, i)]), ([i, j, k], [rows, Interval(Int, 0, i), depth]), Double, "C"
    )
    C.defn = [Reduce(C(i, j), A(i, k) * A(j, k), Op.Sum)]
    return plan_of(C)


def test_rows_are_cut_between_register_blocks_and_columns_anywhere() -> None:
    found = product().contraction
    assert shares(found, found.rows, SIZES, 3) == ({"i": 30.0}, {"i": 36.0}, {"i": 34.0})
    assert shares(found, found.columns, SIZES, 3) == ({"j": 16.0}, {"j": 17.0}, {"j": 17.0})


def test_threads_without_a_part_have_no_share() -> None:
    found = product().contraction
    assert shares(found, found.rows, SIZES | {"M": 7}, 4) == ({"i": 6.0}, {"i": 1.0})
    assert shares(found, found.rows, SIZES | {"M": 0}, 4) == (WHOLE,)


@pytest.mark.parametrize(("dim", "threads"), [("i", 1), (None, 4)])
def test_one_thread_has_all(dim: str | None, threads: int) -> None:
    assert shares(product().contraction, dim, SIZES, threads) == (WHOLE,)


def test_shares_of_a_triangle_have_the_same_area() -> None:
    found = triangle().contraction
    assert work_along(found, "i") == "rising"
    assert work_along(found, "j") == "falling"
    assert work_along(product().contraction, "i") == "even"
    assert shares(found, "i", SIZES, 2) == ({"i": 70.0}, {"i": 30.0})
    assert shares(found, "j", SIZES, 2) == ({"j": 30.0}, {"j": 70.0})


def test_each_thread_pays_for_its_own_copies() -> None:
    """Few rows beside a large right operand, which each copies: two threads are not twice as quick."""
    plan, sizes = product(), {"M": 256, "N": 3000, "K": 3000}
    alone, together = (kernel_operations(plan, sizes, threads) for threads in (1, 2))
    assert alone < together < 2 * alone


def test_shares_of_a_triangle_cost_the_same_in_all_as_the_triangle() -> None:
    plan, sizes = triangle(), {"M": 960, "N": 960, "K": 960}
    assert kernel_operations(plan, sizes, 2) == pytest.approx(kernel_operations(plan, sizes, 1), rel=0.1)
