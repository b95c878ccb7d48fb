"""Forty programs of every kind that schemes are for, each with schemes drawn at random for its stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import polymat as pm
from polymat import Case, Condition, Function, Int, Interval, Op, Reduce, Reduction
from polymat.lang.types import ScalarType
from tests.differential.schemes import random_scheme

M, N, K, L = (pm.Parameter(Int, name) for name in "MNKL")
h, w, i, j, k, l, r, s = (pm.Variable(Int, name) for name in "hwijklrs")  # noqa: E741
Form = Any


@dataclass(frozen=True)
class Drawn:
    """A program: its outputs and inputs, and a scheme for some of its stages."""

    outputs: list[Any]
    inputs: list[Any]
    extents: list[tuple[Form, ...]]
    schemes: dict[str, str]


class Maker:
    """Makes programs, under names of their own, and draws their schemes.

    lanes: of vectors of the type.
    """

    def __init__(self, rng: Random, name: str, dtype: ScalarType, lanes: int) -> None:
        self.rng, self.name, self.dtype, self.lanes = rng, name, dtype, lanes
        self.inputs: list[Any] = []
        self.extents: list[tuple[Form, ...]] = []

    def array(self, letter: str, *extents: Form) -> Any:
        """An input."""
        found = pm.Image(self.dtype, f"{letter}_{self.name}", list(extents))
        self.inputs.append(found)
        self.extents.append(extents)
        return found

    def function(self, letter: str, spans: Mapping[Any, tuple[Form, Form]], *value: Any) -> Any:
        """A stage at the points from the first to the last of every dimension."""
        found = Function(
            ([*spans], [_span(*each) for each in spans.values()]), self.dtype, self.stage(letter)
        )
        found.defn = [*value]
        return found

    def sum(
        self,
        letter: str,
        spans: Mapping[Any, tuple[Form, Form]],
        summed: Mapping[Any, tuple[Form, Form]],
        value: Any,
        op: Op = Op.Sum,
        start: Any = None,
    ) -> Any:
        """A sum, or another reduction."""
        own, every = [_span(*each) for each in spans.values()], {**spans, **summed}
        more = [_span(*each) for each in every.values()]
        found = Reduction(([*spans], own), ([*every], more), self.dtype, self.stage(letter), start)
        found.defn = [Reduce(found(*spans), value, op)]
        return found

    def stage(self, letter: str) -> str:
        """The name of a stage."""
        return f"{letter}_{self.name}"

    # ---- schemes ----

    def contraction(
        self, out: Any, result: str, summed: str, operands: Mapping[Any, Sequence[str]], *before: Any
    ) -> Drawn:
        """A contraction in loops of its own."""
        named = {array.name: tuple(dims) for array, dims in operands.items()}
        text = random_scheme(self.rng, tuple(result), tuple(summed), named, self.lanes)
        if self.rng.random() < 0.25:
            text = self._shared_out(out.name, result, text)
        return Drawn([*before, out], self.inputs, self.extents, {out.name: text})

    def _shared_out(self, name: str, result: str, text: str) -> str:
        """The scheme within tiles that threads share."""
        dims = self.rng.sample(result, self.rng.randint(1, min(3, len(result))))
        tiles = [f"T({dim}, {self.rng.choice([40, 41, 56])})" for dim in dims]
        atoms = text[1:-1] if "Par" not in text else text[text.index("), ") + 3 : -1]
        return _text([f"fuse({name})", f"Par({'*'.join(dims)})", *tiles, atoms])

    def loops(self, out: Any, result: str, summed: str = "", *, any_order: bool = True) -> Drawn:
        """A stage by itself, whose loops may be tiled; summed: what it sums over."""
        tiles, order = self._tiles(result), self._order(result, summed, any_order)
        atoms = [*tiles, *(f"R({dim})" for dim in order)]
        shared = "*".join(tile[2] for tile in tiles) if tiles else self.rng.choice(result)
        whole = self.rng.random() < 0.6
        outer = [tile[2] for tile in tiles] or ([shared] if whole else [])
        long = [dim for dim in order if f"T({dim}, 1)" not in tiles]
        if long and long[0] in outer and len(order) > 1 and self.rng.random() < 0.6:
            size = next((int(tile[5:-1]) for tile in tiles if tile[2] == long[0]), 4)
            atoms.append(f"U({long[0]}, {self.rng.randint(2, min(4, size))})")
        last = order[-1]
        in_memory = any(dim in result for dim in order[order.index(summed[0]) :]) if summed else False
        if (last in result or not in_memory) and self.rng.random() < 0.7:
            atoms.append(f"V({last})")
        if not tiles and not whole:
            return Drawn([out], self.inputs, self.extents, {out.name: _text(atoms)})
        fused = [f"fuse({out.name})"] if tiles and self.rng.random() < 0.5 else []
        return Drawn([out], self.inputs, self.extents, {out.name: _text([*fused, f"Par({shared})", *atoms])})

    def _tiles(self, result: str) -> list[str]:
        if self.rng.random() < 0.4:
            return []
        dims = self.rng.sample(result, self.rng.randint(1, len(result)))
        return [f"T({dim}, {self.rng.choice([1, 2, 3, 5, 8, 13, 40])})" for dim in dims]

    def _order(self, result: str, summed: str, any_order: bool) -> list[str]:
        usual = [*result, *summed]
        if not any_order or self.rng.random() < 0.2:
            return usual
        return self.rng.sample(usual, len(usual))

    def group(self, stages: Sequence[Any], tiled: str, own: Mapping[str, str] | None = None) -> Drawn:
        """Stages that share tiles along some of these dimensions; own: of some stages, what loops they have."""
        names = [stage.name for stage in stages]
        last = names[-1]
        dims = self.rng.sample(tiled, self.rng.randint(1, len(tiled)))
        atoms = [f"T({dim}, {self.rng.choice([1, 2, 3, 4, 6, 7, 16, 33])})" for dim in dims]
        schemes: dict[str, str] = {}
        for name, loops in (own or {}).items():
            if self.rng.random() < 0.5:
                order = self.rng.sample(loops, len(loops))
                text = [f"R({dim})" for dim in order]
                text += [f"V({order[-1]})"] if self.rng.random() < 0.6 else []
                atoms, text = (atoms + text, []) if name == last else (atoms, text)
                schemes |= {name: _text(text)} if text else {}
        schemes[last] = _text([f"fuse({', '.join(names[:-1])})", *atoms])
        return Drawn([stages[-1]], self.inputs, self.extents, schemes)


def _span(low: Form, high: Form) -> Interval:
    return Interval(Int, low, high)


def _upto(size: Form) -> tuple[Form, Form]:
    return (0, size - 1)


def _text(atoms: Sequence[str]) -> str:
    return f"[{', '.join(atoms)}]"


# ---- contractions and convolutions ----


def product(m: Maker) -> Drawn:
    a, b = m.array("A", M, K), m.array("B", K, N)
    out = m.sum("C", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(i, k) * b(k, j))
    return m.contraction(out, "ij", "k", {a: "ik", b: "kj"})


def turned_product(m: Maker) -> Drawn:
    a, b = m.array("A", K, M), m.array("B", N, K)
    out = m.sum("C", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(k, i) * b(j, k))
    return m.contraction(out, "ij", "k", {a: "ki", b: "jk"})


def scaled_product(m: Maker) -> Drawn:
    a, b, c = m.array("A", M, K), m.array("B", K, N), m.array("D", M, N)
    whole = {i: _upto(M), j: _upto(N)}
    out = m.sum("C", whole, {k: _upto(K)}, 2.5 * a(i, k) * b(k, j), start=0.5 * c(i, j))
    return m.contraction(out, "ij", "k", {a: "ik", b: "kj"})


def batched_product(m: Maker) -> Drawn:
    a, b = m.array("A", L, M, K), m.array("B", L, K, N)
    out = m.sum("C", {l: _upto(L), i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(l, i, k) * b(l, k, j))
    return m.contraction(out, "lij", "k", {a: ("l", "i", "k"), b: "lkj"})


def mixed_contraction(m: Maker) -> Drawn:
    a, b = m.array("A", L, M, K), m.array("B", K, N)
    out = m.sum("C", {l: _upto(L), j: _upto(N), i: _upto(M)}, {k: _upto(K)}, a(l, i, k) * b(k, j))
    return m.contraction(out, "lji", "k", {a: ("l", "i", "k"), b: "kj"})


def two_sums(m: Maker) -> Drawn:
    a, b = m.array("A", M, K, L), m.array("B", L, N, K)
    out = m.sum("C", {i: _upto(M), j: _upto(N)}, {k: _upto(K), l: _upto(L)}, a(i, k, l) * b(l, j, k))
    return m.contraction(out, "ij", "kl", {a: "ikl", b: "ljk"})


def windowed(m: Maker) -> Drawn:
    a, b = m.array("A", M + K), m.array("B", K, N)
    out = m.sum("C", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(i + k) * b(k, j))
    return m.contraction(out, "ij", "k", {a: "ik", b: "kj"})


def convolution(m: Maker) -> Drawn:
    a, b = m.array("I", M + 2, N + 2, L), m.array("W", 3, 3, L, K)
    spans, summed = {h: _upto(M), w: _upto(N), k: _upto(K)}, {r: (0, 2), s: (0, 2), l: _upto(L)}
    out = m.sum("O", spans, summed, a(h + r, w + s, l) * b(r, s, l, k))
    return m.contraction(out, "hwk", "rsl", {a: "hrwsl", b: "rslk"})


def planar_convolution(m: Maker) -> Drawn:
    a, b = m.array("I", L, M + 2, N + 2), m.array("W", K, L, 3, 3)
    spans, summed = {k: _upto(K), h: _upto(M), w: _upto(N)}, {l: _upto(L), r: (0, 2), s: (0, 2)}
    out = m.sum("O", spans, summed, a(l, h + r, w + s) * b(k, l, r, s))
    return m.contraction(out, "khw", "lrs", {a: "lhrws", b: "klrs"})


def strided_convolution(m: Maker) -> Drawn:
    a, b = m.array("I", 2 * M + 3, N + 3), m.array("W", 3, K)
    out = m.sum("O", {h: _upto(M), w: _upto(N), k: _upto(K)}, {r: (0, 2)}, a(2 * h + r, w) * b(r, k))
    return m.contraction(out, "hwk", "r", {a: "hrw", b: "rk"})


def one_by_one(m: Maker) -> Drawn:
    a, b = m.array("I", M, N, L), m.array("W", L, K)
    out = m.sum("O", {h: _upto(M), w: _upto(N), k: _upto(K)}, {l: _upto(L)}, a(h, w, l) * b(l, k))
    return m.contraction(out, "hwk", "l", {a: "hwl", b: "lk"})


def batched_convolution(m: Maker) -> Drawn:
    a, b = m.array("I", L, M + 1, N + 1, 2), m.array("W", 2, 2, 2, K)
    spans = {l: _upto(L), h: _upto(M), w: _upto(N), k: _upto(K)}
    out = m.sum("O", spans, {r: (0, 1), s: (0, 1), i: (0, 1)}, a(l, h + r, w + s, i) * b(r, s, i, k))
    return m.contraction(out, "lhwk", "rsi", {a: "lhrwsi", b: "rsik"})


# ---- stencils, and sums that are no products of two arrays ----


def line(m: Maker) -> Drawn:
    a = m.array("A", M + 2)
    return m.loops(m.function("F", {i: (1, M)}, a(i - 1) + 2 * a(i) + a(i + 1)), "i")


def five_points(m: Maker) -> Drawn:
    a = m.array("A", M + 2, N + 2)
    value = a(i, j) * 4 - a(i - 1, j) - a(i + 1, j) - a(i, j - 1) - a(i, j + 1)
    return m.loops(m.function("F", {i: (1, M), j: (1, N)}, value), "ij")


def bordered(m: Maker) -> Drawn:
    a = m.array("A", M, N)
    inside = Condition(j, ">=", 1)
    parts = (Case(inside, a(i, j) - a(i, j - 1)), Case(Condition(j, "<", 1), a(i, j)))
    return m.loops(m.function("F", {i: _upto(M), j: _upto(N)}, *parts), "ij")


def cube(m: Maker) -> Drawn:
    a = m.array("A", L + 2, M + 2, N + 2)
    value = a(l - 1, i, j) + a(l + 1, i, j) + a(l, i - 1, j) + a(l, i, j + 1)
    return m.loops(m.function("F", {l: (1, L), i: (1, M), j: (1, N)}, value), "lij")


def turned(m: Maker) -> Drawn:
    a = m.array("A", N, M)
    return m.loops(m.function("F", {i: _upto(M), j: _upto(N)}, 2 * a(j, i)), "ij")


def coarser(m: Maker) -> Drawn:
    a = m.array("A", 2 * M + 1, 2 * N + 1)
    value = a(2 * i, 2 * j) + a(2 * i + 1, 2 * j) + a(2 * i, 2 * j + 1)
    return m.loops(m.function("F", {i: _upto(M), j: _upto(N)}, value), "ij")


def outer_sum(m: Maker) -> Drawn:
    a, b = m.array("A", M), m.array("B", N)
    return m.loops(m.function("F", {i: _upto(M), j: _upto(N)}, a(i) + b(j)), "ij")


def triangle(m: Maker) -> Drawn:
    a = m.array("A", M, M)
    spans = [_span(0, M - 1), _span(0, i)]
    found = Function(([i, j], spans), m.dtype, m.stage("F"), default=0)
    found.defn = [2 * a(i, j)]
    return m.loops(found, "ij")


def row_sums(m: Maker) -> Drawn:
    a = m.array("A", M, K)
    return m.loops(m.sum("F", {i: _upto(M)}, {k: _upto(K)}, a(i, k) * a(i, k)), "i", "k")


def column_sums(m: Maker) -> Drawn:
    a = m.array("A", K, M, N)
    return m.loops(m.sum("F", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(k, i, j)), "ij", "k")


def three_factors(m: Maker) -> Drawn:
    a, b, c = m.array("A", M, K), m.array("B", K, N), m.array("C", K)
    out = m.sum("F", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(i, k) * b(k, j) * c(k))
    return m.loops(out, "ij", "k")


def distances(m: Maker) -> Drawn:
    a, b = m.array("A", M, K), m.array("B", N, K)
    gap = a(i, k) - b(j, k)
    return m.loops(m.sum("F", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, gap * gap), "ij", "k")


def largest(m: Maker) -> Drawn:
    a = m.array("A", M, K + 1, N)
    out = m.sum("F", {i: _upto(M), j: _upto(N)}, {k: (0, K)}, a(i, k, j), Op.Max)
    return m.loops(out, "ij", "k")


def window_sums(m: Maker) -> Drawn:
    a = m.array("A", M + 2, N + 2)
    out = m.sum("F", {i: _upto(M), j: _upto(N)}, {r: (0, 2), s: (0, 2)}, a(i + r, j + s))
    return m.loops(out, "ij", "rs")


def started_sums(m: Maker) -> Drawn:
    a, b = m.array("A", M, K, N), m.array("B", M, N)
    value = a(i, k, j) + a(i, k, j) * a(i, k, j)
    out = m.sum("F", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, value, start=b(i, j))
    return m.loops(out, "ij", "k")


# ---- groups ----


def _blurred(m: Maker, source: Any, letter: str, edge: int, *, across: bool) -> Any:
    spans = {i: (edge, M + 5 - edge), j: (edge, N + 5 - edge)}
    near = [source(i + d, j) if across else source(i, j + d) for d in (-1, 0, 1)]
    return m.function(letter, spans, near[0] + near[1] * 2 + near[2])


def two_blurs(m: Maker) -> Drawn:
    a = m.array("A", M + 6, N + 6)
    one = _blurred(m, a, "P", 1, across=False)
    two = _blurred(m, one, "Q", 2, across=True)
    return m.group([one, two], "ij", {one.name: "ij", two.name: "ij"})


def blurs_back(m: Maker) -> Drawn:
    a = m.array("A", M + 6, N + 6)
    one = _blurred(m, a, "P", 1, across=True)
    two = _blurred(m, one, "Q", 2, across=False)
    return m.group([one, two], "ij", {one.name: "ij", two.name: "ij"})


def three_blurs(m: Maker) -> Drawn:
    a = m.array("A", M + 6, N + 6)
    one = _blurred(m, a, "P", 1, across=True)
    two = _blurred(m, one, "Q", 2, across=True)
    three = _blurred(m, two, "R", 3, across=False)
    return m.group([one, two, three], "ij", {two.name: "ij", three.name: "ij"})


def diamond(m: Maker) -> Drawn:
    a = m.array("A", M + 6, N + 6)
    one = _blurred(m, a, "P", 1, across=True)
    two = _blurred(m, one, "Q", 2, across=False)
    spans = {i: (2, M + 3), j: (2, N + 3)}
    last = m.function("R", spans, two(i, j) * one(i, j) + one(i - 1, j))
    return m.group([one, two, last], "ij", {one.name: "ij", last.name: "ij"})


def pyramid(m: Maker) -> Drawn:
    a = m.array("A", 2 * M + 4, N + 2)
    fine = m.function("P", {i: (0, 2 * M + 3), j: _upto(N)}, a(i, j) + a(i, j + 1))
    coarse = m.function("Q", {i: _upto(M), j: _upto(N)}, fine(2 * i, j) + fine(2 * i + 2, j))
    return m.group([fine, coarse], "ij", {coarse.name: "ij"})


def planes(m: Maker) -> Drawn:
    a = m.array("A", L + 2, M, N)
    one = m.function("P", {l: (0, L + 1), i: _upto(M), j: _upto(N)}, a(l, i, j) * a(l, i, j))
    two = m.function("Q", {l: _upto(L), i: _upto(M), j: _upto(N)}, one(l, i, j) + one(l + 2, i, j) * 2)
    return m.group([one, two], "lij", {one.name: "lij", two.name: "lij"})


def normed(m: Maker) -> Drawn:
    a = m.array("A", M, K)
    total = m.sum("P", {i: _upto(M)}, {k: _upto(K)}, a(i, k) * a(i, k))
    out = m.function("Q", {i: _upto(M), k: _upto(K)}, a(i, k) + total(i))
    return m.group([total, out], "i", {out.name: "ik"})


def column_normed(m: Maker) -> Drawn:
    a = m.array("A", K, N)
    total = m.sum("P", {j: _upto(N)}, {k: _upto(K)}, a(k, j))
    out = m.function("Q", {k: _upto(K), j: _upto(N)}, a(k, j) * 3 - total(j))
    return m.group([total, out], "j", {out.name: "kj"})


def blur_then_sum(m: Maker) -> Drawn:
    a = m.array("A", M + 6, N + 6)
    one = _blurred(m, a, "P", 1, across=True)
    out = m.sum("Q", {i: (1, M + 4)}, {k: (1, N + 4)}, one(i, k) * one(i, k))
    return m.group([one, out], "i", {one.name: "ij", out.name: "ik"})


def shares(m: Maker) -> Drawn:
    a = m.array("A", M, K + 1)
    most = m.sum("P", {i: _upto(M)}, {k: (0, K)}, a(i, k), Op.Max)
    total = m.sum("Q", {i: _upto(M)}, {k: (0, K)}, pm.Exp(a(i, k) - most(i)))
    out = m.function("R", {i: _upto(M), k: (0, K)}, pm.Exp(a(i, k) - most(i)) / total(i))
    return m.group([most, total, out], "i", {out.name: "ik"})


def three_steps(m: Maker) -> Drawn:
    """Steps in time, tiled as the chain that they are."""
    made: Any = m.array("A", M + 6, N + 6)
    stages = []
    for edge in (1, 2, 3):
        spans = {i: (edge, M + 5 - edge), j: (edge, N + 5 - edge)}
        value = made(i - 1, j) + made(i + 1, j) + made(i, j - 1) + made(i, j + 1) - made(i, j) * 3
        made = m.function("PQR"[edge - 1], spans, value)
        stages.append(made)
    return m.group(stages, "ij", {stages[1].name: "ij", stages[2].name: "ij"})


def product_then_map(m: Maker) -> Drawn:
    a, b = m.array("A", M, K), m.array("B", K, N)
    out = m.sum("P", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(i, k) * b(k, j))
    last = m.function("Q", {i: _upto(M), j: _upto(N)}, out(i, j) * out(i, j) + out(i, j))
    drawn = m.contraction(out, "ij", "k", {a: "ik", b: "kj"})
    text = drawn.schemes[out.name]
    if "fuse" in text or "Par" in text or m.rng.random() < 0.3:
        return Drawn([last], m.inputs, m.extents, drawn.schemes | m.loops(last, "ij").schemes)
    tiles = [f"T({dim}, {m.rng.choice([40, 48])})" for dim in m.rng.sample("ij", m.rng.randint(1, 2))]
    schemes = {out.name: text, last.name: _text([f"fuse({out.name})", *tiles])}
    return Drawn([last], m.inputs, m.extents, schemes)


def scale_then_product(m: Maker) -> Drawn:
    a, b = m.array("A", M, K), m.array("B", K, N)
    first = m.function("P", {i: _upto(M), k: _upto(K)}, a(i, k) * a(i, k))
    out = m.sum("Q", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, first(i, k) * b(k, j))
    drawn = m.contraction(out, "ij", "k", {first: "ik", b: "kj"}, first)
    return Drawn(drawn.outputs, m.inputs, m.extents, drawn.schemes | m.loops(first, "ik").schemes)


PROGRAMS: tuple[Callable[[Maker], Drawn], ...] = (
    *(product, turned_product, scaled_product, batched_product, mixed_contraction, two_sums, windowed),
    *(convolution, planar_convolution, strided_convolution, one_by_one, batched_convolution),
    *(line, five_points, bordered, cube, turned, coarser, outer_sum, triangle),
    *(row_sums, column_sums, three_factors, distances, largest, window_sums, started_sums),
    *(two_blurs, blurs_back, three_blurs, diamond, pyramid, planes, normed, column_normed, blur_then_sum),
    *(shares, three_steps, product_then_map, scale_then_product),
)
