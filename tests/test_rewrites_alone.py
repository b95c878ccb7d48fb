"""Every rewrite alone, on a pipeline as it was built: it changes that, and no number of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, Op, Options, Reduce, Reduction
from polymat.checked import check
from polymat.driver import request_for
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import ZEN3
from polymat.passes import PASSES, levels_of, position
from polymat.poly.membership import members
from polymat.request import Request
from polymat.steps import Job
from tests.tolerance import assert_close

Asked = Mapping[str, Any]
M, N = pm.Parameter(Int, "M"), pm.Parameter(Int, "N")
i, j, k = (pm.Variable(Int, name) for name in "ijk")
A, B = pm.Matrix(Double, "A", [M, N]), pm.Matrix(Double, "B", [N, M])
x, y = pm.Vector(Double, "x", [N]), pm.Vector(Double, "y", [N])
s = pm.Signal(Double, "s", N)
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
REWRITES = [each.name for each in PASSES if each.level == "graph" and not each.joins]


def sum_of(name: str, value: Any, op: Op = Op.Sum) -> Reduction:
    """Of A-sized terms, along rows."""
    made = Reduction(([i], [ROWS]), ([i, j], [ROWS, COLUMNS]), Double, name)
    made.defn = [Reduce(made(i), value, op)]
    return made


def turn() -> Asked:
    return {"outputs": A @ x, "fortran": [A]}


def pitch() -> Asked:
    return {"outputs": A @ x, "strided": [A]}


def bands() -> Asked:
    """Means of neighbours, time after time, of more than a cache holds."""
    t, steps, r = pm.Variable(Int, "t"), pm.Parameter(Int, "M"), pm.Variable(Int, "r")
    rows, start = Interval(Int, 0, 9), pm.Matrix(Double, "start", [10, N])
    u = Function(([t, r, i], [Interval(Int, 0, steps), rows, COLUMNS]), Double, "u")
    inner = pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", N - 2)
    outer = pm.Condition(i, "<=", 0) | (pm.Condition(i, ">=", 1) & pm.Condition(i, ">=", N - 1))
    later = pm.Condition(t, ">=", 1)
    u.defn = [
        pm.Case(pm.Condition(t, "==", 0), start(r, i)),
        pm.Case(later & inner, (u(t - 1, r, i - 1) + u(t - 1, r, i + 1)) / 2),
        pm.Case(later & outer, u(t - 1, r, i)),
    ]
    last = Function(([r, i], [rows, COLUMNS]), Double, "last")
    last.defn = [u(steps, r, i)]
    return {"outputs": last, "estimates": {steps: 100, N: 1_000_000}}


def slices() -> Asked:
    """Planes over time, each a circle of its own, that stay within a cache one at a time."""
    t, steps, z, planes = (
        pm.Variable(Int, "t"),
        pm.Parameter(Int, "M"),
        pm.Variable(Int, "z"),
        Interval(Int, 0, 15),
    )
    domain = ([t, z, i], [Interval(Int, 0, steps), planes, COLUMNS])
    one, other = Function(domain, Double, "one"), Function(domain, Double, "other")
    first, later = pm.Condition(t, "==", 0), pm.Condition(t, ">=", 1)
    given = pm.Matrix(Double, "given", [16, N])
    one.defn = [pm.Case(first, given(z, i)), pm.Case(later, other(t - 1, z, N - 1 - i) / 4)]
    other.defn = [pm.Case(first, x(i)), pm.Case(later, one(t - 1, z, i) + other(t - 1, z, i))]
    last = Function(([z, i], [planes, COLUMNS]), Double, "last")
    last.defn = [one(steps, z, i)]
    return {"outputs": last, "estimates": {steps: 100, N: 10_000}}


def sections() -> Asked:
    """Two functions that read each other, and what one of them comes to."""
    t, steps = pm.Variable(Int, "t"), pm.Parameter(Int, "M")
    domain = ([t, i], [Interval(Int, 0, steps), COLUMNS])
    one, other = Function(domain, Double, "one"), Function(domain, Double, "other")
    first, later = pm.Condition(t, "==", 0), pm.Condition(t, ">=", 1)
    one.defn = [pm.Case(first, x(i)), pm.Case(later, one(t - 1, i) + other(t - 1, i) / 4)]
    other.defn = [one(t, i) / 2]
    last = Function(([i], [COLUMNS]), Double, "last")
    last.defn = [one(steps, i)]
    return {"outputs": last}


def names() -> Asked:
    """The dimension of the result has the name of one that is summed over."""
    made = Reduction(([i], [COLUMNS]), ([i, j], [ROWS, COLUMNS]), Double, "made")
    made.defn = [Reduce(made(j), A(i, j), Op.Sum)]
    return {"outputs": made}


def terms() -> Asked:
    return {"outputs": sum_of("low", pm.Select(pm.Condition(j, "<=", i), A(i, j), 0.0))}


def share() -> Asked:
    first, second = sum_of("first", A(i, j) * x(j)), sum_of("second", A(i, j) * x(j))
    return {"outputs": (first * 2.0 + second).named("both")}


def extremes() -> Asked:
    """The largest of each three."""
    channels = Interval(Int, 0, 2)
    made = Reduction(([i], [COLUMNS]), ([i, j], [COLUMNS, channels]), Double, "made")
    made.defn = [Reduce(made(i), pm.Image(Double, "triples", [N, 3])(i, j), Op.Max)]
    return {"outputs": made}


def samples() -> Asked:
    return {"outputs": s.fir(pm.Vector(Double, "taps", [M])).down(3)}


def products() -> Asked:
    return {"outputs": A @ B @ A @ x}


def cascades() -> Asked:
    taps = np.hanning(40)
    return {"outputs": s.fir(taps).fir(taps), "options": Options(fir="fft")}


def blocks() -> Asked:
    return {"outputs": s.fir(np.hanning(40)), "options": Options(fir="fft")}


def phases() -> Asked:
    return {"outputs": pm.Signal(Double, "s", 127).interp_fft(3)}


def transforms() -> Asked:
    """A transform that is added to something; a library has none that adds."""
    z = pm.Vector(pm.Complex, "z", [N])
    made = Reduction(([i], [COLUMNS]), ([i, j], [COLUMNS, COLUMNS]), pm.Complex, "waves", init=z(i))
    made.defn = [Reduce(made(i), z(j) * pm.Exp(-2j * np.pi * i * j / N), Op.Sum)]
    return {"outputs": made, "options": Options(fft="always")}


def inline() -> Asked:
    return {"outputs": ((x + y).named("both") * 2.0).named("twice")}


def inlined_terms() -> Asked:
    return terms()


def tables() -> Asked:
    """Values of an entry for each short integer, of which few differ."""
    v = pm.Variable(Int, "v")
    curve = Function(([v], [Interval(Int, -32768, 32767)]), Double, "curve")
    curve.defn = [pm.Sqrt(pm.Clamp(v, -3, 5) + 3.0)]
    shorts, made = pm.Vector(pm.Short, "shorts", [N]), Function(([j], [COLUMNS]), Double, "made")
    made.defn = [curve(shorts(j)) + x(j)]
    return {"outputs": made}


def abreast() -> Asked:
    """Few columns of one large matrix, of two small ones and a vector."""
    three, two = pm.Matrix(Double, "three", [N, 3]), pm.Matrix(Double, "two", [N, 2])
    outputs = [(A @ three).named("f"), (A @ x).named("g"), (A @ two).named("h")]
    return {"outputs": outputs, "estimates": {M: 2048, N: 2048}}


def join() -> Asked:
    image, c = pm.Image(Double, "image", [M, N, 3]), pm.Variable(Int, "c")
    made = Function(([i, j, c], [ROWS, Interval(Int, 1, N - 2), Interval(Int, 0, 2)]), Double, "made")
    made.defn = [image(i, j - 1, c) + image(i, j + 1, c)]
    return {"outputs": made}


def convert() -> Asked:
    image = pm.Image(pm.UChar, "bytes", [M, N])
    made = Function(([i, j], [Interval(Int, 1, M - 2), Interval(Int, 1, N - 2)]), pm.Float, "made")
    near: Any = 0.0
    for across in (-1, 0, 1):
        for along in (-1, 0, 1):
            near = near + pm.Cast(pm.Float, image(i + across, j + along)) * 0.125
    made.defn = [near]
    return {"outputs": made}


def parts() -> Asked:
    """Two sums of the same expensive terms."""
    far = pm.Sqrt((x(i) - x(j)) * (x(i) - x(j)) + (y(i) - y(j)) * (y(i) - y(j)))
    made = []
    for name, op in (("least", Op.Min), ("most", Op.Max)):
        each = Reduction(([i], [COLUMNS]), ([i, j], [COLUMNS, COLUMNS]), Double, name)
        each.defn = [Reduce(each(i), far, op)]
        made.append(each)
    return {"outputs": made, "estimates": {N: 2000}}


def borders() -> Asked:
    """Rows inside, and the first and the last."""
    made = Function(([i, j], [ROWS, COLUMNS]), Double, "made")
    inside = pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", M - 2)
    made.defn = [pm.Select(inside, A(i - 1, j) - A(i + 1, j), A(i, j))]
    return {"outputs": made}


def positions() -> Asked:
    """The first of the largest elements of rows."""
    return {"outputs": A.argmax(axis=1).named("place")}


def inlined_turns() -> Asked:
    """Twice as many points, at even places as they are, at odd ones between two of them."""
    twice = Function(([i, j], [ROWS, Interval(Int, 0, N - 2)]), Double, "twice")
    even, odd = pm.Condition(j % 2, "==", 0), pm.Condition(j % 2, "==", 1)
    twice.defn = [pm.Case(even, A(i, j // 2)), pm.Case(odd, (A(i, j // 2) + A(i, j // 2 + 1)) / 2)]
    less = Function(([i, j], [ROWS, Interval(Int, 0, N - 2)]), Double, "less")
    less.defn = [x(j) * A(i, j) - twice(i, j)]
    return {"outputs": less}


def inlined_planes() -> Asked:
    """All of three planes, by the fourth."""
    layers = pm.Matrix(Double, "layers", [4, N])
    weighed = Function(([k, j], [Interval(Int, 0, 3), COLUMNS]), Double, "weighed")
    weighed.defn = [layers(k, j) * x(j) + layers(3, j)]
    shares = Function(([k, j], [Interval(Int, 0, 2), COLUMNS]), Double, "shares")
    shares.defn = [weighed(k, j) - weighed(3, j)]
    return {"outputs": shares}


def request_of(name: str) -> Request:
    asked: Callable[[], Asked] = globals()[name]
    return replace(request_for(**asked()), machine=replace(ZEN3, cores=2))


def interpreted(
    level: Pipeline | Stepwise[Pipeline], sizes: Mapping[str, int], arrays: Mapping[str, Any]
) -> dict[str, Any]:
    """The outputs of a pipeline, whose inputs may lie or count otherwise than those that were given."""
    pipeline, known = (level.whole if isinstance(level, Stepwise) else level), dict(sizes)
    given = {}
    for array in pipeline.inputs:
        values = arrays[array.name].T if array.turned else arrays[array.name]
        known |= array.tight(sizes)
        given[array.name] = values.reshape([int(extent.evaluate(known)) for extent in array.extents])
    if isinstance(level, Stepwise):
        values = interpret_stepwise(level, given, known, members)
    else:
        values = interpret(level, given, known, members)
    return {name: values[name].ravel() for name in pipeline.outputs}


def numbers(pipeline: Pipeline, sizes: Mapping[str, int]) -> dict[str, Any]:
    """An array for every input."""
    rng, found = np.random.default_rng(1), {}
    for array in pipeline.inputs:
        shape = [int(extent.evaluate(sizes)) for extent in array.extents]
        found[array.name] = rng.integers(0, 9, shape).astype(array.dtype.dtype)
    return found


def test_there_is_one_for_every_rewrite() -> None:
    assert [name for name in REWRITES if name not in globals()] == []


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewrite_alone(name: str) -> None:
    job = Job(request_of(name))
    ((_, built),) = levels_of(job, PASSES[:1])
    assert isinstance(built, Pipeline)
    changed = PASSES[position(name)].apply(built, job)
    check(name, changed)
    assert str(changed) != str(built)
    for shape in ((6, 7), (31, 160)):
        sizes = dict(zip("MN", shape, strict=True))
        arrays = numbers(built, sizes)
        expected, found = (interpreted(each, sizes, arrays) for each in (built, changed))
        for output, values in expected.items():
            assert_close(found[output], values, roundings=5000, magnitude=np.abs(values).max(initial=1))
