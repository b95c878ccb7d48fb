"""Random pipelines from a seed, as program text that polymat and the oracle both run.

`python -m tests.differential.random_programs --seed S --index K` shows one program and runs it again.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.differential.expressions import (
    WORDS,
    Expressions,
    Text,
    computed_dtype,
    converted,
    random_dtype,
    read_as,
)
from tests.differential.recurrences import RECURRENCES
from tests.differential.spans import CONSTANT, Axis, Span, access, can_read, reader_kinds, upper

NAMES = ("i", "j", "k", "l", "m")
INNER_NAMES = ("r", "s", "t", "u", "v")
SIZES = (0, 1, 2, 3, 5, 5, 7, 7, 8, 8, 11, 11, 13, 13, 16, 17, 19)
SMALL_SIZES = (0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7)
HEAD = "\n".join(f'{n} = Variable({"Long" if n == "l" else "Int"}, "{n}")' for n in NAMES + INNER_NAMES)


@dataclass(frozen=True)
class Source:
    """An array that later definitions may read; `guard` limits reads to part of the box."""

    name: str
    dtype: Any
    spans: tuple[Span, ...]
    guard: str = ""
    is_input: bool = False

    @property
    def can_be_output(self) -> bool:
        """Whether no lower bound is negative."""
        return not self.is_input and all(span.lo >= 0 for span in self.spans)


@dataclass(frozen=True)
class Program:
    """One random pipeline: its text, what it is called with, and the names of its outputs."""

    seed: int
    index: int
    text: str
    arrays: dict[str, Any]
    numbers: dict[str, Any]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        shapes = ", ".join(f"{name}{list(a.shape)}" for name, a in self.arrays.items())
        again = f"python -m tests.differential.random_programs --seed {self.seed} --index {self.index}"
        return f"# {again}\n{self.text}\n# outputs {self.outputs}\n# called with {shapes} {self.numbers}"


@dataclass
class Generator:
    """Writes one program."""

    rng: random.Random
    prefix: str
    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)
    shapes: dict[str, tuple[Any, list[str]]] = field(default_factory=dict)
    sizes: list[str] = field(default_factory=list)
    count: int = 0

    def fresh(self, letter: str) -> str:
        """A name nobody has."""
        self.count += 1
        return f"{self.prefix}{letter}{self.count}"

    # ---- what the program is called with ----

    def add_size(self, values: tuple[int, ...]) -> None:
        """A size parameter."""
        name = self.fresh("N")
        self.lines.append(f'{name} = Parameter({self.rng.choice(("Int", "Long"))}, "{name}")')
        self.numbers[name] = self.rng.choice(values)
        self.sizes.append(name)

    def add_scalar(self) -> Text:
        """A run-time scalar."""
        name, dtype = self.fresh("a"), computed_dtype(self.rng)
        self.lines.append(f'{name} = Parameter({WORDS[dtype]}, "{name}")')
        value = self.rng.randint(0, 9) if dtype.kind in "iu" else self.rng.choice((0.5, 1.25, -0.75, 2.0))
        self.numbers[name] = dtype.type(value).item()
        return Text(name, np.dtype(np.int64) if dtype.kind in "iu" else dtype)

    def add_input(self, rank: int, dtype: Any = None, spans: tuple[Span, ...] | None = None) -> Source:
        """An input array."""
        rng, name = self.rng, self.fresh("A")
        dtype = random_dtype(rng) if dtype is None else dtype
        if spans is None:
            spans = tuple(self._input_span() for _ in range(rank))
        word = {1: "Vector", 2: "Matrix"}.get(rank, "Image") if rng.random() < 0.7 else "Image"
        extents = [upper(span.kind, span.c + span.kind[2]) for span in spans]
        self.lines.append(f'{name} = {word}({WORDS[dtype]}, "{name}", [{", ".join(extents)}])')
        self.shapes[name] = (dtype, extents)
        source = Source(name, dtype, spans, is_input=True)
        self.sources.append(source)
        return source

    def _input_span(self) -> Span:
        rng = self.rng
        if rng.random() < 0.12:
            return Span(CONSTANT, 0, rng.randint(0, 4))
        size = rng.choice(self.sizes)
        if rng.random() < 0.1:
            return Span((size, 2, 1), 0, rng.randint(-1, 1))
        return Span((size, 1, 1), 0, rng.choice((-1, -1, 0, 1)))

    # ---- reads ----

    def axes(self, names: tuple[str, ...] = NAMES) -> list[Axis]:
        """Variables for the dimensions of a random array, possibly transposed, strided or refined."""
        rng = self.rng
        lead = rng.choice([s for s in self.sources if s.spans and not s.guard])
        spans = list(lead.spans)
        rng.shuffle(spans) if rng.random() < 0.3 else None
        kinds = [span.kind if rng.random() < 0.7 else rng.choice(list(reader_kinds(span))) for span in spans]
        axes = [Axis(name, kind) for name, kind in zip(rng.sample(names, len(kinds)), kinds, strict=True)]
        for axis, span in zip(axes, spans, strict=True):
            access(rng, span, axis)
        return axes

    def read(self, source: Source, axes: list[Axis]) -> Text | None:
        """A read of an array at forms of the axes; None where they do not fit."""
        chosen = []
        for span in source.spans:
            fitting = [axis for axis in axes if can_read(span, axis)]
            if span.kind == CONSTANT and span.c >= span.lo and (not fitting or self.rng.random() < 0.5):
                chosen.append(str(self.rng.randint(span.lo, span.c)))
            elif fitting:
                form = access(self.rng, span, self.rng.choice(fitting))
                if form is None:
                    return None
                chosen.append(form)
            else:
                return None
        return Text(f"{source.name}({', '.join(chosen)})", read_as(source.dtype))

    def atoms(self, axes: list[Axis], count: int) -> list[Text]:
        """Reads, and sometimes a variable or a scalar."""
        rng = self.rng
        open_sources = [s for s in self.sources if not s.guard]
        recent = open_sources[-3:]
        tried = [
            self.read(rng.choice(recent if rng.random() < 0.5 else open_sources), axes) for _ in range(count)
        ]
        found = [atom for atom in tried if atom is not None]
        if rng.random() < 0.25 or not found:
            found.append(self.plain_atom(axes))
        return found

    def plain_atom(self, axes: list[Axis]) -> Text:
        """A variable, a size, a scalar or a typed literal."""
        rng, choice = self.rng, self.rng.random()
        if axes and choice < 0.5:
            axis = rng.choice(axes)
            return Text(axis.name, np.dtype(np.int64))
        if choice < 0.9:
            return self.add_scalar()
        return Text("Cast(Float, 3)", np.dtype(np.float32))

    def value(self, atoms: list[Text], dtype: Any = None, depth: int | None = None) -> Text:
        """A random expression over atoms, storable as dtype."""
        made = Expressions(self.rng, atoms).make(self.rng.randint(1, 3) if depth is None else depth)
        return made if dtype is None else converted(made, dtype)

    # ---- definitions ----

    def domain(self, axes: list[Axis], intervals: list[str] | None = None) -> str:
        """`([i, j], [Interval(...), ...])`."""
        if intervals is None:
            intervals = [f"{a.span.lo}, {a.span.hi}" for a in axes]
        inside = ", ".join(f"Interval(Int, {text})" for text in intervals)
        return f"([{', '.join(a.name for a in axes)}], [{inside}])"

    def keep_nonnegative(self, axes: list[Axis]) -> None:
        """Mostly start at 0 or later, so that the stage can be an output."""
        for axis in axes:
            if self.rng.random() < 0.75:
                axis.narrow(0, 10**6)

    def define(
        self,
        axes: list[Axis],
        dtype: Any,
        entries: list[str],
        intervals: list[str] | None = None,
        default: str = "",
        guard: str = "",
    ) -> Source:
        """Write a function."""
        name = self.fresh("f")
        more = f", default={default}" if default else ""
        self.lines.append(
            f'{name} = Function({self.domain(axes, intervals)}, {WORDS[dtype]}, "{name}"{more})'
        )
        self.lines.append(f"{name}.defn = [{', '.join(entries)}]")
        source = Source(name, dtype, tuple(a.span for a in axes), guard)
        self.sources.append(source)
        return source


def program(seed: int, index: int) -> Program:
    """The program number `index` of a seed."""
    from tests.differential.templates import TEMPLATES

    rng = random.Random(f"{seed}/{index}")
    gen = Generator(rng, f"p{index}_")
    small = rng.random() < 0.3
    for _ in range(rng.choice((1, 1, 2))):
        gen.add_size(SMALL_SIZES if small else SIZES)
    for _ in range(rng.randint(1, 3)):
        gen.add_input(rng.choice((1, 2, 3, 3)) if small else rng.choice((1, 1, 2, 2)))
    templates, weights = zip(*[*TEMPLATES, *RECURRENCES], strict=True)
    for _ in range(rng.randint(1, 5)):
        rng.choices(templates, weights)[0](gen)
    if not any(source.can_be_output for source in gen.sources):
        TEMPLATES[0][0](gen, nonnegative=True)
    candidates = [source.name for source in gen.sources if source.can_be_output]
    outputs = [name for name in candidates[:-1] if rng.random() < 0.35] + candidates[-1:]
    rng.shuffle(outputs)
    return Program(seed, index, "\n".join(gen.lines), _arrays(gen, rng), gen.numbers, tuple(outputs))


def _arrays(gen: Generator, rng: random.Random) -> dict[str, Any]:
    """Data for the inputs."""
    data = np.random.default_rng(rng.getrandbits(32))
    arrays = {}
    for name, (dtype, extents) in gen.shapes.items():
        shape = [max(eval(text, dict(gen.numbers)), 0) for text in extents]
        arrays[name] = random_array(data, dtype, shape)
    return arrays


def random_array(data: np.random.Generator, dtype: Any, shape: list[int]) -> Any:
    """Small values mostly; sometimes the whole range of an integer type, NaN and infinity."""
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -9
        wide = data.random() < 0.15
        limits = np.iinfo(dtype)
        bounds = (limits.min, limits.max) if wide else (low, 9)
        return data.integers(*bounds, shape, dtype=dtype, endpoint=True)
    values = data.uniform(-2, 2, shape)
    if data.random() < 0.4:
        values = np.round(values * 4) / 4
    if dtype.kind == "c":
        return (values + 1j * data.uniform(-2, 2, shape)).astype(dtype)
    if data.random() < 0.06:
        special = data.choice([np.nan, np.inf, -np.inf, -0.0], shape)
        values = np.where(data.random(shape) < 0.1, special, values)
    return values.astype(dtype)


def main() -> int:
    """Show one program and run it under every variant."""
    from tests.differential.compare import VARIANTS, failures

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--index", type=int, required=True)
    arguments = parser.parse_args()
    made = program(arguments.seed, arguments.index)
    sys.stdout.write(f"{made}\n")
    status = 0
    for word, variant in VARIANTS.items():
        found = failures([made], variant)
        sys.stdout.write(f"{word}: {'ok' if not found else found[0]}\n")
        status |= bool(found)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
