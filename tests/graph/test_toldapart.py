"""Circles of functions that read at their own step at some points, and at earlier ones at others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Reduce, Reduction, Sqrt
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.graph.toldapart import told_apart
from polymat.poly.membership import members

N = pm.Parameter(Int, "N")
i, j, k, d = (pm.Variable(Int, name) for name in "ijkd")
A, BANDS = pm.Matrix(Double, "A", [N, N]), pm.Matrix(Double, "bands", [N, 4])
ROWS, OFFSETS = Interval(Int, 0, N - 1), Interval(Int, 0, 3)


def left_looking(row: Any, column: Any) -> Function:
    """Cholesky's factor, whose diagonal reads its sum at indices that are the same there."""
    total = Reduction(([i, j], [ROWS, ROWS]), ([i, j, k], [ROWS, ROWS, ROWS]), Double, "total")
    factor = Function(([i, j], [ROWS, ROWS]), Double, "factor", default=0)
    below = Condition(k, "<", j) & Condition(i, ">=", j)
    total.defn = [Case(below, Reduce(total(i, j), factor(i, k) * factor(j, k), Op.Sum))]
    factor.defn = [
        Case(Condition(i, "==", j), Sqrt(A(i, i) - total(row, column))),
        Case(Condition(i, ">", j), (A(i, j) - total(i, j)) / factor(j, j)),
    ]
    return factor


def banded() -> Function:
    """The same of a matrix with three diagonals below its own, row by row: element (i, i - d) at (i, d)."""
    inner = Interval(Int, 1, 3)
    total = Reduction(([i, d], [ROWS, OFFSETS]), ([i, d, k], [ROWS, OFFSETS, inner]), Double, "total")
    factor = Function(([i, d], [ROWS, OFFSETS]), Double, "factor", default=0)
    there = Condition(d + k, "<=", i) & Condition(d + k, "<=", 3)
    total.defn = [Case(there, Reduce(total(i, d), factor(i, d + k) * factor(i - d, k), Op.Sum))]
    factor.defn = [
        Case(Condition(d, "==", 0), Sqrt(BANDS(i, 0) - total(i, 0))),
        Case(Condition(d, ">", 0) & Condition(d, "<=", i), (BANDS(i, d) - total(i, d)) / factor(i - d, 0)),
    ]
    return factor


def positive(size: int) -> Any:
    values = np.random.default_rng(size).random((size, size))
    return values @ values.T + size * np.eye(size)


@pytest.mark.parametrize("indices", [(i, i), (j, j), (j, i), (i, j)], ids=["ii", "jj", "ji", "ij"])
def test_left_looking_cholesky(indices: tuple[Any, Any]) -> None:
    pipeline = build([left_looking(*indices)])
    sections = in_sections(pipeline)
    assert isinstance(sections, Stepwise)
    for size in (0, 1, 2, 7):
        given = positive(size)
        expected = np.linalg.cholesky(given) if size else given
        whole = interpret(pipeline, {"A": given}, {"N": size})["factor"]
        steps = interpret_stepwise(sections, {"A": given}, {"N": size}, members)["factor"]
        np.testing.assert_allclose(whole, expected, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(steps, expected, rtol=1e-13, atol=1e-13)


def test_banded_cholesky_by_rows() -> None:
    compiled = pm.compile(banded(), name="banded")
    for size in (0, 1, 2, 3, 4, 13):
        dense = positive(size) * (np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= 3)
        dense += size * np.eye(size)
        bands = np.zeros((size, 4))
        for offset in range(min(size, 4)):
            bands[offset:, offset] = np.diagonal(dense, -offset)
        found = compiled(bands)
        np.testing.assert_allclose(found, compiled.reference(bands), rtol=1e-13, atol=1e-13)
        for offset in range(min(size, 4)):
            expected = np.diagonal(np.linalg.cholesky(dense), -offset)
            np.testing.assert_allclose(found[offset:, offset], expected, rtol=1e-13, atol=1e-13)


def test_a_definition_is_split_where_it_reads_its_own_step() -> None:
    pipeline = build([banded()])
    stages = [stage for stage in pipeline.stages if stage.circle]
    apart = told_apart(stages, {"total": 0, "factor": 0}, pipeline.context)
    (total,) = (stage for stage in apart if stage.name == "total")
    assert [str(item.expr) for item in total.accumulations] == [
        "factor(i, d + k) * factor(i, k)",
        "factor(i, d + k) * factor(i - d, k)",
    ]


def test_pieces_of_a_default_are_told_by_their_domains() -> None:
    pipeline = build([left_looking(i, i)])
    (factor,) = (stage for stage in pipeline.stages if stage.name == "factor")
    marked = replace(factor, parts=tuple(replace(part, fills=True) for part in factor.parts))
    (apart,) = told_apart([marked], {"total": 1, "factor": 1}, pipeline.context)
    pieces = [part for part in apart.parts if part not in marked.parts]
    assert pieces
    assert not any(part.fills for part in pieces)
