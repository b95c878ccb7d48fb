"""Look-ups in tables of small elements, places first, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.loops.pointblocks import FIRST, TOGETHER

C, R = pm.Parameter(pm.Int, "C"), pm.Parameter(pm.Int, "R")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
LENGTHS = [0, 1, 7, TOGETHER - 1, TOGETHER, TOGETHER + 1, 2 * TOGETHER + 3]


def clamped(table: Any, image: Any) -> Any:
    return table(pm.Clamp(pm.Cast(pm.Int, image(i, j)) * 3 - image(i, j + 1), 0, 255))


def cut(table: Any, image: Any) -> Any:
    """The place is as large as its type says."""
    return table(pm.Cast(pm.UChar, (image(i, j) ^ image(i, j + 1)) * 3 + 7))


def combined(table: Any, image: Any) -> Any:
    """Two places, and what is there is computed with."""
    there = [table(pm.Clamp(image(i, j + k) * 2 - 5 * k, 0, 255)) for k in (0, 1)]
    return there[0] // 2 + there[1] // 2


def bare(table: Any, image: Any) -> Any:
    """Nothing is computed."""
    return table(pm.Clamp(image(i, j), 0, 255))


def entangled(table: Any, image: Any) -> Any:
    """What the place is computed from is needed afterwards, too."""
    shared = image(i, j) * 3 - image(i, j + 1)
    return table(pm.Clamp(shared, 0, 255)) + pm.Cast(pm.UChar, shared * shared)


def guarded(table: Any, image: Any) -> Any:
    """What the place is computed from is not there for the last points."""
    near = table(pm.Clamp(pm.Cast(pm.Int, image(i, j + C)) * 3 - image(i, j), 0, 255))
    return 1 + pm.Select(pm.Condition(j + C, "<=", C), near, pm.Cast(pm.UChar, 0))


def guarded_place(table: Any, image: Any) -> Any:
    """The place itself says where it is computed."""
    place = pm.Clamp(pm.Cast(pm.Int, image(i, j + C)) * 3 - image(i, j), 0, 255)
    return 1 + table(pm.Select(pm.Condition(j + C, "<=", C), place, 3))


@pytest.mark.parametrize(
    ("value", "kind", "split"),
    [
        (clamped, pm.UChar, True),
        (clamped, pm.Short, True),
        (clamped, pm.Float, False),
        (cut, pm.UChar, True),
        (combined, pm.UChar, True),
        (bare, pm.Short, False),
        (entangled, pm.UChar, False),
        (guarded, pm.UChar, False),
        (guarded_place, pm.UChar, True),
    ],
)
def test_places_come_first(value: Any, kind: Any, split: bool) -> None:
    table = pm.Vector(kind, "table", [256])
    image = pm.Image(pm.Short, "image", [R, C + 1])
    spans = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, C - 1)]
    found = pm.Function(([i, j], spans), kind, "found")
    found.defn = [value(table, image)]
    compiled = pm.compile(found, inputs=[table, image], name=f"{value.__name__}_{kind}")
    assert (FIRST in compiled.source) == split
    entries = np.random.default_rng(0).permutation(256).astype(kind.dtype)
    for length in LENGTHS:
        array = np.random.default_rng(length).integers(-30, 120, (3, length + 1), dtype=np.int16)
        np.testing.assert_array_equal(compiled(entries, array), compiled.reference(entries, array))
