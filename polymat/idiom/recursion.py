"""A recursive filter: its sections, its signal, and how it starts."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.dataclass import dataclass
from polymat.graph.stage import Ref, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr

MOST_DEPTH = 16  # samples of the past that a section reads: its loop keeps them in registers
MOST_DIMS = 3  # a chain, channels and time
Coefficients = Mapping[int, Expr | None]


@dataclass(frozen=True, slots=True)
class Section:
    """y(n) = sum over j of forward[j] x(n - j) - sum over k of back[k] y(n - k); a coefficient None is 1."""

    forward: Coefficients
    back: Coefficients

    @property
    def depth(self) -> int:
        """How far back it looks."""
        return max(*self.forward, *self.back)


@dataclass(frozen=True, slots=True, eq=False)
class Recursion:
    """A stage that is a recursive filter along a dimension, or several that follow each other.

    time: that dimension.  chain: another one along which each section filters the result of the one before;
    at 0 there is the signal, at `count` the last result.  signal, indices: what is filtered, over the stage's
    dimensions.  starts: the first `depth` results have a value added by n, or are such values (`is_given`).
    """

    stage: Stage
    time: str
    chain: str | None
    count: int
    signal: Ref
    indices: tuple[Affine, ...]
    section: Section
    starts: Mapping[int, Expr]
    is_given: bool

    @property
    def channels(self) -> tuple[str, ...]:
        """The dimensions in which nothing depends on anything else."""
        return tuple(d for d in self.stage.dims if d not in (self.time, self.chain))

    def __str__(self) -> str:
        order = f"of order {self.section.depth} along {self.time}"
        if self.chain is None:
            return f"a recursive filter {order}"
        return f"{self.count} recursive filters {order} in a row"
