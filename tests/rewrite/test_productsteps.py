"""The stages of a product in an order that is given: what they compute, what they keep, what each costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import without_unread
from polymat.machine.known import ZEN3
from polymat.rewrite.chains import Chain, chains_of
from polymat.rewrite.contractiontime import ContractionTime
from polymat.rewrite.productsteps import ProductOrder, Writer
from polymat.rewrite.subsets import Tree

K, L, M, N = (pm.Parameter(Int, name) for name in "KLMN")
A, B, C = pm.Matrix(Double, "A", [K, L]), pm.Matrix(Double, "B", [L, M]), pm.Matrix(Double, "C", [M, N])
SIZES = {"K": 2, "L": 3, "M": 5, "N": 7}


def chain(output: Any) -> tuple[Pipeline, Chain, ProductOrder]:
    pipeline = build([output])
    (found,) = chains_of(pipeline)
    lengths = [float((high - low + 1).evaluate(SIZES)) for low, high in found.network.bounds.values()]
    return pipeline, found, ProductOrder(found, ContractionTime.of(lengths, Double, ZEN3, 1))


def written(pipeline: Pipeline, found: Chain, order: ProductOrder, tree: Tree) -> tuple[Pipeline, str]:
    """The pipeline with the stages of an order in place of the root."""
    stages, text = Writer(found, order, {stage.name for stage in pipeline.stages}).stages(tree)
    others = [stage for stage in pipeline.stages if stage.name != found.root.name]
    return without_unread(pipeline.with_stages((*others, *stages))), text


@pytest.mark.parametrize(("tree", "text"), [(((0, 1), 2), "(A B) C"), ((0, (1, 2)), "A (B C)")])
def test_every_order_computes_the_same(tree: Tree, text: str) -> None:
    pipeline, found, order = chain((A @ B @ C).named("y"))
    made, said = written(pipeline, found, order, tree)
    assert said == text
    assert len(made.stages) == 2
    rng = np.random.default_rng(5)
    arrays = {"A": rng.random((2, 3)), "B": rng.random((3, 5)), "C": rng.random((5, 7))}
    expected = arrays["A"] @ arrays["B"] @ arrays["C"]
    np.testing.assert_allclose(interpret(made, arrays, SIZES)["y"], expected, rtol=1e-13)


def test_work_is_that_of_the_two_products_of_an_order() -> None:
    _, _, order = chain((A @ B @ C).named("y"))
    left, right = (order.work(tree) for tree in (((0, 1), 2), (0, (1, 2))))
    scale = left.at(SIZES) / (2 * 3 * 5 + 2 * 5 * 7)
    assert right.at(SIZES) == pytest.approx(scale * (3 * 5 * 7 + 2 * 3 * 7))


def test_the_best_order_takes_the_least_of_all() -> None:
    _, _, order = chain((A @ B @ C).named("y"))
    seconds, tree = order.best()
    assert tree in (((0, 1), 2), (2, (0, 1)), (0, (1, 2)), ((1, 2), 0))
    both = [
        order.pair(0b01, 0b10) + order.pair(0b011, 0b100),
        order.pair(0b010, 0b100) + order.pair(0b1, 0b110),
    ]
    assert seconds == pytest.approx(min(both))


def test_what_only_some_factors_have_is_summed_with_them() -> None:
    _, found, order = chain((A @ B @ C).named("y"))
    first, second, third = (order.kept(1 << factor) for factor in range(3))
    assert order.kept(0b011) == (first | second) & ~(first & second)  # L is summed, K and M stay
    assert order.kept(0b111) == order.result
    assert order.is_near(0b001, 0b010)
    assert not order.is_near(0b001, 0b100)
    assert found.root.name == "y"
    assert third & order.result
