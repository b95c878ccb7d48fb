"""Random cascades of filters, decimations, interpolations, sums and slices against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.options import Options
from tests.tolerance import assert_close

MODES = ("valid", "causal", "same", "full")
STEPS = 5  # of a cascade, at most
CASCADES = {"direct": 12, "transforms": 5, "loops": 12, "fused": 4}  # computed by one library
LONGEST = 400  # samples of a signal: interpolations make them longer
# Without fusion every filter is a group of its own, and few groups are looked at; gcc need not try hard.
THREADS: dict[str, Any] = {"threads": 2, "parallel_threshold": 0, "cflags": ("-O1",)}
WAYS = {
    "direct": Options(fir="direct", fuse=False, **THREADS),
    "transforms": Options(fir="fft", fuse=False, **THREADS),
    "loops": Options(fir="direct", fuse=False, kernels=False, threads=1, cflags=("-O1",)),
    "fused": Options(**THREADS),
}


class Cascades:
    """Draws signals of known lengths from two inputs."""

    def __init__(self, rng: np.random.Generator, kind: Any) -> None:
        self.rng = rng
        self.kind = kind
        self.inputs = [pm.Signal(kind, name, int(rng.integers(1, 150))) for name in ("x", "z")]
        self.taps = pm.Vector(kind, "h", [int(rng.integers(1, 20))])

    def draw(self) -> Any:
        """One cascade."""
        found = self.inputs[self.rng.integers(2)]
        for _ in range(self.rng.integers(1, STEPS + 1)):
            steps = (self._filtered, self._filtered, self._resampled, self._sliced, self._summed)
            found = steps[self.rng.integers(len(steps))](found)
        return found if found not in self.inputs else 2 * found

    def _taps(self) -> Any:
        if self.rng.integers(3) == 0:
            return self.taps, self.taps.shape[0].const
        count = int(self.rng.choice((1, 2, 3, 8, 9, 13, 33)))
        return self.rng.standard_normal(count).astype(self.kind.dtype), count

    def _filtered(self, found: Any) -> Any:
        taps, count = self._taps()
        length = found.shape[0].const
        modes = MODES if length >= count else MODES[1:]
        return found.fir(taps, modes[self.rng.integers(len(modes))])

    def _resampled(self, found: Any) -> Any:
        length, factor = found.shape[0].const, int(self.rng.integers(2, 5))
        if self.rng.integers(2) or length * factor > LONGEST:
            return found.down(factor)
        stuffed = found.up(factor)
        return stuffed if self.rng.integers(4) == 0 else self._filtered(stuffed)

    def _sliced(self, found: Any) -> Any:
        length = found.shape[0].const
        begin = int(self.rng.integers(length))
        end = int(self.rng.integers(begin + 1, length + 1))
        return found[begin : end : int(self.rng.integers(1, 4))]

    def _summed(self, found: Any) -> Any:
        other = self._filtered(found)
        count = min(found.shape[0].const, other.shape[0].const)
        return found[:count] + 0.5 * other[:count] if self.rng.integers(2) else found[:count] - other[:count]


@pytest.mark.covering
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("way", WAYS)
def test_cascades(way: str, kind: str, number: int, seed: int) -> None:
    rng = np.random.default_rng([seed, [*WAYS].index(way), kind == "float32", number])
    drawn = Cascades(rng, pm.Double if kind == "float64" else pm.Float)
    outputs = [drawn.draw() for _ in range(CASCADES[way])]
    inputs = [*drawn.inputs, drawn.taps]
    compiled = pm.compile(outputs, inputs=inputs, name="cascades", options=WAYS[way])
    arrays = [rng.standard_normal(source.shape[0].const).astype(kind) for source in inputs]
    expected, actual = compiled.reference(*arrays), compiled(*arrays)
    for output, one, other in zip(outputs, actual, expected, strict=True):
        # Errors of a cascade, and of transforms, are relative to the largest samples on the way.
        largest = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        assert_close(one, other, roundings=2000, magnitude=30.0 * largest, name=output.label)
