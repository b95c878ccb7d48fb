"""Look-ups of elements of four bytes by places of four bytes, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.loops import narrowplaces

H, W, N = (pm.Parameter(pm.Int, name) for name in "HWN")
n = pm.Variable(pm.Int, "n")
LEAST = [pm.Condition(H, ">=", 2), pm.Condition(W, ">=", 2)]


def bilinear(dtype: Any) -> tuple[pm.Function, list[Any]]:
    image = pm.Image(dtype, "image", [H, W])
    x, y = pm.Vector(pm.Float, "x", [N]), pm.Vector(pm.Float, "y", [N])
    row = pm.Clamp(pm.Cast(pm.Int, pm.Floor(y(n))), 0, H - 2)
    column = pm.Clamp(pm.Cast(pm.Int, pm.Floor(x(n))), 0, W - 2)
    down, right = y(n) - row, x(n) - column
    above = (1 - right) * image(row, column) + right * image(row, column + 1)
    below = (1 - right) * image(row + 1, column) + right * image(row + 1, column + 1)
    out = pm.Function(([n], [pm.Interval(pm.Int, 0, N - 1)]), pm.Float, "out")
    out.defn = [(1 - down) * above + down * below]
    return out, [image, x, y]


def arrays(dtype: Any, points: int) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(points)
    image = (100 * rng.random((7, 9))).astype(dtype)
    return [
        image,
        (9 * rng.random(points) - 0.5).astype(np.float32),
        (7 * rng.random(points)).astype(np.float32),
    ]


@pytest.mark.parametrize(
    ("dtype", "numpy", "narrow"),
    [
        (pm.Float, np.float32, True),
        (pm.Int, np.int32, True),
        (pm.Double, np.float64, False),
        (pm.Short, np.int16, False),
    ],
)
def test_elements_of_four_bytes_have_places_of_four(dtype: Any, numpy: Any, narrow: bool) -> None:
    out, inputs = bilinear(dtype)
    compiled = pm.compile(out, inputs=inputs, constraints=LEAST)
    assert ("image[(int32_t)" in compiled.source) == narrow
    for points in (0, 1, 7, 16, 100):
        given = arrays(numpy, points)
        np.testing.assert_allclose(compiled(*given), compiled.reference(*given), rtol=1e-5, atol=1e-5)


def test_large_arrays_have_long_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrowplaces, "MOST", 100)
    out, inputs = bilinear(pm.Float)
    compiled = pm.compile(out, name="out_of_large", inputs=inputs, constraints=LEAST)
    given = arrays(np.float32, 100)
    np.testing.assert_allclose(compiled(*given), compiled.reference(*given), rtol=1e-5, atol=1e-5)


def test_look_ups_alone_stay() -> None:
    """A gather is no quicker than one read after the other."""
    table, x = pm.Vector(pm.Float, "table", [W]), pm.Vector(pm.Float, "x", [N])
    found = pm.Function(([n], [pm.Interval(pm.Int, 0, N - 1)]), pm.Float, "found")
    found.defn = [table(pm.Clamp(pm.Cast(pm.Int, x(n)), 0, W - 1)) + 1.0]
    compiled = pm.compile(found, inputs=[table, x], constraints=LEAST[1:])
    assert "table[(int32_t)" not in compiled.source
