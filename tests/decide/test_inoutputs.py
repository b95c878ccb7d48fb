"""Eliminations whose last step is an output are computed in its array, with nothing beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Interval
from tests.decide import eliminations
from tests.decide.eliminations import N, i, j, upto
from tests.tolerance import assert_close

SQUARE = {
    "unscaled_lu": lambda size: np.ones((size, size), bool),
    "chained": lambda size: np.ones((size, size), bool),
    "ldlt": lambda size: np.tril(np.ones((size, size), bool)),
    "upper_cholesky": lambda size: np.triu(np.ones((size, size), bool)),
}


def described(output: str, points: Any, value: Any) -> Function:
    """An output of what is read of an elimination of a whole matrix."""
    W = eliminations.elimination()
    found = Function(([i, j], points), Double, output)
    found.defn = value(W)
    return found


def last_of(W: Function) -> Any:
    return [W(N, i, j)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SQUARE)
def test_results_with_and_without_the_input_as_the_array(name: str, threads: int) -> None:
    options = pm.Options(threads=threads, parallel_threshold=0)
    compiled = pm.compile(eliminations.LEGAL[name](Double), options=options)
    assert compiled.explain().groups[0].storage["W"] == "output R"
    assert compiled.explain().inplace == (("A", "R"),)
    for size in (0, 1, 7, 8, 9, 31, 65):
        matrix = eliminations.arguments(size, size, "float64")["square"]
        there, expected = SQUARE[name](size), compiled.reference(matrix)
        array = np.full((size, size), 7.0)
        compiled(matrix, out=array)
        assert_close(array[there], expected[there], roundings=8 * (size + 1))
        assert np.all(array[~there] == 7.0)  # what the output does not have is not written
        same = matrix.copy()
        compiled(same, out=same)
        np.testing.assert_array_equal(same[there], array[there])
        np.testing.assert_array_equal(same[~there], matrix[~there])


def test_two_outputs_of_one_elimination() -> None:
    W = eliminations.elimination()
    outputs = [Function(([i, j], [upto(N), upto(N)]), Double, name) for name in ("first", "second")]
    for output in outputs:
        output.defn = last_of(W)
    compiled = pm.compile(outputs)
    matrix = eliminations.arguments(41, 41, "float64")["square"]
    one, other = compiled(matrix)
    np.testing.assert_array_equal(one, other)
    assert_close(one, compiled.reference(matrix)[0], roundings=400)


ELSEWHERE = {
    "a part": ([upto(N), Interval(pm.Int, 0, i)], last_of),
    "changed": ([upto(N), upto(N)], lambda W: [2.0 * W(N, i, j)]),
    "turned": ([upto(N), upto(N)], lambda W: [W(N, j, i)]),
    "by cases": (
        [upto(N), upto(N)],
        lambda W: [Case(Condition(i, ">", j), 0.0), Case(Condition(i, "<=", j), W(N, i, j))],
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_outputs_are_computed_from_an_array_of_its_own(name: str) -> None:
    compiled = pm.compile(described("R", *ELSEWHERE[name]))
    assert compiled.explain().groups[0].storage["W"] == "workspace"
    for size in (0, 1, 9, 33):
        matrix = eliminations.arguments(size, size, "float64")["square"]
        found, expected = compiled(matrix), compiled.reference(matrix)
        there = np.tril(np.ones((size, size), bool)) if name == "a part" else np.ones((size, size), bool)
        assert_close(found[there], expected[there], roundings=8 * (size + 1))


def test_another_reader_of_the_input_keeps_it_from_being_the_array() -> None:
    A = pm.Matrix(Double, "A", [N, N])
    W = eliminations.elimination(of=A)
    R = eliminations.last(W, Double, N, N, upto(N))
    E = Function(([i, j], [upto(N), upto(N)]), Double, "E")
    E.defn = [A(j, i) - R(i, j)]
    compiled = pm.compile([R, E])
    assert ("A", "R") not in compiled.explain().inplace
    matrix = eliminations.arguments(37, 37, "float64")["square"]
    size = float(np.max(np.abs(matrix)))
    for found, expected in zip(compiled(matrix), compiled.reference(matrix), strict=True):
        assert_close(found, expected, roundings=400, magnitude=size)
