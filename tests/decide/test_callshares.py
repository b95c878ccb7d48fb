"""Which dimension of library calls threads share: that of a batch, or the longest that may be cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import islpy as isl
import pytest

from polymat import Double, Function, Image, Int, Interval, Matrix
from polymat.decide.callshares import across_of, parallel_of
from polymat.graph.group import Group
from polymat.idiom.call import Idiom
from polymat.idiom.callcosts import SKEW
from polymat.options import Options
from polymat.plan.loops import LoopPlan
from polymat.plan.registerblocks import kernel_of
from polymat.plan.schedule import Schedule
from polymat.poly.order import Order
from tests.fixed import WIDE, compiled_levels
from tests.idiom.recognise import K, L, M, N, i, j, k, l, recognised, total, upto

A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
D, E = Image(Double, "D", [L, M, K]), Image(Double, "E", [L, K, N])
MN, SUM = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]
LOOPS = LoopPlan(Group(("R",)), "reduce", ("i", "j", "k"), "i", "k", "")


def idiom_of(*outputs: Function) -> Idiom:
    found = recognised(*outputs).idiom
    assert found is not None
    return found


PRODUCT = idiom_of(total("R", MN, SUM, A(i, k) * B(k, j)))
BATCH = idiom_of(total("R", [(l, upto(L)), *MN], SUM, D(l, i, k) * E(l, k, j)))


def shared(idiom: Idiom, loops: LoopPlan = LOOPS, threads: int = 4, **sizes: int) -> str | None:
    return parallel_of(idiom, loops, {"M": 100, "N": 100, "K": 100, "L": 100} | sizes, threads)


def test_rows_are_shared_unless_columns_are_much_longer() -> None:
    assert shared(PRODUCT) == "i"
    assert shared(PRODUCT, N=100 * SKEW) == "i"
    assert shared(PRODUCT, N=100 * SKEW + 1) == "j"


def test_of_a_batch_each_thread_has_calls_where_there_are_enough() -> None:
    assert shared(BATCH, L=4) == "l"
    assert shared(BATCH, L=3) != "l"


def test_a_triangle_of_a_result_is_cut_where_there_is_code_for_its_pieces() -> None:
    below = [(i, upto(M)), (j, Interval(Int, 0, i))]
    square = idiom_of(total("R", below, SUM, A(i, k) * A(j, k)))
    assert [cut.pieces for call in square.calls for cut in call.cuts] == ["triangle"]
    assert shared(square) == "i"
    uneven = tuple(replace(cut, pieces="triangle") for cut in PRODUCT.calls[0].cuts)
    rows, columns = (replace(PRODUCT.calls[0], cuts=(cut,)) for cut in uneven)
    assert [shared(replace(PRODUCT, calls=(call,))) for call in (rows, columns)] == [None, None]


def test_several_calls_are_cut_along_what_all_may_be_cut() -> None:
    call = PRODUCT.calls[0]
    first = replace(call, cuts=call.cuts[:1])
    both = replace(PRODUCT, calls=(call, first))
    (dim,) = {axis.dims[0] for axis in map(call.axis, [cut.role for cut in first.cuts])}
    assert shared(both, M=1, N=1) == shared(both, M=1000, N=1) == shared(both, M=1, N=1000) == dim


def test_what_a_recurrence_may_not_cut_the_calls_do_not() -> None:
    order = Order(isl.UnionMap("{ }"), (False, True, False), (False, True))
    assert shared(PRODUCT, replace(LOOPS, kind="recurrence", recurrence=order)) == "j"


@pytest.mark.parametrize(("parallel", "across"), [("i", "j"), ("j", None), (None, None)])
def test_a_grid_is_of_both_dimensions_of_register_blocks(parallel: str | None, across: str | None) -> None:
    machine = replace(WIDE, cores=16)
    output = total("R", MN, SUM, A(i, k) * B(k, j))
    schedule: Any = compiled_levels(
        output, machine=machine, options=Options(blas="never"), estimates={M: 2000, N: 2000, K: 2000}
    )["tilesize"]
    assert isinstance(schedule, Schedule)
    kernel = kernel_of(schedule.plans[-1])
    assert kernel is not None
    assert (kernel.parallel, kernel.across) == ("i", "j")
    assert across_of(PRODUCT, kernel, parallel) == across
