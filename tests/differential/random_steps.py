"""Random functions over time, and others that read some of their steps."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Function, Int, Interval, Variable

T, N = pm.Parameter(Int, "T"), pm.Parameter(Int, "N")
ALL_SIZES = tuple({"T": t, "N": n} for t in (0, 1, 2, 5) for n in (0, 1, 2, 5, 8))


@dataclass(frozen=True)
class Steps:
    """Outputs that read steps of one function, and the inputs of all."""

    outputs: list[Any]
    inputs: list[Any]
    dtype: Any
    text: str

    def arrays(self, rng: np.random.Generator, size: int) -> dict[str, Any]:
        """Values for the inputs where N is that size."""
        found = {}
        for each in self.inputs:
            shape = (size,) * len(each.shape)
            values = rng.integers(-9, 10, shape)
            found[each.name] = values.astype(self.dtype.dtype)
        return found


@dataclass
class _Writer:
    rng: random.Random
    space: int
    depth: int
    dtype: Any
    time_last: bool

    def __post_init__(self) -> None:
        self.t = Variable(Int, "t")
        self.x = [Variable(Int, name) for name in "ij"[: self.space]]
        self.last = T + self.depth + 1  # the last step
        self.reach = self.rng.choice((0, 1, 1, 2))
        self.texts: list[str] = []

    def at(self, f: Any, t: Any, x: list[Any]) -> Any:
        """An element of the function of time."""
        return f(*x, t) if self.time_last else f(t, *x)

    def inside(self) -> Any:
        """The condition that all neighbours exist; None where they always do."""
        limits = [Condition(v, ">=", self.reach) & Condition(v, "<=", N - 1 - self.reach) for v in self.x]
        return reduce(and_, limits) if self.reach else None

    def reads(self, f: Any) -> list[Any]:
        """Earlier elements: of steps before, and of the same step where these are written before."""
        found = []
        steps = [self.rng.randint(1, self.depth) for _ in range(self.rng.randint(0, 2))] + [self.depth]
        for step in steps:
            x: list[Any] = [v + self.rng.randint(-self.reach, self.reach) for v in self.x]
            if self.rng.random() < 0.15:
                x[0] = N - 1 - self.x[0]
            if self.rng.random() < 0.1:
                x[-1] = self.x[0]
            found.append(self.at(f, self.t - step, x))
            self.texts.append(f"t-{step}, {x}")
        if self.reach and not self.time_last and self.rng.random() < 0.4:
            shift = self.rng.randint(1, self.reach)
            x = [self.x[0] - shift, *(v + self.rng.randint(-self.reach, self.reach) for v in self.x[1:])]
            if self.space > 1 and self.rng.random() < 0.5:
                x = [self.x[0], self.x[1] - shift]
            found.append(self.at(f, self.t, x))
            self.texts.append(f"t, {x}")
        return found

    def function(self, given: Any) -> Any:
        """The function of time."""
        spans = [Interval(Int, 0, N - 1) for _ in self.x]
        time = Interval(Int, 0, self.last)
        dims, bounds = (
            ([*self.x, self.t], [*spans, time]) if self.time_last else ([self.t, *self.x], [time, *spans])
        )
        f = Function((dims, bounds), self.dtype, "u")
        total: Any = given(*self.x)
        for k, read in enumerate(self.reads(f)):
            total = total + read if k % 2 else total - read
        first, later = Condition(self.t, "<", self.depth), Condition(self.t, ">=", self.depth)
        start = given(*self.x) + self.t
        inside = self.inside()
        if inside is None:
            f.defn = [Case(first, start), Case(later, total)]
            return f
        border = self.rng.choice(("copy", "given", "old"))
        self.texts.append(border)
        beyond = self.at(f, self.t - (1 if border == "copy" else self.depth), list(self.x))
        default = given(*self.x) if border == "given" else beyond
        edges = [Condition(v, "<", self.reach) | Condition(v, ">", N - 1 - self.reach) for v in self.x]
        outside = reduce(or_, edges)
        f.defn = [Case(first, start), Case(later & inside, total), Case(later & outside, default)]
        return f

    def reader(self, f: Any, kind: str, name: str) -> Any:
        """A function that reads some of the steps."""
        spans, s = [Interval(Int, 0, N - 1) for _ in self.x], Variable(Int, "s")
        if kind == "sum":
            steps = Interval(Int, 0, self.last)
            total = pm.Reduction((self.x, spans), ([*self.x, s], [*spans, steps]), self.dtype, name)
            total.defn = [pm.Reduce(total(*self.x), self.at(f, s, list(self.x)), pm.Op.Sum)]
            return total
        if kind in ("several", "whole"):
            length = 2 if kind == "several" else self.last
            out = Function(([s, *self.x], [Interval(Int, 0, length), *spans]), self.dtype, name)
            ends = [self.at(f, self.last - k, list(self.x)) for k in range(3)]
            cases = [Case(Condition(s, "==", k), end + end) for k, end in enumerate(ends)]
            out.defn = cases if kind == "several" else [self.at(f, s, list(self.x))]
            return out
        out = Function((self.x, spans), self.dtype, name)
        step = {"last": self.last, "before": self.last - 1, "early": 1, "first": 0}[kind]
        x: list[Any] = list(self.x)
        if self.rng.random() < 0.2:
            x[-1] = N - 1 - x[-1]
        read = self.at(f, step, x)
        out.defn = [read + read]
        return out


READERS = ("last", "last", "last", "last", "several", "several", "before", "early", "first", "whole", "sum")


def random_steps(seed: int) -> Steps:
    """A function over time with what reads it."""
    rng = random.Random(seed)
    space = rng.choice((1, 1, 1, 2, 2))
    dtype = rng.choice((pm.Long, pm.Double, pm.Long))
    writer = _Writer(rng, space, rng.choice((1, 1, 2, 3)), dtype, rng.random() < 0.15)
    given = pm.Image(dtype, "A", [N] * space)
    f = writer.function(given)
    kinds = [rng.choice(READERS) for _ in range(rng.choice((1, 1, 2)))]
    outputs = [writer.reader(f, kind, f"out{k}") for k, kind in enumerate(kinds)]
    text = f"{writer.texts}, depth {writer.depth}, {'time last, ' * writer.time_last}{kinds}"
    return Steps(outputs, [given], dtype, text)


def differences(steps: Steps, cflags: tuple[str, ...] = ("-O1",)) -> list[str]:
    """Where compiled code and the interpreter differ, on one thread and two; nothing where they do not."""
    options = [pm.Options(cflags=cflags, parallel_threshold=0, threads=threads) for threads in (1, 2)]
    programs = [
        pm.compile(steps.outputs, name="steps", inputs=steps.inputs, options=each) for each in options
    ]
    rng, found = np.random.default_rng(0), []
    for sizes in ALL_SIZES:
        arrays = steps.arrays(rng, sizes["N"])
        expected = programs[0].reference(**arrays, T=sizes["T"])
        for threads, program in enumerate(programs, 1):
            actual = program(**arrays, T=sizes["T"])
            if not _alike(actual, expected):
                found.append(f"{sizes}, {threads} threads: {steps.text}")
    return found


def _alike(actual: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return all(map(_alike, actual, expected))
    if expected.dtype.kind == "i":
        return bool(np.array_equal(actual, expected))
    largest = float(np.max(np.abs(expected), initial=1.0))
    return bool(np.allclose(actual, expected, rtol=0, atol=1e-12 * largest))
