"""Steps of random mixtures that are defined by index: what data choose, cases, recurrences, sums, iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polymat as pm
from polymat import Case, Cast, Clamp, Condition, Function, Int, Interval, Long, Op, Reduce, Reduction, Select
from polymat.lang.algebra import span
from polymat.lang.makers import index_expression
from tests.differential.mixeddraw import Draw, K, M, N, Refused, Value


def indexed(source: Any) -> tuple[list[Any], list[Interval]]:
    """Indices of all dimensions, and their intervals."""
    variables = [pm.Variable(Int, name) for name in "xyzw"[: source.rank]]
    return variables, [span(extent, source.sizes) for extent in source.shape]


def _declared(draw: Draw, source: Any, dtype: Any) -> tuple[Function, list[Any]]:
    """A function of the same shape, to be defined, and its indices."""
    at, spans = indexed(source)
    return Function((at, spans), dtype, draw.name("f")), at


def _turned(index: Any, interval: Any) -> Any:
    """An index counted from the other end."""
    return index_expression(interval.hi, {size.name: size for size in interval.sizes}) - index


def _place(draw: Draw, at: Any, shape: Sequence[Any], extent: Any) -> Any:
    """An index within an extent: of data of a shape, or of its last dimensions, at some indices."""
    rng = draw.rng

    def fits(value: Value) -> bool:
        own = value.source.shape
        return (
            value.exact and value.dtype.kind in "iu" and tuple(own) == tuple(shape[len(shape) - len(own) :])
        )

    data = draw.pick(fits).source
    index = data(*at[len(at) - data.rank :])
    index = index if rng.random() < 0.7 else index * 3 - 2
    return Clamp(Cast(Long, index), 0, extent - 1)


def gathered(draw: Draw) -> Value:
    """Elements where data say, perhaps of two arrays."""
    a = draw.pick(lambda v: v.source.rank in (1, 2))
    over = draw.pick(lambda v: v.source.rank in (1, 2))
    found, at = _declared(draw, over.source, a.dtype)
    place = [_place(draw, at, over.source.shape, extent) for extent in a.source.shape]
    value = a.source(*place)
    if draw.rng.random() < 0.4 and a.dtype.kind != "c":
        value = pm.Max(value, a.source(*[0 for _ in place]))
    found.defn = [Cast(a.dtype, value)]
    return Value(found, a.largest, a.exact)


def cases(draw: Draw) -> Value:
    """Pieces by conditions of indices and sizes, some of them of several parameters."""
    rng = draw.rng
    a = draw.pick(lambda v: v.source.rank in (1, 2))
    b = draw.pick(lambda v: v.source.shape == a.source.shape and v.dtype.kind == a.dtype.kind)
    dtype = a.dtype if rng.random() < 0.6 else b.dtype
    found, at = _declared(draw, a.source, dtype)
    i, j = at[0], at[-1]
    left, op, right = rng.choice(
        (
            (i + j, "<", M + N - K),
            (i, "<", j),
            (2 * i, ">=", N),
            (j, "==", K - 1),
            (i + N, ">", j + M),
            (j % 2, "==", 0),
            (i, "<=", M // 2),
            (N, ">", M),
            (i - K, "<", 0),
        )
    )
    inside = Condition(left, op, right)
    if rng.random() < 0.3:
        inside = inside & Condition(j, rng.choice(("<", ">=")), K)
    pairs = zip(at, found.intervals, strict=True)
    there = [each if rng.random() < 0.7 else _turned(each, interval) for each, interval in pairs]
    one, other = Cast(dtype, a.source(*at)), Cast(dtype, b.source(*there))
    form = rng.randrange(3)
    if form == 0:
        found.defn = [Case(inside, one), Case(~inside, other)]
    elif form == 1:
        found.defn = [Select(inside, one, other)]
    else:
        found = Function((at, list(found.intervals)), dtype, draw.name("f"), default=1)
        found.defn = [Case(inside, one)]
    return Value(found, max(a.largest, b.largest), a.exact and b.exact)


def recurrence(draw: Draw) -> Value:
    """What reads itself, one or two elements back along one dimension, or at a place before that data say."""
    rng = draw.rng
    a = draw.small(draw.pick(lambda v: v.source.rank in (1, 2) and v.dtype.kind != "c"))
    dtype = a.dtype if a.dtype.kind in "iu" else rng.choice((a.dtype, pm.Double))
    found, at = _declared(draw, a.source, dtype)
    axis, back = rng.randrange(len(at)), rng.choice((1, 1, 2))
    before = list(at)
    before[axis] = at[axis] - back
    if rng.random() < 0.3:
        data = draw.pick(lambda v: v.source.shape == a.source.shape and v.dtype.kind in "iu" and v.exact)
        before[axis] = Clamp(Cast(Long, data.source(*at)), 0, at[axis] - back)
    elif len(at) == 2 and rng.random() < 0.4:
        other = 1 - axis
        before[other] = at[other] if rng.random() < 0.5 else _turned(at[other], found.intervals[other])
    form = rng.choice(("sum", "max", "flip", "half"))
    old, new = found(*before), Cast(dtype, a.source(*at))
    later = {"sum": old + new, "max": pm.Max(old, new), "flip": new - old, "half": old * 0.5 + new}
    if form == "half" and dtype.kind in "iu":
        form = "sum"
    start, go = Condition(at[axis], "<", back), Condition(at[axis], ">=", back)
    if rng.random() < 0.3:
        found.defn = [
            Case(start, new),
            Case(go & Condition(K, ">", 1), later[form]),
            Case(go & Condition(K, "<=", 1), old),
        ]
    else:
        found.defn = [Case(start, new), Case(go, later[form])]
    return Value(found, 40 * a.largest, a.exact and form != "half")


def counted(draw: Draw) -> Value:
    """Sums, extremes or products at places that data say."""
    rng = draw.rng
    a = draw.small(draw.pick(lambda v: v.source.rank in (1, 2) and v.dtype.kind != "c"))
    at, spans = indexed(a.source)
    bins = rng.choice((pm.Interval(Int, 0, 4), pm.Interval(Int, 0, N - 1)))
    b = pm.Variable(Int, "b")
    op = rng.choice((Op.Sum, Op.Sum, Op.Max, Op.Min))
    dtype = rng.choice((a.dtype, pm.Double)) if a.dtype.kind == "f" else rng.choice((a.dtype, Long))
    start: dict[str, Any] = {"init": 0} if rng.random() < 0.6 else {}
    found = Reduction(([b], [bins]), (at, spans), dtype, draw.name("h"), **start)
    place = _place(draw, at, a.source.shape, 5 if bins.hi.is_constant else N)
    found.defn = [Reduce(found(place), a.source(*at), op)]
    if op is not Op.Sum and dtype.kind == "f" and not start:
        raise Refused
    return Value(found, 600 * a.largest, a.exact)


def segmented(draw: Draw) -> Value:
    """Sums over parts of rows that data say, of what is looked up there."""
    rng, inputs = draw.rng, draw.made.inputs
    ends = next((each for each in inputs if each.name == "ends"), None)
    if ends is None:
        ends = pm.Vector(Int, "ends", [M + 1], values=(0, N), sorted=True)
        inputs.append(ends)
    a = draw.small(
        draw.pick(lambda v: str(v.source.shape[-1:]) == str(inputs[1].shape) and v.source.rank == 1)
    )
    i, k = pm.Variable(Int, "i"), pm.Variable(Int, "k")
    rows, inside = pm.Interval(Int, 0, M - 1), pm.Interval(Int, ends(i), ends(i + 1) - 1)
    dtype = a.dtype if a.dtype.kind != "f" else pm.Double
    found = Reduction(([i], [rows]), ([i, k], [rows, inside]), dtype, draw.name("g"))
    value = a.source(k)
    if rng.random() < 0.5:
        kind = a.dtype.kind  # of one kind with the sum: C does not say what a negative number is without sign
        b = draw.small(draw.pick(lambda v: v.source.rank == 1 and v.dtype.kind == kind))
        value = value * b.source(_place(draw, [k], inputs[1].shape, b.source.shape[0]))
        a = Value(a.source, a.largest * b.largest, a.exact and b.exact)
    found.defn = [Reduce(found(i), Cast(dtype, value), Op.Sum)]
    return Value(found, 40 * a.largest, a.exact)


def iterated(draw: Draw) -> Value:
    """Some steps of what stays bounded."""
    rng = draw.rng
    a = draw.small(
        draw.pick(lambda v: v.source.rank in (1, 2) and v.source.algebra != "signal" and v.exact), 4.0
    )
    b = draw.small(
        draw.pick(lambda v: v.source.shape == a.source.shape and v.exact and v.dtype == a.dtype), 4.0
    )
    low = 0 if a.dtype.kind == "u" else -4
    choices = (
        lambda u: Clamp(u - b.source, low, 4),
        lambda u: pm.where(u > b.source, u[::-1], b.source),
        lambda u: Clamp(u[::-1] - u.max(axis=0), low, 4),
        lambda u: pm.Max(u, b.source)[::-1],
        lambda u: Clamp(u.sum(axis=-1, keepdims=True) - u, low, 4),
    )
    kept = rng.choice(({}, {}, {"keep": 2}, {"every": 2}))
    step = rng.choice(choices)
    found = pm.iterate(
        lambda u: step(u).astype(a.dtype), a.source, steps=rng.choice((0, 1, 3, K)) if not kept else 3, **kept
    )
    return Value(found, 4.0)
