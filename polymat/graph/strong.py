"""Strongly connected components, producers first: what needs each other, and the order of all of it.

networkx has them too, and takes longer to import than a small pipeline takes to build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def components(roots: Iterable[T], needs: Callable[[T], Sequence[T]]) -> Iterator[tuple[T, ...]]:
    """Everything that the roots need, directly or not, each component after those that it needs.

    Things are told apart by identity.  A component of several has them in the order in which they were found.
    Tarjan's algorithm without recursion.
    """
    found: dict[int, int] = {}
    least: dict[int, int] = {}
    waiting: list[T] = []
    open_: set[int] = set()
    for root in roots:
        path: list[tuple[T, Iterator[T]]] = []
        entering: T | None = root if id(root) not in found else None
        while path or entering is not None:
            if entering is not None:
                found[id(entering)] = least[id(entering)] = len(found)
                waiting.append(entering)
                open_.add(id(entering))
                path.append((entering, iter(needs(entering))))
                entering = None
            node, rest = path[-1]
            for other in rest:
                if id(other) not in found:
                    entering = other
                    break
                if id(other) in open_:
                    least[id(node)] = min(least[id(node)], found[id(other)])
            else:
                path.pop()
                if path:
                    above = id(path[-1][0])
                    least[above] = min(least[above], least[id(node)])
                if least[id(node)] == found[id(node)]:
                    yield _closed(waiting, open_, node)


def _closed(waiting: list[T], open_: set[int], root: T) -> tuple[T, ...]:
    """Take the component of which `root` was found first from what waits."""
    first = next(k for k in reversed(range(len(waiting))) if waiting[k] is root)
    component = tuple(waiting[first:])
    del waiting[first:]
    open_.difference_update(map(id, component))
    return component
