"""The innermost loop, by Algorithm 5 of the PolyMage matrix thesis (section 4.5)."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.memo import remembered
from polymat.model.loopnest import LoopNest, Statement

# Weights of Algorithm 5, in points an access (for VECTORIZABLE: a loop).
SPATIAL = 2
TEMPORAL = 4
VECTORIZABLE = 8
SCATTERED = -16


@dataclass(frozen=True, slots=True)
class Score:
    """One dimension as the innermost loop of one statement, or summed over statements.

    spatial: accesses that go to the neighbour in memory; temporal: accesses that stay; total: all distinct
    accesses.  vectorizable: statements that are parallel along it without scattered accesses.
    """

    dim: str
    spatial: int
    temporal: int
    vectorizable: int
    total: int

    @property
    def value(self) -> int:
        """2s + 4t + 8v - 16(a - s - t)."""
        scattered = self.total - self.spatial - self.temporal
        return (
            SPATIAL * self.spatial
            + TEMPORAL * self.temporal
            + VECTORIZABLE * self.vectorizable
            + SCATTERED * scattered
        )


@dataclass(frozen=True, slots=True)
class Innermost:
    """Scores by dimension, in the nest's order, and the dimension that wins; the inner one of equals."""

    scores: tuple[Score, ...]
    choice: str | None
    vectorizable: bool

    def score(self, dim: str) -> Score:
        """The score of one dimension."""
        return next(score for score in self.scores if score.dim == dim)

    def explain(self) -> str:
        """The scores and the choice in words."""
        rows = "; ".join(
            f"{s.dim}: {s.spatial} contiguous, {s.temporal} reused, {s.total} accesses"
            f"{', vectorizable' if s.vectorizable else ''}: {s.value}"
            for s in self.scores
        )
        return f"{rows}; innermost {self.choice}" if self.choice else "no loop"


@remembered
def innermost(nest: LoopNest) -> Innermost:
    """Score every dimension as the innermost loop, summed over the statements."""
    scores = tuple(
        _sum(dim, [statement_score(s, dim) for s in nest.statements if s.has(dim)]) for dim in nest.names
    )
    if not scores:
        return Innermost((), None, False)
    best = max(reversed(scores), key=lambda score: score.value)
    users = [s for s in nest.statements if s.has(best.dim)]
    return Innermost(scores, best.dim, best.vectorizable == len(users) > 0)


@remembered
def statement_score(statement: Statement, dim: str) -> Score:
    """Score of one dimension as the innermost loop of one statement."""
    references = statement.distinct
    temporal = sum(r.accesses for r in references if not r.uses(dim))
    spatial = sum(r.accesses for r in references if r.is_contiguous(dim))
    total = sum(r.accesses for r in references)
    vectorizable = dim not in statement.sequential and spatial + temporal == total
    return Score(dim, spatial, temporal, int(vectorizable), total)


def _sum(dim: str, parts: list[Score]) -> Score:
    return Score(
        dim,
        sum(p.spatial for p in parts),
        sum(p.temporal for p in parts),
        sum(p.vectorizable for p in parts),
        sum(p.total for p in parts),
    )
