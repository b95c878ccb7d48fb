"""Tiles leave no thread idle where the estimates say that there is work for it."""

from __future__ import annotations

from math import ceil, prod
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Exp, Function, Int, Interval, Op, Options, Parameter, Reduce, Reduction, Variable
from tests.tolerance import assert_close

TRACKS = Parameter(Int, "B")


def steps(rank: int = 4) -> tuple[list[Any], list[Any]]:
    """A product of small matrices for each of many tracks, a function of it, and another product."""
    b, i, j, k = (Variable(Int, name) for name in "bijk")
    small, tracks = Interval(Int, 0, rank - 1), Interval(Int, 0, TRACKS - 1)
    P, F = pm.Image(Double, "P", [rank, rank, TRACKS]), pm.Matrix(Double, "F", [rank, rank])

    def product(name: str, term: Any) -> Any:
        made = Reduction(
            ([i, j, b], [small, small, tracks]), ([i, j, b, k], [small, small, tracks, small]), Double, name
        )
        made.defn = [Reduce(made(i, j, b), term, Op.Sum)]
        return made

    first = product("first", F(i, k) * P(k, j, b))
    middle = Function(([i, j, b], [small, small, tracks]), Double, "middle")
    middle.defn = [Exp(first(i, j, b)) + Exp(-first(j, i, b))]
    return [P, F], [product("last", middle(i, k, b) * F(j, k))]


MANY = 8192  # tracks that are worth threads


@pytest.mark.parametrize("threads", [2, 4])
def test_there_are_tiles_for_all_threads(threads: int) -> None:
    inputs, outputs = steps()
    compiled = pm.compile(
        outputs, name="steps", inputs=inputs, estimates={TRACKS: MANY}, options=Options(threads=threads)
    )
    groups = [group for group in compiled.explain().groups if group.kind == "tiles"]
    assert groups
    for group in groups:
        tiles = [ceil((MANY if dim == "b" else 4) / size) for dim, size in group.tile_sizes.items()]
        assert prod(tiles) >= threads, group


@pytest.mark.parametrize("tracks", [0, 1, 63, 64, 65, 257, 512, 700])
def test_the_numbers_are_the_same(tracks: int) -> None:
    inputs, outputs = steps()
    options = Options(threads=3, parallel_threshold=0)
    compiled = pm.compile(outputs, name="steps", inputs=inputs, estimates={TRACKS: 512}, options=options)
    random = np.random.default_rng(tracks)
    P, F = random.standard_normal((4, 4, tracks)), random.standard_normal((4, 4))
    wanted = compiled.reference(P, F)
    assert_close(compiled(P, F), wanted, roundings=64, magnitude=np.max(np.abs(wanted), initial=1.0))


def test_little_work_stays_in_one_tile() -> None:
    """A region would cost more than it saves."""
    inputs, outputs = steps(2)
    compiled = pm.compile(
        outputs, name="steps", inputs=inputs, estimates={TRACKS: 8}, options=Options(threads=4)
    )
    assert "tiles at the estimates" not in str(compiled.explain())
