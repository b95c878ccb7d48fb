"""Some forty programs of every kind that schemes are for, each with schemes drawn at random for its stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polymat as pm
from polymat import Case, Condition, Function, Int, Op
from tests.differential.schememaker import Drawn, Form, Maker, atoms_text, span

M, N, K, L = (pm.Parameter(Int, name) for name in "MNKL")
h, w, i, j, k, l, r, s = (pm.Variable(Int, name) for name in "hwijklrs")  # noqa: E741


def _upto(size: Form) -> tuple[Form, Form]:
    return (0, size - 1)


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


def triangle(m: Maker) -> Drawn:
    a = m.array("A", M, M)
    spans = [span(0, M - 1), span(0, i)]
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


def powers(m: Maker) -> Drawn:
    """Steps that multiply by one matrix, to and fro, from the left or from the right."""
    t, from_left = pm.Variable(Int, "t"), m.rng.random() < 0.5
    a, first, more = m.array("A", M, M), m.array("B", M), m.array("D", K)
    steps = {t: (1, K), i: _upto(M)}
    x = Function(([t, i], [span(0, K), span(*_upto(M))]), m.dtype, m.stage("Q"))
    moved = m.sum("P", steps, {k: _upto(M)}, (a(i, k) if from_left else a(k, i)) * x(t - 1, k))
    begin, later = Condition(t, "==", 0), Condition(t, ">=", 1)
    x.defn = [Case(begin, first(i)), Case(later, moved(t, i) / 8 + more(t - 1))]
    return Drawn([x], m.inputs, m.extents, m.loops(moved, "i", "k").schemes)


def waves(m: Maker) -> Drawn:
    """Two fields that need each other at every step, of which the last planes alone are read."""
    t, a, b, more = pm.Variable(Int, "t"), m.array("A", M, N), m.array("B", M, N), m.array("D", K)
    spans = [span(0, K), span(*_upto(M)), span(*_upto(N))]
    e, f = (Function(([t, i, j], spans), m.dtype, m.stage(letter)) for letter in "PQ")
    begin, later = Condition(t, "==", 0), Condition(t, ">=", 1)
    inside, edge = later & Condition(i, ">=", 1), later & Condition(i, "<=", 0)
    e.defn = [
        Case(begin, a(i, j)),
        Case(inside, e(t - 1, i, j) / 2 + f(t - 1, i, j) + f(t - 1, i - 1, j) * 3),
        Case(edge, e(t - 1, i, j) + more(t - 1)),
    ]
    f.defn = [Case(begin, b(i, j)), Case(later, f(t - 1, i, j) / 2 + e(t, i, j) / 8)]
    last = m.function("R", {i: _upto(M), j: _upto(N)}, e(K, i, j) + f(K, i, j))
    return Drawn([last], m.inputs, m.extents, m.loops(m.rng.choice([e, f]), "ij").schemes)


def product_then_map(m: Maker) -> Drawn:
    a, b = m.array("A", M, K), m.array("B", K, N)
    out = m.sum("P", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, a(i, k) * b(k, j))
    last = m.function("Q", {i: _upto(M), j: _upto(N)}, out(i, j) * out(i, j) + out(i, j))
    drawn = m.contraction(out, "ij", "k", {a: "ik", b: "kj"})
    text = drawn.schemes[out.name]
    says_tiles = "fuse" in text or "Par" in text or text.startswith(("[T(i", "[T(j"))
    if says_tiles or m.rng.random() < 0.3:
        return Drawn([last], m.inputs, m.extents, drawn.schemes | m.loops(last, "ij").schemes)
    tiles = [f"T({dim}, {m.tile(40, 48)})" for dim in m.rng.sample("ij", m.rng.randint(1, 2))]
    schemes = {out.name: text, last.name: atoms_text([f"fuse({out.name})", *tiles])}
    return Drawn([last], m.inputs, m.extents, schemes)


def scaled_after(m: Maker) -> Drawn:
    """A product and what scales it and adds to it, as one in loops of their own."""
    a, b, c = m.array("A", M, K), m.array("B", K, N), m.array("D", M, N)
    whole = {i: (0, M - 1), j: (0, N - 1)}
    out = m.sum("P", whole, {k: (0, K - 1)}, a(i, k) * b(k, j))
    last = m.function("Q", whole, 2 * out(i, j) + 3 * c(i, j))
    text = m.contraction(out, "ij", "k", {a: "ik", b: "kj"}).schemes[out.name]
    if text.startswith("[fuse"):
        return Drawn([last], m.inputs, m.extents, {out.name: text})
    return Drawn([last], m.inputs, m.extents, {last.name: f"[fuse({out.name}), {text[1:]}"})


def scale_then_product(m: Maker) -> Drawn:
    a, b = m.array("A", M, K), m.array("B", K, N)
    first = m.function("P", {i: _upto(M), k: _upto(K)}, a(i, k) * a(i, k))
    out = m.sum("Q", {i: _upto(M), j: _upto(N)}, {k: _upto(K)}, first(i, k) * b(k, j))
    drawn = m.contraction(out, "ij", "k", {first: "ik", b: "kj"}, first)
    return Drawn(drawn.outputs, m.inputs, m.extents, drawn.schemes | m.loops(first, "ik").schemes)


PROGRAMS: tuple[Callable[[Maker], Drawn], ...] = (
    *(product, turned_product, scaled_product, batched_product, mixed_contraction, two_sums, windowed),
    *(convolution, planar_convolution, strided_convolution, one_by_one, batched_convolution),
    *(line, five_points, bordered, cube, turned, coarser, triangle),
    *(row_sums, column_sums, three_factors, distances, largest, window_sums, started_sums),
    *(two_blurs, blurs_back, three_blurs, diamond, pyramid, planes, normed, column_normed, blur_then_sum),
    *(shares, three_steps, powers, waves, product_then_map, scaled_after, scale_then_product),
)
