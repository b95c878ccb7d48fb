"""Points of intervals, in chunks: the interpreter enumerates them without isl."""

from __future__ import annotations

from itertools import product

import pytest

from polymat.graph import points
from polymat.lang.affine import Affine

i, N = Affine.name("i"), Affine.name("N")
ZERO = Affine()


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_chunks_together_are_all_points(monkeypatch: pytest.MonkeyPatch, size: int, chunk: int) -> None:
    """Rows of a triangle, of which those of even numbers are empty."""
    monkeypatch.setattr(points, "CHUNK", chunk)
    last = i.floordiv(2).scale(-2) + i  # 1 for odd i, else 0
    bounds = ((ZERO, N - 1), (i, i + last.scale(3) - 1))
    found = []
    for values, count in points.enumerate_points("ij", bounds, {"N": size}):
        assert count == len(values["i"]) == len(values["j"])
        assert chunk == 1 << 20 or count <= max(chunk, 3)
        found += list(zip(values["i"].tolist(), values["j"].tolist(), strict=True))
    assert found == [(a, a + b) for a, b in product(range(size), range(3)) if a % 2]
