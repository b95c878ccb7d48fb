"""Costs of groups by the function that a search is given, each asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polymat.fusion.dag import Dag
from polymat.fusion.exact import Exhausted

# Groups that one search prices: all of nine stages that are all connected, or of a chain of 31.  A price
# takes milliseconds, so that more would take seconds.
MAX_GROUPS = 512


class Price:
    """The cost of a group by its mask, asked once.

    most: groups that may be priced at all; None for any number.  Beyond that `Exhausted` is raised.
    """

    def __init__(self, dag: Dag, cost: Callable[[tuple[str, ...]], float]) -> None:
        self.dag, self.cost = dag, cost
        self.known: dict[int, float] = {}
        self.most: int | None = None

    def __call__(self, mask: int) -> float:
        if mask not in self.known:
            if self.most is not None and len(self.known) >= self.most:
                raise Exhausted
            self.known[mask] = self.cost(self.dag.group(mask))
        return self.known[mask]

    @contextmanager
    def limited(self, more: int) -> Iterator[None]:
        """Let so many groups be priced meanwhile that have not been so far."""
        self.most = len(self.known) + more
        try:
            yield
        finally:
            self.most = None
