"""Random sums of products: shapes, triangles, strides, transpositions, conjugates, scales and starts.

Most are near a routine of BLAS or a filter, so that what is matched and what is just not both come often.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polymat import (
    Case,
    Complex,
    Condition,
    Conj,
    Double,
    Function,
    Image,
    Int,
    Interval,
    Op,
    Reduce,
    Reduction,
    Variable,
)  # fmt: skip
from tests.idiom.recognise import K, L, M, N, alpha, beta, upto

SIZES = (M, N, K, L)
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Span:
    """A dimension, and the extent that its interval lies in."""

    variable: Variable
    extent: Any
    interval: Interval


@dataclass(frozen=True)
class Element:
    """An array at dimensions, each with a step and an offset."""

    array: Any
    dims: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    conjugated: bool

    def value(self, spans: Mapping[str, Span], swap: Mapping[str, str] = NOTHING) -> Any:
        """The element, some dimensions taking the place of others."""
        variables = [spans[swap.get(d, d)].variable for d in self.dims]
        pairs = zip(variables, self.places, strict=True)
        found = self.array(*[step * v + offset for v, (step, offset) in pairs] or [0])
        return Conj(found) if self.conjugated else found


@dataclass
class RandomSum:
    """One random sum."""

    rng: random.Random
    dtype: Any = Double
    count: int = 0
    spans: dict[str, Span] = field(default_factory=dict)
    arrays: dict[tuple[str, ...], list[Any]] = field(default_factory=dict)

    def output(self) -> Function:
        """The result, of one stage, or of two where it is scaled afterwards."""
        rng = self.rng
        self.dtype = Complex if rng.random() < 0.2 else Double
        extents = rng.choice((SIZES, (M, M, M, M), (M, N, M, M), (M, M, K, K)))
        names = rng.sample(["i", "j", "k", "l", "p", "q"], 5)
        rank, summed = rng.choice((0, 1, 1, 2, 2, 2, 2, 3)), rng.choice((0, 1, 1, 1, 1, 1, 1, 2))
        for n, name in enumerate(names[: rank + summed]):
            self.spans[name] = self.span(name, extents[n % 4])
        result, reduced = names[:rank], names[rank : rank + summed]
        return self.scaled(self.stage(result, reduced), result)

    def span(self, name: str, extent: Any) -> Span:
        """A dimension: all of its extent, or a triangle with an earlier one of the same extent."""
        whole = upto(extent)
        same = [s for s in self.spans.values() if s.extent is extent and s.interval.hi == whole.hi]
        same = [s for s in same if s.interval.lo == whole.lo]
        if not same or self.rng.random() < 0.6:
            return Span(Variable(Int, name), extent, whole)
        other, off = self.rng.choice(same).variable, self.rng.choice((0, 0, 0, 1))
        lower = self.rng.random() < 0.5
        interval = Interval(Int, 0, other - off) if lower else Interval(Int, other + off, extent - 1)
        return Span(Variable(Int, name), extent, interval)

    def term(self, result: list[str], reduced: list[str]) -> list[Element]:
        """Two elements (now and then one or three) that share the dimensions between them."""
        rng = self.rng
        number = rng.choice((1, 2, 2, 2, 2, 2, 2, 2, 2, 3)) if reduced else rng.choice((1, 1, 2))
        shares: list[list[str]] = [[] for _ in range(number)]
        for d in result:
            chosen = shares if rng.random() < 0.1 else [rng.choice(shares)]
            for share in chosen:
                share.append(d)
        for share in shares:
            share += [d for d in reduced if rng.random() < 0.96]
        elements = [self.element(share) for share in shares]
        if number == 2 and rng.random() < 0.3:
            elements[1] = self.like(elements[0], result)
        return elements

    def like(self, element: Element, result: list[str]) -> Element:
        """The same array with one of its result dimensions exchanged for another of the same extent."""
        own = [d for d in element.dims if d in result]
        others = [d for d in result if own and d not in own]
        others = [d for d in others if self.spans[d].extent is self.spans[own[0]].extent]
        if not others:
            return element
        dims = tuple(others[0] if d == own[0] else d for d in element.dims)
        return Element(element.array, dims, element.places, self.conjugated())

    def element(self, dims: list[str]) -> Element:
        """An array at these dimensions, mostly plain, in any order."""
        rng = self.rng
        rng.shuffle(dims)
        places: list[tuple[int, int]] = []
        extents: list[Any] = []
        for d in dims:
            odd = rng.random() < 0.05
            step, offset, pad = (
                (rng.choice((1, 2)), rng.choice((0, 1)), rng.choice((0, 1))) if odd else (1, 0, 0)
            )
            places.append((step, offset))
            extents.append(step * self.spans[d].extent + offset + pad)
        shape = tuple(str(extent) for extent in extents)
        return Element(self.array(shape, extents), tuple(dims), tuple(places), self.conjugated())

    def conjugated(self) -> bool:
        return self.dtype == Complex and self.rng.random() < 0.3

    def array(self, shape: tuple[str, ...], extents: list[Any]) -> Any:
        """An input of that shape, at times one that is there already."""
        known = self.arrays.setdefault(shape, [])
        if known and self.rng.random() < 0.4:
            return self.rng.choice(known)
        self.count += 1
        known.append(Image(self.dtype, f"x{self.count}", extents or [1]))
        return known[-1]

    def product(self, elements: list[Element], swap: Mapping[str, str] = NOTHING) -> Any:
        value = elements[0].value(self.spans, swap)
        for element in elements[1:]:
            value = value * element.value(self.spans, swap)
        return value

    def swaps(self) -> dict[str, str]:
        """Two dimensions of the same extent exchanged; none where there are no such."""
        names = list(self.spans)
        pairs = [
            (a, b) for a in names for b in names if a < b and self.spans[a].extent is self.spans[b].extent
        ]
        if not pairs:
            return {}
        a, b = self.rng.choice(pairs)
        return {a: b, b: a}

    def stage(self, result: list[str], reduced: list[str]) -> Function:
        """A reduction where something is reduced, else a function."""
        rng = self.rng
        elements = self.term(result, reduced)
        scale = rng.choice((1, 1, alpha, 2.0, alpha / 3))
        value = scale * self.product(elements)
        if rng.random() < 0.2:
            value = value + scale * self.product(rng.choice((elements, elements[::-1])), self.swaps())
        dims, intervals = [self.spans[d].variable for d in result], [self.spans[d].interval for d in result]
        if not reduced:
            f = Function((dims, intervals), self.dtype, "P")
            f.defn = [value]
            return f
        names = rng.sample([*result, *reduced], len(result) + len(reduced))
        names.sort(key=lambda d: len(self.spans[d].interval.sizes) < len(self.spans[d].interval.hi.terms))
        names = names if self.is_ordered(names) else [*result, *reduced]
        init = beta * self.element(list(result)).value(self.spans) if result and rng.random() < 0.3 else None
        domain = ([self.spans[d].variable for d in names], [self.spans[d].interval for d in names])
        r = Reduction((dims, intervals), domain, self.dtype, "P", init=init)
        r.defn = self.entries(r(*dims), value, elements, result, reduced)
        return r

    def is_ordered(self, names: list[str]) -> bool:
        """Whether no interval uses a later dimension."""
        for n, name in enumerate(names):
            interval = self.spans[name].interval
            if {*interval.lo.names(), *interval.hi.names()} & {*names[n:]}:
                return False
        return True

    def entries(
        self, target: Any, value: Any, elements: list[Element], result: list[str], reduced: list[str]
    ) -> list[Any]:
        """One accumulation, or two on either side of a diagonal, the second's array often mirrored."""
        rng = self.rng
        op = rng.choice((Op.Sum,) * 15 + (Op.Mul,))
        pairs = [(i, k) for i in result for k in reduced if self.spans[i].extent is self.spans[k].extent]
        if not pairs or rng.random() < 0.7:
            return [Reduce(target, value, op)]
        i, k = rng.choice(pairs)
        which = rng.randrange(len(elements))
        mirrored = [
            Element(e.array, tuple({i: k, k: i}.get(d, d) for d in e.dims), e.places, e.conjugated)
            if n == which
            else e
            for n, e in enumerate(elements)
        ]
        below, above = rng.choice((("<=", ">"), ("<", ">="), ("<", ">"), (">", "<=")))
        row, column = self.spans[i].variable, self.spans[k].variable
        first = Case(Condition(column, below, row), Reduce(target, self.product(elements), op))
        second = Case(Condition(column, above, row), Reduce(target, self.product(mirrored), op))
        return [first, second] if rng.random() < 0.8 else [first]

    def scaled(self, P: Function, result: list[str]) -> Function:
        """The stage itself, or another that scales it and adds to it."""
        rng = self.rng
        if rng.random() < 0.6:
            return P
        dims = [self.spans[d].variable for d in result]
        value = rng.choice((alpha, -1.0)) * P(*dims)
        if result and rng.random() < 0.6:
            value = value + self.element(list(result)).value(self.spans)
        found = Function((dims, [self.spans[d].interval for d in result]), self.dtype, "R")
        found.defn = [value]
        return found
