"""Integer parameters between declared limits: what they say, and what a call refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, Parameter
from polymat.graph.build import build
from polymat.graph.verifypipeline import verify
from polymat.lang.expressiontext import condition_text

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
A = pm.Matrix(Double, "A", [N, M])
row = Parameter(Int, "row", values=(0, N - 1))
scale = Parameter(Int, "scale", values=(2, 5))


def of_row(value: Any) -> Function:
    f = Function(([j], [Interval(Int, 0, M - 1)]), Double, "f")
    f.defn = [value]
    return f


REFUSED = [
    (Double, (0, 1), pm.DtypeError, "values= declares what an integer lies between, and q is Double"),
    (Int, 3, pm.LangError, "values= of q is a pair, got 3"),
    (Int, (0, i), pm.LangError, "values= of q uses the variable i"),
    (Int, (0, 1.5), pm.NotAffineError, "not affine: 1.5 is not an integer"),
    (Int, (-2, 4), pm.LangError, "values= of q begins at -2, and what may be an index is at least 0"),
]


@pytest.mark.parametrize(("dtype", "values", "kind", "message"), REFUSED)
def test_what_is_no_pair_of_limits(dtype: Any, values: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind) as caught:
        Parameter(dtype, "q", values=values)
    assert caught.value.message == message


def test_what_limits_say() -> None:
    assert [*map(condition_text, row.limits)] == ["row <= N - 1"]  # a size is 0 or more
    assert [*map(condition_text, scale.limits)] == ["scale >= 2", "scale <= 5"]
    assert [*map(condition_text, Parameter(Int, "q", values=(M, N)).limits)] == ["q >= M", "q <= N"]


def test_a_call_checks_an_index_and_a_value() -> None:
    compiled = pm.compile(of_row(A(row, j) * scale), inputs=[A])
    array = np.arange(12.0).reshape(3, 4)
    for run in (compiled, compiled.reference):
        assert np.array_equal(run(array, row=2, scale=5), 5 * array[2])
        with pytest.raises(pm.ArgumentError) as caught:
            run(array, row=3, scale=5)
        assert (
            caught.value.message == "f(): refused for N = 3, M = 4, row = 3, scale = 5: requires row <= N - 1"
        )
        for wrong in ({"row": 0, "scale": 1}, {"row": 0, "scale": 6}, {"row": -1, "scale": 2}):
            with pytest.raises(pm.ArgumentError):
                run(array, **wrong)
        with pytest.raises(pm.ArgumentError):
            run(array[:0], row=0, scale=2)


def test_bounds_say_what_to_declare() -> None:
    with pytest.raises(pm.BoundsError) as caught:
        verify(build([of_row(A(Parameter(Int, "k"), j))]))
    assert caught.value.hint == 'Parameter(Int, "k", values=(0, N - 1)), which each call checks'


def test_an_index_may_be_moved_within_its_limits() -> None:
    verify(build([of_row(A(N - 1 - row, j) + A(row // 2, j))]))
    with pytest.raises(pm.BoundsError, match=r"f reads A\(row \+ 1, j\) outside A"):
        verify(build([of_row(A(row + 1, j))]))


def test_parameters_of_limits_are_parameters() -> None:
    last = Parameter(Int, "last", values=(0, N - 1))
    first = Parameter(Int, "first", values=(0, last))
    pipeline = build([of_row(A(first, j))])
    assert [size.name for size in pipeline.sizes] == ["N", "M", "first", "last"]
    assert [text for _, text in pipeline.constraints] == ["first <= last", "last <= N - 1"]


def test_one_name_has_one_pair_of_limits() -> None:
    with pytest.raises(pm.NameClashError) as caught:
        build([of_row(A(row, j) + Parameter(Int, "row"))])
    assert caught.value.message == "two parameters are named row: row <= N - 1 and no limits"


def test_sizes_that_are_given_are_within_them() -> None:
    verify(build([of_row(A(row, j))], sizes={row: 1}))
    with pytest.raises(pm.LangError) as caught:
        build([of_row(A(row, j))], sizes={row: 4, N: 3})
    assert caught.value.message == "no sizes meet all of these: row <= N - 1"
