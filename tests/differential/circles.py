"""Random systems of functions that read each other over time, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Reduce, Reduction

T, N = pm.Parameter(Int, "T"), pm.Parameter(Int, "N")
t, i, k = (pm.Variable(Int, name) for name in "tik")
POINTS = Interval(Int, 0, N - 1)


@dataclass(frozen=True)
class System:
    """A random system.

    lag: how far back it reads at most.  backwards: time runs from T down.  inside: time is the second index.
    """

    outputs: Sequence[Function]
    inputs: Sequence[pm.Vector]
    lag: int
    backwards: bool


class Draw:
    """Draws one system; every field is initial at the first `lag` times."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.lag = int(rng.integers(1, 3))
        self.backwards = bool(rng.random() < 0.25)
        self.times = Interval(Int, 0, T)
        count = int(rng.integers(2, 5))
        self.start = [pm.Vector(Double, f"x{n}", [N]) for n in range(count)]
        self.second = [bool(rng.random() < 0.25) for _ in range(count)]
        self.fields = [self._declared(n) for n in range(count)]
        self.sums = [
            Reduction(([t], [self.times]), ([t, k], [self.times, POINTS]), Double, f"s{n}") for n in (0, 1)
        ]

    def system(self) -> System:
        """Define all of it."""
        for n, field in enumerate(self.fields):
            self._define(n, field)
        for n, total in enumerate(self.sums):
            source = int(self.rng.integers(0, len(self.fields) - 1 if n == 0 else len(self.fields)))
            total.defn = [Reduce(total(t), self._read(source, t, k) * 0.25, Op.Sum)]
        return System(self._outputs(), self.start, self.lag, self.backwards)

    def _declared(self, number: int) -> Function:
        dims, spans = [t, i], [self.times, POINTS]
        if self.second[number]:
            dims, spans = dims[::-1], spans[::-1]
        return Function((dims, spans), Double, f"f{number}")

    def _read(self, number: int, time: Any, index: Any) -> Any:
        place = (index, time) if self.second[number] else (time, index)
        return self.fields[number](*place)

    def _before(self, distance: int) -> Any:
        return t + distance if self.backwards else t - distance

    def _define(self, number: int, field: Function) -> None:
        """A sum of reads of any field before, of those before it at the same time, and of sums."""
        initial = Condition(t, ">", T - self.lag) if self.backwards else Condition(t, "<", self.lag)
        later = Condition(t, "<=", T - self.lag) if self.backwards else Condition(t, ">=", self.lag)
        inner = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
        value: Any = 0.1
        for _ in range(int(self.rng.integers(1, 4))):
            value = value + 0.3 * self._read(*self._source(number), i + int(self.rng.integers(-1, 2)))
        edge = 0.5 * self._read(*self._source(number), i)
        if self.rng.random() < 0.5:
            edge = edge + 0.1 * self.sums[1](self._before(self.lag))
        if number == len(self.fields) - 1:
            value = value + 0.1 * self.sums[0](t) + 0.2 * self._read(0, t, i)
        if number == 0:
            value = value + 0.2 * self._read(len(self.fields) - 1, self._before(self.lag), i)
        field.defn = [
            Case(initial, self.start[number](i)),
            Case(later & inner, value),
            Case(later & Condition(i, "<=", 0), edge),
            Case(later & Condition(i, ">=", 1) & Condition(i, ">", N - 2), edge * 0.5),
        ]

    def _source(self, number: int) -> tuple[int, Any]:
        other = int(self.rng.integers(0, len(self.fields)))
        least = 0 if other < number else 1
        return other, self._before(int(self.rng.integers(least, self.lag + 1)))

    def _outputs(self) -> list[Function]:
        """The last state of each field, some whole fields, and the sums."""
        outputs: list[Function] = []
        end = 0 if self.backwards else T
        for number in range(len(self.fields)):
            if self.rng.random() < 0.25:
                outputs.append(self.fields[number])
            else:
                last = Function(([i], [POINTS]), Double, f"last{number}")
                last.defn = [self._read(number, end, i) + 1.0]
                outputs.append(last)
        return [*outputs, self.sums[1]]


def draw(seed: int) -> System:
    """The system of a seed."""
    return Draw(np.random.default_rng(seed)).system()
