"""Storage with a place too few is noticed: the numbers are not those of the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.decide import skewedsteps
from polymat.graph import heldarrays
from polymat.graph.stepwise import HeldArray
from polymat.lang.affine import Affine
from polymat.poly.lifespan import Folds, folds
from polymat.rewrite import stepways, timebands
from tests.decide.test_skewedsteps import M, N, T, two_back
from tests.mutations.planting import Planted, planted

SIZES = {N: 9, M: 11, T: 6}
HELD = heldarrays.held_member


def fewer_places(*asked: Any) -> Folds:
    return tuple(places - 1 if places else places for places in folds(*asked))


def fewer_planes(*asked: Any) -> HeldArray | None:
    held = HELD(*asked)
    return replace(held, planes=held.planes - Affine((), 1)) if held and held.is_folded else held


def agrees(told: str) -> None:
    """The program keeps as many states as it says, and computes what the interpreter does."""
    run = pm.compile(two_back(), options=pm.Options(threads=1, parallel_threshold=0))
    assert told in str(run.explain())
    rng = np.random.default_rng(3)
    x, y = rng.random((9, 11)), rng.random((9, 11))
    np.testing.assert_allclose(run(x, y, T=6), run.reference(x, y, T=6), rtol=1e-12)


@pytest.mark.parametrize(
    ("module", "name", "fewer"),
    [("decide.folding", "folds", fewer_places), ("graph.heldarrays", "held_member", fewer_planes)],
)
def test_a_place_too_few_is_noticed(
    module: str, name: str, fewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "folds":  # where steps follow each other or are in bands, states are planes
        monkeypatch.setattr(timebands, "SIZES", ())
        monkeypatch.setattr(stepways, "BRANCHES", 0.0)
        monkeypatch.setattr(skewedsteps, "LEAST_SHARE", 1e9)
    agrees("3 of T + 1")
    with (
        planted(Planted(module, name, fewer, lambda: None)),
        pytest.raises(AssertionError, match="Not equal to"),
    ):
        agrees("2 of T + 1")
