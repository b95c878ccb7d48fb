"""Every level is checked by what must hold of it, and the error names the pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat import Double, Int, InternalError, Matrix, Parameter
from polymat.checked import check
from polymat.graph.build import build
from polymat.graph.group import Grouping
from polymat.plan.schedule import Schedule

N = Parameter(Int, "N")
A = Matrix(Double, "A", [N, N])


def test_errors_name_the_pass_and_the_line() -> None:
    pipeline = build([A @ A])
    check("built", pipeline)
    with pytest.raises(
        InternalError, match="bug in polymat: after the pass share: the output out is no stage"
    ):
        check("share", replace(pipeline, stages=()))
    with pytest.raises(InternalError, match="bug in polymat: after the pass fusion: out is in 0 groups"):
        check("fusion", Grouping(pipeline, ()))
    with pytest.raises(InternalError, match="bug in polymat: after the pass tilesize: out is in 0 groups"):
        check("tilesize", Schedule(Grouping(pipeline, ()), ()))


def test_reads_outside_are_the_fault_of_the_pass_that_made_them() -> None:
    narrow = build([A @ A])
    (array,) = narrow.inputs
    with pytest.raises(InternalError, match=r"after the pass turn: .* reads A\(i, k\) outside A") as caught:
        check(
            "turn",
            replace(narrow, inputs=(replace(array, extents=(array.extents[0] - 1, array.extents[1])),)),
        )
    assert caught.value.location is not None
