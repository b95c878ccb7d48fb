"""Ways to compute one pipeline of which sizes decide at each call."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True)
class Work:
    """The cost of the steps of one order: weighted products of extents, added up.

    The weight of a step is the peak's operations that pass in the time of one of its points.
    """

    steps: tuple[tuple[float, tuple[Affine, ...]], ...]

    def at(self, sizes: Mapping[str, float]) -> float:
        """The work at some sizes."""
        return sum(
            weight * prod(max(float(extent.evaluate(sizes)), 0.0) for extent in extents)
            for weight, extents in self.steps
        )


NO_WORK = Work(())
