"""Names and the order of writing decide nothing: renaming changes names in the C, reordering no decision."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Variable,
    Vector,
)
from polymat.codegen import functionlimits

Rename = Callable[[str], str]


class Names:
    """Makes the objects of a pipeline under other names, and remembers which."""

    def __init__(self, rename: Rename) -> None:
        self.rename = rename
        self.given: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        return self.given.setdefault(name, self.rename(name))

    def size(self, name: str) -> Parameter:
        return Parameter(Int, self(name))

    def scalar(self, name: str) -> Parameter:
        return Parameter(Double, self(name))

    def variables(self, *names: str) -> list[Variable]:
        return [Variable(Int, self(name)) for name in names]

    def vector(self, name: str, extent: Any) -> Vector:
        return Vector(Double, self(name), [extent])

    def matrix(self, name: str, *extents: Any) -> Matrix:
        return Matrix(Double, self(name), list(extents))

    def function(self, name: str, variables: list[Variable], intervals: list[Interval]) -> Function:
        return Function((variables, intervals), Double, self(name))

    def original(self, text: str) -> str:
        """A text with the names put back."""
        for name, other in self.given.items():
            text = text.replace(other, name)
        return text


def upto(extent: Any) -> Interval:
    return Interval(Int, 0, extent - 1)


def stencils(n: Names) -> list[Function]:
    M, N = n.size("rows"), n.size("columns")
    i, j = n.variables("upper", "right")
    A = n.matrix("picture", M, N)
    inner = [Interval(Int, 1, M - 2), Interval(Int, 1, N - 2)]
    blur = n.function("blur", [i, j], inner)
    blur.defn = A(i - 1, j) + A(i + 1, j)
    sharp = n.function("sharp", [i, j], inner)
    sharp.defn = 2 * A(i, j) - n.scalar("weight") * blur(i, j)
    masked = n.function("masked", [i, j], inner)
    masked.defn = Select(Condition(blur(i, j), "<", 0.5), sharp(i, j), A(i, j) * blur(i, j))
    return [masked]


def products(n: Names) -> list[Function]:
    M, K, N = n.size("emms"), n.size("kays"), n.size("enns")
    A, B, x = n.matrix("left", M, K), n.matrix("middle", K, N), n.vector("vect", N)
    return [(A @ B).named(n("prod")), A @ (B @ x)]


def triangle(n: Names) -> list[Function]:
    N = n.size("extent")
    i, j, k = n.variables("iiii", "jjjj", "kkkk")
    L = n.matrix("lower", N, N)
    wedge = [upto(N), Interval(Int, 0, i)]
    r = Reduction(([i, j], wedge), ([i, j, k], [*wedge, Interval(Int, j, i)]), Double, n("summed"))
    r.defn = [Reduce(r(i, j), L(i, k) * L(k, j), Op.Sum)]
    return [r]


def wavefront(n: Names) -> list[Function]:
    N, T = n.size("side"), n.size("steps")
    t, i = n.variables("time", "place")
    x = n.vector("start", N)
    X = n.function("heat", [t, i], [Interval(Int, 0, T), upto(N)])
    inside = Condition(t, ">", 0) & Condition(i, ">", 0) & Condition(i, "<", N - 1)
    edge = Condition(t, "==", 0) | Condition(i, "==", 0) | Condition(i, "==", N - 1)
    X.defn = [Case(edge, x(i)), Case(inside, X(t, i - 1) + X(t - 1, i) + X(t - 1, i + 1))]
    last = n.function("final", [i], [upto(N)])
    last.defn = X(T, i)
    return [last]


PIPELINES = (stencils, products, triangle, wavefront)


def same_length(prefix: str) -> Rename:
    """Other names of the same length, whose alphabetical order has nothing to do with the original's."""
    count = iter(range(99, 10, -1))
    return lambda name: f"{prefix}{next(count)}".ljust(len(name), "z")


def any_length(prefix: str) -> Rename:
    """Other names of other lengths."""
    count = iter(range(10, 100))
    return lambda name: f"{prefix}{next(count)}{'long' * (len(name) % 3)}"


def code(text: str) -> str:
    """C without comments and line breaks, which depend on the length of names."""
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def compiled(pipeline: Callable[[Names], list[Function]], names: Names) -> pm.Compiled:
    return pm.compile(pipeline(names), name="renamed")


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_renaming_changes_nothing_but_names(pipeline: Callable[[Names], list[Function]]) -> None:
    plain, other = Names(lambda name: name), Names(same_length("qv"))
    expected, renamed = compiled(pipeline, plain), compiled(pipeline, other)
    assert other.original(renamed.source) == expected.source
    assert other.original(renamed.header) == expected.header
    assert other.original(repr(renamed.signature)) == repr(expected.signature)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_the_length_of_names_changes_no_code(
    pipeline: Callable[[Names], list[Function]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for where long functions are cut, which goes by their lines, and so by where names break these."""
    monkeypatch.setattr(functionlimits, "MOST_LINES", 10_000)
    plain, other = Names(lambda name: name), Names(any_length("wy"))
    expected, renamed = compiled(pipeline, plain), compiled(pipeline, other)
    assert code(other.original(renamed.source)) == code(expected.source)


def decisions(compiled_pipeline: pm.Compiled) -> dict[tuple[str, ...], Any]:
    """What was decided for each group, whatever the order of the groups and within them."""
    return {
        tuple(sorted(group.stages)): (group.kind, group.parallel, group.vector, dict(group.tile_sizes))
        for group in compiled_pipeline.explain().groups
    }


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_unrelated_outputs_keep_their_decisions(pipeline: Callable[[Names], list[Function]]) -> None:
    n = Names(lambda name: name)
    outputs = pipeline(n)
    y = n.vector("unrelated", n.size("unrelated_size"))
    alone = (y + y).named("apart")
    expected = decisions(pm.compile(outputs, name="alone"))
    for together in ([*outputs, alone], [alone, *outputs]):
        found = decisions(pm.compile(together, name="together"))
        assert {k: v for k, v in found.items() if k != ("apart",)} == expected
        assert ("apart",) in found


def test_the_order_of_outputs_changes_no_decision() -> None:
    outputs = products(Names(lambda name: name))
    outputs[1].name = "vector"
    forward, backward = pm.compile(outputs, name="p"), pm.compile(outputs[::-1], name="p")
    assert decisions(forward) == decisions(backward)


def test_the_order_of_definitions_changes_nothing() -> None:
    N = Parameter(Int, "N")
    i = Variable(Int, "i")
    x = Vector(Double, "x", [N])
    sources = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        stages = {k: Function(([i], [upto(N)]), Double, f"f{k}") for k in order}
        values = {0: lambda s: x(i) + x(N - 1 - i), 1: lambda s: s[0](i) * s[0](N - 1 - i)}
        values[2] = lambda s: s[1](i) + s[0](i) * s[1](N - 1 - i)
        for k in order:
            stages[k].defn = values[k](stages)
        sources.append(pm.compile(stages[2], name="ordered").source)
    assert sources[0] == sources[1] == sources[2]
