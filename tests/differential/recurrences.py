"""Stages that read themselves: prefix sums, wave fronts, time steps, triangular solves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.differential.expressions import WORDS, Text, converted, random_dtype
from tests.differential.spans import CONSTANT, Axis, Span

if TYPE_CHECKING:
    from tests.differential.random_programs import Generator


def _tame_dtype(gen: Generator) -> Any:
    return gen.rng.choice(
        [np.dtype(name) for name in ("float64", "float64", "float32", "int32", "int64", "complex128")]
    )


def _damped(gen: Generator, own: str, dtype: Any) -> str:
    """An own earlier value, halved where it could grow."""
    return own if dtype.kind in "iu" else f"0.5*{own}"


def prefix(gen: Generator) -> None:
    """Along one dimension, forwards or backwards, of first or second order."""
    rng, axes = gen.rng, gen.axes()
    atoms = gen.atoms(axes, rng.randint(1, 3))
    gen.keep_nonnegative(axes)
    along, dtype, name = rng.choice(axes), _tame_dtype(gen), f"{gen.prefix}f{gen.count + 100}"
    order = rng.choice((1, 1, 2))
    forward = rng.random() < 0.6
    steps = [f"{along.name} {'-' if forward else '+'} {k + 1}" for k in range(order)]
    reads = [f"{name}({', '.join(step if a is along else a.name for a in axes)})" for step in steps]
    start, value = gen.value(atoms, dtype, 1), gen.value(atoms, dtype, 1)
    step = " + ".join(
        [_damped(gen, reads[0], dtype), *(f"{0.25 if dtype.kind in 'fc' else 1}*{r}" for r in reads[1:])]
    )
    body = f"{step} + {value.text}"
    bound = f"{along.span.lo + order}" if forward else f"{along.span.hi} - {order}"
    before, after = ('"<"', '">="') if forward else ('">"', '"<="')
    _write(
        gen,
        axes,
        dtype,
        name,
        [
            f"Case(Condition({along.name}, {before}, {bound}), {start.text})",
            f"Case(Condition({along.name}, {after}, {bound}), {converted(Text(body, dtype), dtype).text})",
        ],
    )


def _write(gen: Generator, axes: list[Axis], dtype: Any, name: str, entries: list[str]) -> None:
    from tests.differential.random_programs import Source

    gen.count += 101
    gen.lines.append(f'{name} = Function({gen.domain(axes)}, {WORDS[dtype]}, "{name}")')
    gen.lines.append(f"{name}.defn = [{', '.join(entries)}]")
    gen.sources.append(Source(name, dtype, tuple(a.span for a in axes)))


def _plane(gen: Generator) -> tuple[list[Axis], list[Text]] | None:
    axes = gen.axes()
    if len(axes) < 2:
        return None
    return axes, gen.atoms(axes, gen.rng.randint(1, 2))


def wavefront(gen: Generator) -> None:
    """Two dimensions, each point from its neighbours in two directions."""
    rng, found = gen.rng, _plane(gen)
    if found is None:
        prefix(gen)
        return
    axes, atoms = found
    gen.keep_nonnegative(axes)
    a, b = axes[:2]
    dtype, name = _tame_dtype(gen), f"{gen.prefix}f{gen.count + 100}"
    down = rng.choice((1, -1))
    across = rng.choice((1, -1))

    def own(da: int, db: int) -> str:
        shifted = {a.name: f"{a.name} - {da * down}", b.name: f"{b.name} - {db * across}"}
        return f"{name}({', '.join(shifted.get(x.name, x.name) for x in axes)})"

    edges = []
    for axis, direction in ((a, down), (b, across)):
        edges.append((axis.name, str(axis.span.lo)) if direction > 0 else (axis.name, axis.span.hi))
    borders = " | ".join(f'Condition({n}, "==", {bound})' for n, bound in edges)
    inside = " & ".join(
        f'Condition({n}, "{">" if d > 0 else "<"}", {bound})'
        for (n, bound), d in zip(edges, (down, across), strict=True)
    )
    reads = rng.choice(((own(1, 0), own(0, 1)), (own(1, 1),), (own(1, 1), own(0, 1))))
    factor = "1" if dtype.kind in "iu" else "0.25"
    body = " + ".join([*(f"{factor}*{r}" for r in reads), gen.value(atoms, dtype, 1).text])
    _write(
        gen,
        axes,
        dtype,
        name,
        [
            f"Case({borders}, {gen.value(atoms, dtype, 1).text})",
            f"Case({inside}, {body})",
        ],
    )


def time_steps(gen: Generator) -> None:
    """u(t, x) from u(t - 1, x +- 1), with the borders kept."""
    rng, axes = gen.rng, gen.axes()
    axes = [a for a in axes if a.kind[2] == 1][:2]
    if not axes:
        prefix(gen)
        return
    atoms = gen.atoms(axes, 2)
    for axis in axes:
        axis.narrow(0, 10**6)
    time = Axis(next(n for n in ("k", "l", "m", "i") if n not in [a.name for a in axes]), CONSTANT)
    if rng.random() < 0.4:
        time.kind = (rng.choice(gen.sizes), 1, 1)
    time.narrow(0, rng.randint(1, 4) if time.kind == CONSTANT else 0)
    dtype, name = _tame_dtype(gen), f"{gen.prefix}f{gen.count + 100}"
    t = time.name

    def own(shifts: dict[str, int]) -> str:
        return f"{name}({', '.join([f'{t} - 1', *(f'{a.name} + {shifts.get(a.name, 0)}' for a in axes)])})"

    inside = " & ".join(
        f'Condition({a.name}, ">", {a.span.lo}) & Condition({a.name}, "<", {a.span.hi})' for a in axes
    )
    outside = " | ".join(
        f'Condition({a.name}, "<=", {a.span.lo}) | Condition({a.name}, ">=", {a.span.hi})' for a in axes
    )
    neighbours = [own({}), *(own({a.name: s}) for a in axes for s in (1, -1))]
    factor = "1" if dtype.kind in "iu" else "0.2"
    later = f'Condition({t}, ">", 0)'
    _write(
        gen,
        [time, *axes],
        dtype,
        name,
        [
            f'Case(Condition({t}, "==", 0), {gen.value(atoms, dtype, 1).text})',
            f"Case({later} & ({inside}), {' + '.join(f'{factor}*{n}' for n in neighbours)})",
            f"Case({later} & ({outside}), {own({})})",
        ],
    )


def solve(gen: Generator) -> None:
    """Forward or backward substitution: a Reduction that reads itself."""
    from tests.differential.random_programs import Source

    rng, size = gen.rng, gen.rng.choice(gen.sizes)
    span = Span((size, 1, 1), 0, -1)
    dtype: np.dtype[Any] = gen.rng.choice([np.dtype("float64"), np.dtype("float32"), np.dtype("int32")])
    matrix = gen.add_input(2, dtype, (span, span))
    right = gen.add_input(1, dtype, (span,))
    name, factor = gen.fresh("x"), "1" if dtype.kind == "i" else "0.125"
    inner = "0, i - 1" if rng.random() < 0.6 else f"i + 1, {span.hi}"
    word = WORDS[dtype]
    whole = f"Interval(Int, 0, {span.hi})"
    gen.lines.append(
        f'{name} = Reduction(([i], [{whole}]), ([i, j], [{whole}, Interval(Int, {inner})]), {word}, "{name}", '
        f"init={right.name}(i))"
    )
    term = f"{factor}*{matrix.name}(i, j)*{name}(j)"
    gen.lines.append(f"{name}.defn = [Reduce({name}(i), -({term}), Op.Sum)]")
    gen.sources.append(Source(name, dtype, (span,)))


def random_walk(gen: Generator) -> None:
    """A reduction over a recurrence: the producer is a prefix sum."""
    prefix(gen)


RECURRENCES: list[tuple[Any, int]] = [(prefix, 3), (wavefront, 2), (time_steps, 2), (solve, 1)]
_ = random_dtype
