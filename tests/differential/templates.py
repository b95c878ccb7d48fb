"""Kinds of stages that random programs are made of, apart from recurrences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.expressions import WORDS, Text, Weak, computed_dtype, converted, random_dtype, read_as
from tests.differential.spans import CONSTANT, Axis, Span, offset, upper

if TYPE_CHECKING:
    from tests.differential.random_programs import Generator, Source


def pointwise(gen: Generator, *, nonnegative: bool = False) -> None:
    """One expression: point-wise, stencil, strided, transposed, up- or down-sampled."""
    axes = gen.axes()
    atoms = gen.atoms(axes, gen.rng.randint(1, 5))
    if nonnegative:
        for axis in axes:
            axis.narrow(0, 10**6)
    gen.keep_nonnegative(axes)
    made = gen.value(atoms)
    dtype = made.dtype if gen.rng.random() < 0.6 else random_dtype(gen.rng)
    gen.define(axes, dtype, [converted(made, dtype).text])


def bordered(gen: Generator) -> None:
    """An interior that reads, and a border by Cases, a Select or a default."""
    rng, axes = gen.rng, gen.axes()
    atoms = gen.atoms(axes, rng.randint(1, 4))
    gen.keep_nonnegative(axes)
    axis = rng.choice(axes)
    inner, dtype = axis.span, random_dtype(rng)
    low, high = f'Condition({axis.name}, "<", {inner.lo})', f'Condition({axis.name}, ">", {inner.hi})'
    at_least = f'Condition({axis.name}, ">=", {inner.lo})'
    inside = f'({at_least} & Condition({axis.name}, "<=", {inner.hi}))'
    axis.lo = inner.lo - rng.choice((0, 1, 1, 2))
    if inner.lo >= 0 and rng.random() < 0.8:
        axis.lo = max(axis.lo, 0)
    axis.c = inner.c + rng.choice((0, 1, 2))
    middle = gen.value(atoms, dtype).text
    first, last = (gen.value([gen.plain_atom(axes)], dtype, depth=1).text for _ in range(2))
    form = rng.choice(("cases", "select", "default"))
    if form == "cases":
        entries = [f"Case({low}, {first})", f"Case({inside}, {middle})", f"Case({high} & {at_least}, {last})"]
        gen.define(axes, dtype, entries)
    elif form == "select":
        made, border = (gen.value(a, dtype) for a in (atoms, [gen.plain_atom(axes)]))
        if isinstance(made.dtype, Weak):
            made = Text(f"Cast({WORDS[dtype]}, {made.text})", dtype)
        gen.define(axes, dtype, [converted(_select(inside, made, border), dtype).text])
    else:
        gen.define(axes, dtype, [f"Case({inside}, {middle})"], default=first)


def _select(condition: str, then: Text, otherwise: Text) -> Text:
    from tests.differential.expressions import promoted

    return Text(f"Select({condition}, {then.text}, {otherwise.text})", promoted(then.dtype, otherwise.dtype))


def split(gen: Generator) -> None:
    """Cases by parity, by a threshold, or by two variables."""
    rng, axes = gen.rng, gen.axes()
    pieces = [gen.atoms(axes, rng.randint(1, 3)) for _ in range(3)]
    gen.keep_nonnegative(axes)
    dtype, name = random_dtype(rng), rng.choice(axes).name
    values = [gen.value(atoms, dtype).text for atoms in pieces]
    form = rng.choice(("parity", "thirds", "threshold", "pair"))
    if form == "parity":
        shifted = rng.choice((name, f"({name} + 1)", f"({name} + {gen.sizes[0]})"))
        conditions = [f'Condition({shifted} % 2, "==", {k})' for k in (0, 1)]
    elif form == "thirds":
        conditions = [f'Condition({name} % 3, "==", {k})' for k in (0, 1, 2)]
    elif form == "threshold" or len(axes) < 2:
        bound = rng.choice(("2", "3", f"{gen.sizes[-1]}//2", f"{gen.sizes[0]} - 2"))
        conditions = [f'Condition({name}, "{op}", {bound})' for op in rng.choice((("<", ">="), (">", "<=")))]
    else:
        a, b = rng.sample(axes, 2)
        conditions = [f'Condition({a.name}, "{op}", {b.name})' for op in ("<", "==", ">")]
    cases = [f"Case({c}, {v})" for c, v in zip(conditions, values, strict=False)]
    rng.shuffle(cases)
    gen.define(axes, dtype, cases)


def triangle(gen: Generator) -> None:
    """A domain whose second bound depends on the first variable; then perhaps a guarded reader."""
    rng = gen.rng
    axes = gen.axes()
    pair = next(((a, b) for a in axes for b in axes if a is not b and a.kind == b.kind), None)
    if pair is None or pair[0].kind[2] != 1:
        pointwise(gen)
        return
    atoms = gen.atoms(axes, rng.randint(1, 3))
    gen.keep_nonnegative(axes)
    first, second = pair
    axes = [first, second, *(a for a in axes if a not in pair)]
    a, b = first.span, second.span
    if rng.random() < 0.5:
        bound = offset(first.name, min(b.c - a.c, rng.choice((-1, 0, 0, 0, 1))))
        interval, guard = f"{b.lo}, {bound}", f'"<=", {bound}'
    else:
        bound = offset(first.name, max(b.lo - a.lo, rng.choice((-1, 0, 0, 1))))
        interval, guard = f"{bound}, {b.hi}", f'">=", {bound}'
    intervals = [f"{axis.span.lo}, {axis.span.hi}" for axis in axes]
    intervals[1] = interval
    dtype = random_dtype(rng)
    made = gen.define(axes, dtype, [gen.value(atoms, dtype).text], intervals, guard="yes")
    if rng.random() < 0.5:
        _guarded_reader(gen, made, axes, f"Condition({second.name}, {guard})", guard[1] == "<")


def _guarded_reader(gen: Generator, made: Source, axes: list[Axis], guard: str, below: bool) -> None:
    """Read a triangle where it is defined, something else elsewhere."""
    rng = gen.rng
    own = Text(f"{made.name}({', '.join(a.name for a in axes)})", read_as(made.dtype))
    others = gen.atoms(axes, 2)
    dtype = random_dtype(rng)
    value, other = gen.value([own, own, *others], dtype), gen.value(others, dtype)
    inverse = guard.replace('"<="', '">"') if below else guard.replace('">="', '"<"')
    if rng.random() < 0.5:
        gen.define(axes, dtype, [f"Case({guard}, {value.text})", f"Case({inverse}, {other.text})"])
    else:
        gen.define(
            axes, dtype, [f"Case({guard}, {value.text})"], default=converted(Text("3", Weak.INT), dtype).text
        )


def _operation(gen: Generator, dtype: Any) -> str:
    if dtype.kind == "c":
        return gen.rng.choice(("Sum", "Sum", "Mul"))
    return gen.rng.choice(("Sum", "Sum", "Sum", "Mul", "Min", "Max"))


def reduction(gen: Generator) -> None:
    """Over some of the variables, which have names of their own sometimes; perhaps triangular."""
    from tests.differential.random_programs import INNER_NAMES, NAMES

    rng = gen.rng
    axes = gen.axes(rng.choice((NAMES, INNER_NAMES)))
    if rng.random() < 0.5 and len(axes) < 3:
        extra = Axis("m" if axes[0].name in NAMES else "v", rng.choice(axes).kind)
        if extra.name not in [a.name for a in axes]:
            axes.append(extra)
            axes[-1].narrow(0, rng.choice((-1, 0)))
    pieces = [gen.atoms(axes, rng.randint(1, 3)) for _ in range(rng.choice((1, 1, 1, 2)))]
    kept = rng.sample(axes, rng.randint(0, max(len(axes) - 1, 0)))
    for axis in kept:
        axis.narrow(0, 10**6)
    dtype = computed_dtype(rng)
    intervals = _perhaps_triangular(gen, axes)
    same = axes[0].name in NAMES and rng.random() < 0.6
    results = [
        Axis(a.name if same else n, a.kind) for a, n in zip(kept, rng.sample(NAMES, len(kept)), strict=True)
    ]
    for axis, result in zip(kept, results, strict=True):
        more = rng.choice((0, 0, 0, 1))
        result.narrow(max(axis.span.lo - more, 0), axis.span.c + more)
    conditions = _entry_conditions(gen, axes, len(pieces))
    target = ", ".join(a.name for a in kept)
    write_reduction(
        gen,
        results,
        axes,
        intervals,
        dtype,
        target,
        [(condition, gen.value(atoms, dtype)) for condition, atoms in zip(conditions, pieces, strict=True)],
    )


def _perhaps_triangular(gen: Generator, axes: list[Axis]) -> list[str]:
    intervals = [f"{a.span.lo}, {a.span.hi}" for a in axes]
    if len(axes) > 1 and axes[0].kind == axes[1].kind and axes[0].kind[2] == 1 and gen.rng.random() < 0.4:
        a, b = axes[0].span, axes[1].span
        below = f"{b.lo}, {offset(axes[0].name, min(b.c - a.c, gen.rng.choice((-1, 0))))}"
        above = f"{offset(axes[0].name, max(b.lo - a.lo, gen.rng.choice((0, 1))))}, {b.hi}"
        intervals[1] = gen.rng.choice((below, above))
    return intervals


def _entry_conditions(gen: Generator, axes: list[Axis], count: int) -> list[str]:
    axis = gen.rng.choice(axes)
    choices = ["", f'Condition({axis.name}, ">", 1)', f'Condition({axis.name} % 2, "==", 0)']
    return [gen.rng.choice(choices) if count > 1 or gen.rng.random() < 0.2 else "" for _ in range(count)]


def write_reduction(
    gen: Generator,
    results: list[Axis],
    axes: list[Axis],
    intervals: list[str],
    dtype: Any,
    target: str,
    entries: list[tuple[str, Text]],
) -> None:
    """Write a Reduction."""
    rng, name, op = gen.rng, gen.fresh("R"), _operation(gen, dtype)
    init = ""
    if rng.random() < 0.3:
        init = f", init={gen.value([gen.plain_atom(results)], dtype, depth=1).text}"
    inner = gen.domain(axes, intervals)
    gen.lines.append(f'{name} = Reduction({gen.domain(results)}, {inner}, {WORDS[dtype]}, "{name}"{init})')
    texts = []
    for condition, value in entries:
        text = f"Reduce({name}({target}), {_tamed(value, op)}, Op.{op})"
        texts.append(f"Case({condition}, {text})" if condition else text)
    gen.lines.append(f"{name}.defn = [{', '.join(texts)}]")
    from tests.differential.random_programs import Source

    gen.sources.append(Source(name, dtype, tuple(a.span for a in results)))


def _tamed(value: Text, op: str) -> str:
    """Products of many factors stay finite."""
    if op == "Mul" and not isinstance(value.dtype, Weak) and value.kind == "f":
        return f"(1 + Sin({value.text}) * 0.25)"
    return value.text


def scatter(gen: Generator) -> None:
    """A reduction into computed elements: sums of variables, strides, halves, constants."""
    from tests.differential.random_programs import INNER_NAMES

    rng, axes = gen.rng, gen.axes(INNER_NAMES)
    if rng.random() < 0.4:
        tap = Axis("v", CONSTANT)
        tap.narrow(0, rng.randint(0, 4))
        if "v" not in [a.name for a in axes]:
            axes.append(tap)
    atoms = gen.atoms(axes, rng.randint(1, 3))
    for axis in axes:
        axis.narrow(0, 10**6)
    forms = [_target(gen, axes) for _ in range(rng.choice((1, 1, 2)))]
    from tests.differential.random_programs import NAMES

    results = []
    for name, (_, span) in zip(NAMES, forms, strict=False):
        results.append(Axis(name, span.kind))
        results[-1].narrow(span.lo, span.c)
    dtype = computed_dtype(rng)
    intervals = [f"{a.span.lo}, {a.span.hi}" for a in axes]
    target = ", ".join(form for form, _ in forms)
    entries = [(_entry_conditions(gen, axes, 1)[0], gen.value(atoms, dtype))]
    if rng.random() < 0.2:
        entries.append((_entry_conditions(gen, axes, 2)[0], gen.value(atoms, dtype)))
    write_reduction(gen, results, axes, intervals, dtype, target, entries)


def _target(gen: Generator, axes: list[Axis]) -> tuple[str, Span]:
    """A form of the variables, and an interval that has all its values."""
    rng, axis = gen.rng, gen.rng.choice(axes)
    span, more = axis.span, rng.choice((0, 0, 1))
    (size, m, d), v = axis.kind, axis.name
    form = rng.choice(("plain", "sum", "double", "half", "constant", "reverse"))
    other = rng.choice(axes)
    if form == "sum" and other is not axis and d == 1:
        if other.kind == CONSTANT:
            return f"{v} + {other.name}", Span(axis.kind, 0, span.c + max(other.span.c, 0) + more)
        if other.kind == axis.kind:
            return f"{v} + {other.name}", Span((size, 2 * m, 1), 0, span.c + other.span.c + more)
    if form == "double" and (m, d) == (1, 1):
        return f"2*{v}", Span((size, 2, 1), 0, 2 * span.c + more)
    if form == "half" and (m, d) == (1, 1):
        return f"{v}//2", Span((size, 1, 2), 0, span.c + more)
    if form == "constant":
        return str(more), Span(CONSTANT, 0, more + 1)
    if form == "reverse" and d == 1:
        return f"{upper(axis.kind, span.c)} - {v}", Span(axis.kind, 0, span.c - span.lo + more)
    return v, Span(axis.kind, span.lo, span.c + more)


def scalar(gen: Generator) -> None:
    """A function without variables, of scalars and of other results without variables."""
    reads = [Text(f"{s.name}()", read_as(s.dtype)) for s in gen.sources if not s.spans]
    atoms = [*reads[-2:], gen.add_scalar()]
    dtype = random_dtype(gen.rng)
    gen.define([], dtype, [gen.value(atoms, dtype).text])


TEMPLATES: list[tuple[Any, int]] = [
    (pointwise, 10),
    (bordered, 4),
    (split, 4),
    (triangle, 3),
    (reduction, 8),
    (scatter, 4),
    (scalar, 1),
]
