"""Readers of products that register blocks compute: what they may read, and how."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Condition,
    Double,
    Exp,
    Float,
    Function,
    Int,
    Interval,
    Matrix,
    Max,
    Parameter,
    Select,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.product.ends import MOST_ARRAYS, fits_registers, operand_kind

M, N, K = (Parameter(Int, name) for name in "MNK")
i, j = Variable(Int, "i"), Variable(Int, "j")
A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
rows, columns = Vector(Double, "rows", [M]), Vector(Double, "columns", [N])
alpha = Parameter(Double, "alpha")
P = (A @ B).named("P")


def built(value: Any, dtype: Any = Double) -> tuple[Pipeline, Stage, Stage]:
    """The pipeline of P and its reader, and both stages."""
    reader = Function(([i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]), dtype, "R")
    reader.defn = [value]
    pipeline = build([reader], inputs=[A, B, C, rows, columns], constraints=[])
    return pipeline, pipeline.stage("P"), pipeline.stage("R")


def fits(value: Any, dtype: Any = Double) -> bool:
    pipeline, product, reader = built(value, dtype)
    return fits_registers(product, reader, extents(pipeline))


def extents(pipeline: Pipeline) -> dict[str, Any]:
    arrays = {array.name: array.extents for array in pipeline.inputs}
    return arrays | {stage.name: stage.extents for stage in pipeline.stages}


def test_how_a_vector_reads_each_operand() -> None:
    pipeline, _, reader = built(P(i, j) + C(i, j) + rows(i) + columns(j) + columns(j + 0) * A(0, 0))
    kinds = {load.source.name: operand_kind(load, reader, extents(pipeline)) for load in reader.loads()}
    assert kinds == {"P": "full", "C": "full", "rows": "row", "columns": "column", "A": None}


def test_sums_products_and_extremes_of_what_lies_so_fit() -> None:
    assert fits(Max(alpha * P(i, j) + C(i, j) - rows(i) * columns(j), 0.0))
    assert fits(-P(i, j))


@pytest.mark.parametrize(
    "value",
    [
        P(i, j) + A(i, 0),  # strided
        P(i, j) / rows(i),
        Exp(P(i, j)),
        Select(Condition(i, "<=", j), P(i, j), 0.0),
        Max(alpha, 0.0) * P(i, j),  # has no vector
    ],
)  # fmt: skip
def test_what_does_not_fit(value: Any) -> None:
    assert not fits(value)


def test_another_type_does_not_fit() -> None:
    assert not fits(P(i, j), Float)


@pytest.mark.parametrize("count", [MOST_ARRAYS, MOST_ARRAYS + 1])
def test_addresses_of_few_arrays_are_in_registers(count: int) -> None:
    total: Any = P(i, j)
    for number in range(count):
        total = total + columns(j + number - 1)
    assert fits(total) == (count <= MOST_ARRAYS)
