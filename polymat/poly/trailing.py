"""How iterations of an outer loop overlap that threads take by turns, as a value."""

from __future__ import annotations

from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Trail:
    """Iterations of the outermost loop that go along the second one behind each other.

    rows: of the user's second dimension in an iteration of the second loop.  first: the first of them in
    iteration 0.  ahead: how many iterations of the second loop the iteration before has to be further on.
    """

    rows: int
    first: int
    ahead: int
