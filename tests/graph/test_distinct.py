"""Dimensions that are reduced get names of their own where results have dimensions of theirs."""

from __future__ import annotations

import numpy as np

from polymat import (
    Condition,
    Double,
    Int,
    Interval,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Variable,
)
from polymat.graph.build import build
from polymat.graph.distinct import separate_names
from polymat.graph.interpret import interpret

M, N = Parameter(Int, "M"), Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
A = Matrix(Double, "A", [M, N])
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)


def columns() -> Reduction:
    """The result's dimension, along columns, has the name of the rows that are summed."""
    made = Reduction(([i], [COLUMNS]), ([i, j], [ROWS, COLUMNS]), Double, "made")
    made.defn = [Reduce(made(j), Select(Condition(i, ">", j), A(i, j), i * 2.0), Op.Sum)]
    return made


def test_the_reduced_dimension_is_renamed_and_the_numbers_stay() -> None:
    built = build([columns()])
    separated = separate_names(built)
    (item,) = separated.stage("made").accumulations
    assert (separated.stage("made").dims, item.dims, item.reduced_dims) == (("i",), ("i_", "j"), ("i_",))
    array = np.random.default_rng(1).integers(-9, 9, (5, 3)).astype(float)
    sizes = {"M": 5, "N": 3}
    before, after = (interpret(each, {"A": array}, sizes)["made"] for each in (built, separated))
    np.testing.assert_array_equal(after, before)
    low = np.where(np.arange(5)[:, None] > np.arange(3), array, 2.0 * np.arange(5)[:, None])
    np.testing.assert_array_equal(after, low.sum(axis=0))


def test_a_name_that_is_taken_is_left_alone() -> None:
    i_ = Variable(Int, "i_")
    made = Reduction(([i], [COLUMNS]), ([i, i_], [ROWS, COLUMNS]), Double, "made")
    made.defn = [Reduce(made(i_), A(i, i_), Op.Sum)]
    (item,) = separate_names(build([made])).stage("made").accumulations
    assert item.dims == ("i__", "i_")


def test_what_is_distinct_stays_as_it_is() -> None:
    stage = build([(A @ Matrix(Double, "B", [N, M])).named("C")])
    assert separate_names(stage).stages == stage.stages
