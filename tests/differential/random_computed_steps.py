"""Random systems over time whose functions read, sum up and add to elements of earlier steps where data say."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polymat as pm
from polymat import (
    Case,
    Cast,
    Clamp,
    Condition,
    Function,
    Int,
    Interval,
    Long,
    Op,
    Reduce,
    Reduction,
    Variable,
)

T, N, M = (pm.Parameter(Int, name) for name in "TNM")
BINS = 5
ALL_SIZES = tuple(
    {"T": t, "N": n, "M": m}
    for t, n, m in ((0, 3, 4), (3, 0, 0), (1, 1, 2), (4, 7, 0), (5, 8, 29), (6, 17, 40))
)
i, k, b, s, t = (Variable(Int, name) for name in "ikbst")
POINTS, PLACES = Interval(Int, 0, N - 1), Interval(Int, 0, BINS - 1)


def inputs() -> dict[str, Any]:
    """The inputs of all systems, by name."""
    return {
        "start": pm.Vector(Long, "start", [N]),
        "rule": pm.Vector(Long, "rule", [8]),
        "row": pm.Vector(Int, "row", [N + 1], values=(0, M), sorted=True),
        "column": pm.Vector(Int, "column", [M], values=(0, N - 1)),
        "weight": pm.Vector(Long, "weight", [M]),
        "jump": pm.Vector(Int, "jump", [N]),
    }


def arrays(rng: np.random.Generator, n: int, m: int) -> dict[str, Any]:
    """Values for all inputs."""
    return {
        "start": rng.integers(-9, 10, n),
        "rule": rng.integers(-9, 10, 8),
        "row": np.sort(rng.integers(0, m + 1, n + 1, dtype=np.int32)),
        "column": rng.integers(0, max(n, 1), m, dtype=np.int32),
        "weight": rng.integers(-3, 4, m),
        "jump": rng.integers(-9, 30, n, dtype=np.int32),
    }


@dataclass
class _Writer:
    """One system: states over (t, i), and sums at each step; every one is read one or two steps later.

    made: sums of the same step, each with whether it has an element a bin or a point.
    """

    rng: random.Random
    prefix: str
    given: dict[str, Any]
    depth: int = 1
    states: list[Any] = field(default_factory=list)
    made: list[tuple[Any, bool]] = field(default_factory=list)

    def place(self, data: Any) -> Any:
        """The index of a point, of data at i."""
        value = self.rng.choice((self.given["jump"](i), Cast(Int, data & 31), Cast(Int, data) + i))
        match self.rng.randrange(4):
            case 0:
                return Clamp(i + Clamp(value, -2, 2), 0, N - 1)
            case 1:
                return N - 1 - Clamp(value, 0, N - 1)
            case _:
                return Clamp(value, 0, N - 1)

    def earlier(self, at: Any) -> Any:
        """A state of an earlier step."""
        return self.rng.choice(self.states)(t - self.rng.randint(1, self.depth), at)

    def bin(self, value: Any) -> Any:
        """The number of a bin."""
        return self.rng.choice((Cast(Int, value % BINS), Clamp(Cast(Int, value), 0, BINS - 1)))

    def sums(self) -> None:
        """Sums of earlier states, of a step of their own."""
        name, time = f"{self.prefix}r{len(self.made)}", Interval(Int, self.depth, T + self.depth)
        op = self.rng.choice((Op.Sum, Op.Sum, Op.Max, Op.Min))
        start: dict[str, Any] = {"init": 0} if self.rng.random() < 0.5 else {}
        if self.rng.random() < 0.5:
            inside = Interval(Int, self.given["row"](i), self.given["row"](i + 1) - 1)
            made = Reduction(
                ([t, i], [time, POINTS]), ([t, i, k], [time, POINTS, inside]), Long, name, **start
            )
            value = self.given["weight"](k) + self.earlier(self.given["column"](k))
            made.defn = [Reduce(made(t, i), value & 1023, op)]
            self.made.append((made, False))
            return
        made = Reduction(([t, b], [time, PLACES]), ([t, i], [time, POINTS]), Long, name, **start)
        where = self.earlier(i) if self.rng.random() < 0.7 else Cast(Long, self.given["jump"](i))
        made.defn = [Reduce(made(t, self.bin(where)), self.earlier(i) & 1023, op)]
        self.made.append((made, True))

    def value(self, state: Any) -> Any:
        """What a state is at a later step."""
        rng, total = self.rng, self.earlier(self.place(self.earlier(i)))
        for sums, of_bins in self.made:
            total = total - sums(t, self.bin(self.earlier(i)) if of_bins else i)
        if rng.random() < 0.4:
            total = total + self.given["rule"](Cast(Int, self.earlier(i) & 7))
        if rng.random() < 0.4:
            total = total ^ self.earlier(i)
        if rng.random() < 0.15:  # at a step that data say
            total = total + state(t - Clamp(self.given["jump"](i), 1, self.depth), i)
        if rng.random() < 0.2:  # a point before this one, of the same step
            before = state(t, Clamp(self.given["jump"](i), 0, i - 1))
            total = total + pm.Select(Condition(i, ">", 0), before, 0)
        return total & 0xFFFF

    def system(self) -> list[Any]:
        """The states, and what reads some of their steps."""
        rng, time = self.rng, Interval(Int, 0, T + self.depth)
        names = [f"{self.prefix}u{n}" for n in range(rng.choice((1, 1, 2)))]
        self.states += [Function(([t, i], [time, POINTS]), Long, name) for name in names]
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.sums()
        for state in self.states:
            begin = Case(Condition(t, "<", self.depth), self.given["start"](i) + t)
            state.defn = [begin, Case(Condition(t, ">=", self.depth), self.value(state))]
        return [self.reader(n) for n in range(rng.choice((1, 1, 2)))]

    def follower(self, state: Any, name: str) -> Any:
        """A recurrence that no state needs."""
        found = Function(([t, i], [Interval(Int, 0, T), POINTS]), Long, name)
        at = self.rng.choice((i, Clamp(self.given["jump"](i), 0, N - 1)))
        later = found(t - 1, i) + state(t + self.rng.randint(0, self.depth), at) * 2
        found.defn = [Case(Condition(t, "==", 0), self.given["start"](i)), Case(Condition(t, ">=", 1), later)]
        return found

    def reader(self, number: int) -> Any:
        """What reads some of the steps."""
        state, name = self.rng.choice(self.states), f"{self.prefix}out{number}"
        out = Function(([i], [POINTS]), Long, name)
        match self.rng.randrange(6):
            case 0:
                total = Reduction(([i], [POINTS]), ([i, s], [POINTS, Interval(Int, 0, T)]), Long, name)
                total.defn = [Reduce(total(i), state(s, i), Op.Sum)]
                return total
            case 1:
                out.defn = [state(T, self.place(self.given["start"](i)))]
            case 2:
                out.defn = [state(Clamp(self.given["jump"](i), 0, T), i)]
            case 3:
                out.defn = [self.follower(state, f"{name}f")(T, i)]
            case _:
                out.defn = [state(T + self.depth, i) * 2]
        return out


def random_systems(seed: int, count: int) -> list[Any]:
    """The outputs of several systems, for one compilation."""
    given, outputs = inputs(), []
    for number in range(count):
        rng = random.Random(f"computed steps {seed} {number}")
        outputs += _Writer(rng, f"p{number}_", given, rng.choice((1, 1, 2))).system()
    return outputs


def differences(outputs: list[Any], options: pm.Options, seed: int) -> list[str]:
    """Where compiled code and the interpreter differ, at all sizes; nothing where they do not."""
    compiled, found = pm.compile(outputs, options=options, name="systems"), []
    for sizes in ALL_SIZES:
        given = arrays(np.random.default_rng(seed), sizes["N"], sizes["M"])
        known = {array.name: given[array.name] for array in compiled.signature.inputs}
        known |= {size.name: sizes[size.name] for size in compiled.signature.sizes if size.array < 0}
        results, expected = compiled(**known), compiled.reference(**known)
        several = isinstance(results, tuple)
        pairs = zip(results, expected, strict=True) if several else [(results, expected)]
        for output, (result, right) in zip(outputs, pairs, strict=True):
            if not np.array_equal(result, right):
                found.append(f"{output.name} at {sizes}: {result} instead of {right}")
    return found
