"""What is found in whole pipelines, and what is said where nothing is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.polybench import find_kernel
from polymat import Condition, Double, Matrix, Select, Vector
from polymat.graph.build import build
from polymat.graph.distinct import separate_names
from polymat.graph.inline import inline_pointwise
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import share_common_stages
from polymat.graph.verifypipeline import verify
from polymat.idiom.find import MOST_STAGES, Found, idiom_of
from tests.idiom.recognise import K, M, N, alpha, i, j, k, pipeline, point, recognised, total, upto

# The routines of each stage or group of a kernel that ends in an output.
EXPECTED = {
    "gemm": [["axpy"], ["gemm"]],
    "symm": [["axpy"], ["symm"]],
    "syrk": [["syrk"]],
    "syr2k": [["syr2k"]],
    "trmm": [["scal"], ["trmm"]],
    "3mm": [["gemm"]],
    "atax": [["gemv"]],
    "bicg": [["gemv"], ["gemv"]],
    "mvt": [["axpy"], ["axpy"], ["gemv"], ["gemv"]],
    "gesummv": [["axpy"], ["gemv"], ["gemv", "gemv"]],
    "doitgen": [["gemm"]],
}


def kernel(name: str) -> Pipeline:
    description = find_kernel(name).builds[next(iter(find_kernel(name).builds))]()
    built = verify(build(list(description.outputs), inputs=list(description.inputs)))
    return inline_pointwise(share_common_stages(separate_names(built)))


def small_groups(pipeline: Pipeline) -> Iterator[tuple[str, ...]]:
    """Each stage with producers that it alone reads, nearest first, producers in front."""
    readers: dict[str, set[str]] = {stage.name: set() for stage in pipeline.stages}
    for stage in pipeline.stages:
        for load in stage.loads():
            readers.get(load.source.name, set()).add(stage.name)
    order = [stage.name for stage in pipeline.stages]
    for stage in pipeline.stages:
        group = {stage.name}
        for name in reversed(order[: order.index(stage.name)]):
            hidden = name not in pipeline.outputs and readers[name] <= group
            if hidden and len(group) < MOST_STAGES:
                group.add(name)
                yield tuple(n for n in order if n in group)


def find_idioms(built: Pipeline) -> list[Found]:
    """One answer a stage, then one a group of producers that nobody else reads with their reader."""
    groups = [(stage.name,) for stage in built.stages] + list(small_groups(built))
    return [idiom_of(names, built) for names in groups]


def routines(built: Pipeline) -> list[list[str]]:
    found = [each for each in find_idioms(built) if each.stages[-1] in built.outputs and each.idiom]
    return [[call.routine for call in each.idiom.calls] for each in found if each.idiom]


@pytest.mark.parametrize("name", EXPECTED)
def test_polybench(name: str) -> None:
    assert routines(kernel(name)) == EXPECTED[name]


def test_groups_hide_what_others_read() -> None:
    """A product that is an output, or read twice, is no part of a group."""
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    MN = [(i, upto(M)), (j, upto(N))]
    P = total("P", MN, [(k, upto(K))], A(i, k) * B(k, j))
    scaled, shifted = point("R", MN, alpha * P(i, j)), point("S", MN, P(i, j) + 1.0)
    assert list(small_groups(pipeline(scaled, inline=False))) == [("P", "R")]
    assert list(small_groups(pipeline(scaled, P, inline=False))) == []
    assert list(small_groups(pipeline(scaled, shifted, inline=False))) == []


def test_what_is_nothing_says_so() -> None:
    x = Vector(Double, "x", [M])
    relu = point("R", [(i, upto(M))], Select(Condition(x(i), ">", 0.0), x(i), 0.0))
    assert str(recognised(relu)).startswith("R: ")


@pytest.mark.parametrize("name", ["gemm", "symm", "syr2k", "trmm", "gesummv", "doitgen"])
def test_renaming_changes_nothing_but_names(name: str) -> None:
    """Other names of stages, inputs and sizes give the same calls."""
    built = kernel(name)
    before = [_shape(each) for each in find_idioms(built)]
    rng = random.Random(3)
    text = {array.name: f"z{rng.randrange(1000)}_{n}" for n, array in enumerate(built.inputs)}
    renamed = _renamed_inputs(name, text)
    assert [_shape(each) for each in find_idioms(renamed)] == before


def _shape(found: Any) -> Any:
    if found.idiom is None:
        return None
    return [
        (call.routine, call.side, call.triangle, call.unit, [o.transposed for o in call.operands], call.cuts)
        for call in found.idiom.calls
    ]


def _renamed_inputs(name: str, text: dict[str, str]) -> Pipeline:
    """The kernel with its inputs and sizes called something else."""
    description = find_kernel(name).builds[next(iter(find_kernel(name).builds))]()
    for array in description.inputs:
        array.name = text[array.name]
    built = verify(build(list(description.outputs), inputs=list(description.inputs)))
    return inline_pointwise(share_common_stages(separate_names(built)))
