"""Recurrences unfolded to their elements: who waits for whom, and in which waves they can run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.graph.evaluate import Evaluator, Points, Values
from polymat.lang.affine import Affine, Limits, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, SelectExpr
from polymat.lang.indices import affine_names
from polymat.lang.traverse import children, condition_operands, conjuncts, loads_in

Edges = tuple[Values, Values]

_BEYOND = 2**62  # no array has as many elements: an index plus that is one of 64 bits


@dataclass(frozen=True, slots=True)
class Place:
    """Where the array of a stage lies among the elements of all that are unfolded together.

    base: the number of its first element.  origin: the indices of that.  joined: dimensions along which all
    elements count as one, since only the values of the stages say which of them a point adds to.
    """

    base: int
    shape: tuple[int, ...]
    origin: tuple[int, ...]
    joined: frozenset[int] = frozenset()

    def flat(self, indices: Iterable[Any], count: int) -> Values:
        """The numbers of elements, of their indices along every dimension."""
        total: Any = 0
        for dim, (value, low, extent) in enumerate(zip(indices, self.origin, self.shape, strict=True)):
            total = total * extent + (0 if dim in self.joined else value - low)
        return np.broadcast_to(np.asarray(total + self.base, np.int64), (count,))

    def forms(self, indices: Sequence[Affine]) -> list[Affine]:
        """The indices of an element, with anything along dimensions whose elements count as one."""
        return [Affine() if dim in self.joined else form for dim, form in enumerate(indices)]


def is_known(expr: Expr, evaluator: Evaluator, places: Mapping[str, Place]) -> bool:
    """Whether a value depends on none of the arrays that are unfolded, and on none that is not there."""
    sources = (node.source.name for node in loads_in(expr))
    return all(name in evaluator.arrays and name not in places for name in sources)


def reads_among(
    places: Mapping[str, Place],
    expr: Expr,
    evaluator: Evaluator,
    points: Points,
    count: int,
    written: Values,
) -> Edges:
    """(element read, element written) for every read of one of the arrays; Selects on indices narrow them.

    An index that is computed from these arrays themselves reads all that it may.
    """
    sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for load, chosen in _loads(expr, evaluator, points, count):
        place = places.get(load.source.name)
        if place is None:
            continue
        forms = place.forms(load.indices)
        for some, picked in _possible(places, forms, evaluator, points, chosen):
            indices = evaluator.indices(forms, some, picked.size)
            sources.append(place.flat(indices, picked.size))
            targets.append(written[picked])
    return np.concatenate(sources), np.concatenate(targets)


def _possible(
    places: Mapping[str, Place],
    forms: Sequence[Affine],
    evaluator: Evaluator,
    points: Points,
    chosen: Values,
) -> Iterator[tuple[dict[Any, Any], Values]]:
    """Some points, by their numbers, with each value that what nobody knows yet in indices may have there."""
    atoms = [atom for atom in computed_in(forms) if not is_known(atom.value, evaluator, places)]
    for ranges in product(*(atom.ranges for atom in atoms)):
        some: dict[Any, Any] = {n: v[chosen] for n, v in points.items()}
        picked = chosen
        for atom, limits in zip(atoms, ranges, strict=True):
            low, high = _ends(limits, evaluator.params, some, picked.size)
            many = np.maximum(high - low + 1, 0)
            again = np.repeat(np.arange(picked.size), many)
            within = np.arange(again.size) - np.repeat(np.cumsum(many) - many, many)
            some = {name: values[again] for name, values in some.items()} | {atom: low[again] + within}
            picked = picked[again]
        yield some, picked


def _ends(limits: Limits, params: Mapping[str, Any], points: Mapping[Any, Any], count: int) -> Edges:
    """The least and the largest value within limits, at each of some points.

    The limits of a sum of what may be any integer are beyond those of its type: no element is out there.
    """
    known = {**params, **points}

    def value(form: Affine) -> Values:
        within = Affine(form.terms, max(-_BEYOND, min(form.const, _BEYOND)))
        return np.broadcast_to(within.evaluate(known), (count,))

    lows, highs = ([*map(value, side)] for side in (limits.lows, limits.highs))
    return np.max(lows, axis=0), np.min(highs, axis=0)


def _loads(expr: Expr, evaluator: Evaluator, points: Points, count: int) -> Iterator[tuple[Load, Values]]:
    """Every load and the points at which it is evaluated, of one and the same load once for each choice."""
    stack = [(expr, np.arange(count))]
    seen: dict[tuple[int, int], Values] = {}  # with the choices, so that their identities stay distinct
    while stack:
        node, chosen = stack.pop()
        if (id(node), id(chosen)) in seen:
            continue
        seen[id(node), id(chosen)] = chosen
        if isinstance(node, Load):
            yield node, chosen
            stack += [(part, chosen) for part in reversed(children(node))]
        elif isinstance(node, SelectExpr):
            then, otherwise = _branches(node.condition, evaluator, points, chosen)
            stack += [(node.otherwise, otherwise), (node.then, then)]
            stack += [(operand, chosen) for operand in reversed(condition_operands(node.condition))]
        else:
            stack += [(part, chosen) for part in reversed(children(node))]


def _branches(
    condition: Condition, evaluator: Evaluator, points: Points, chosen: Values
) -> tuple[Values, Values]:
    """Where a Select's branches may be evaluated: affine parts of a conjunction narrow the first of them."""

    def holds(part: Condition, where: Values) -> Values:
        return evaluator.holds(part, {n: v[where] for n, v in points.items()}, where.size)

    if affine_names(condition) is not None:
        mask = holds(condition, chosen)
        return chosen[mask], chosen[~mask]
    then = chosen
    for part in conjuncts(condition):
        if affine_names(part) is not None:
            then = then[holds(part, then)]
    return then, chosen


def element_order(written: Sequence[Values], edges: Sequence[Edges], size: int) -> list[list[Values]] | None:
    """Waves of instances, per item, such that every element read is complete; None for a cycle.

    written[k][p] is the element that point p of item k writes; edges[k] pairs read and written elements.
    """
    source = np.concatenate([e[0] for e in edges])
    target = np.concatenate([e[1] for e in edges])
    waiting = np.bincount(target, minlength=size)
    by_source = np.argsort(source, kind="stable")
    first = np.searchsorted(source[by_source], np.arange(size + 1))
    by_element = [np.argsort(w, kind="stable") for w in written]
    firsts = [np.searchsorted(w[s], np.arange(size + 1)) for w, s in zip(written, by_element, strict=True)]
    exists = np.zeros(size, bool)
    for elements in written:
        exists[elements] = True
    # elements nobody writes are complete from the start
    absent = np.flatnonzero(~exists)
    waiting -= np.bincount(target[by_source[_ranges(first, absent)]], minlength=size)
    ready = np.flatnonzero(exists & (waiting == 0))
    waves, finished = [], 0
    while ready.size:
        waves.append([s[_ranges(f, ready)] for s, f in zip(by_element, firsts, strict=True)])
        finished += ready.size
        freed = target[by_source[_ranges(first, ready)]]
        np.subtract.at(waiting, freed, 1)
        candidates = np.unique(freed)
        ready = candidates[waiting[candidates] == 0]
    return waves if finished == int(exists.sum()) else None


def _ranges(first: Values, elements: Values) -> Values:
    """All positions first[e] .. first[e + 1] - 1 of the given elements."""
    start, length = first[elements], first[elements + 1] - first[elements]
    total = int(length.sum())
    offsets = np.cumsum(length) - length
    return np.asarray(np.arange(total) - np.repeat(offsets, length) + np.repeat(start, length))
