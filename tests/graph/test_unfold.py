"""Waves of elements: every element comes after those that it reads, and as early as that allows."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import numpy as np
import pytest

import polymat as pm
from polymat.driver import request_for
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.unfold import Edges, element_order
from polymat.passes import levels_of
from polymat.poly.membership import members
from polymat.steps import Job
from tests.eliminations import R, i, j, made, pivot_of, start, steps_of


def edges(*pairs: tuple[int, int]) -> Edges:
    read, written = np.array(pairs, np.int64).reshape(-1, 2).T
    return read, written


def test_a_chain_is_a_wave_an_element() -> None:
    waves = element_order([np.arange(4)], [edges((0, 1), (1, 2), (2, 3))], 4)
    assert waves is not None
    assert [[part.tolist() for part in wave] for wave in waves] == [[[0]], [[1]], [[2]], [[3]]]


def test_what_nobody_writes_is_there_from_the_start() -> None:
    waves = element_order([np.array([2, 3])], [edges((0, 2), (1, 3))], 4)
    assert waves is not None
    assert [wave[0].tolist() for wave in waves] == [[0, 1]]  # the points, which write elements 2 and 3


def test_points_of_several_items_come_in_one_wave() -> None:
    """The first item writes elements 0 and 2, the second adds to 0 and writes 1, which reads 0."""
    waves = element_order([np.array([0, 2]), np.array([0, 1])], [edges(), edges((0, 1))], 3)
    assert waves is not None
    assert [[part.tolist() for part in wave] for wave in waves] == [[[0, 1], [0]], [[], [1]]]


@pytest.mark.parametrize("circle", [[(1, 1)], [(0, 1), (1, 2), (2, 0)]])
def test_circles_have_no_order(circle: list[tuple[int, int]]) -> None:
    assert element_order([np.arange(3)], [edges(*circle)], 3) is None


@pytest.mark.parametrize("case", range(10))
def test_random_orders_are_generations_of_the_graph(seed: int, case: int) -> None:
    rng = random.Random(seed + case)
    size = rng.randint(1, 30)
    names = rng.sample(range(size), size)  # a number never tells what waits for it
    pairs = [(names[a], names[b]) for a in range(size) for b in range(a + 1, size) if rng.random() < 0.1]
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(size))
    waves = element_order([np.arange(size)], [edges(*pairs)], size)
    assert waves is not None
    expected = [sorted(generation) for generation in nx.topological_generations(graph)]
    assert [sorted(wave[0].tolist()) for wave in waves] == expected


def test_rows_around_a_place_that_an_extreme_finds() -> None:
    """What lies so far from a place that may be any integer has limits beyond 64 bits, and is clamped."""

    def step(system: Any, k: Any) -> Any:
        pivot = pivot_of(system, k - 1, pm.Double)
        row = pm.Clamp(pivot() + i - k + 1, 0, R - 1)
        late = pm.Condition(j, ">=", k)
        return made(
            [pm.Case(late, system(row, j) - system(i, k - 1)), pm.Case(~late, system(i, j))], pm.Double
        )

    output, inputs = steps_of(step)
    levels = (level for _, level in levels_of(Job(request_for(output, inputs=inputs))))
    pipeline = next(level for level in levels if isinstance(level, Pipeline))
    given = start(5, 2, pm.Double)
    found = interpret(pipeline, {"system": given}, {"R": 5, "M": 2}, members)[pipeline.outputs[0]]
    right = given.copy()
    for k in range(1, 6):
        pivot = k - 1 + int(np.argmax(np.abs(right[k - 1 :, k - 1])))
        rows = np.clip(pivot + np.arange(5) - k + 1, 0, 4)
        right[:, k:] = right[rows, k:] - right[:, k - 1 : k]
    np.testing.assert_allclose(found, right)
