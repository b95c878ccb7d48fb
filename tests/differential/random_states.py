"""Random iterations: steps of one state or several, written by index or on whole arrays, and what is kept of them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Clamp, Condition, Function, Int, Interval, Long, Op, Reduce, Reduction

M, N, T = (pm.Parameter(Int, name) for name in "MNT")
i, j = (pm.Variable(Int, name) for name in "ij")
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
SHAPES = ((0, 3), (3, 0), (1, 1), (3, 3), (7, 8), (17, 33))
STEPS = (0, 1, 2, 9)
LARGEST = 1023  # of integers


@dataclass(frozen=True)
class States:
    """Outputs of an iteration and all inputs; fewest: steps that it takes at least."""

    outputs: list[Any]
    inputs: list[Any]
    dtype: Any
    fewest: int

    def arrays(self, rng: np.random.Generator, rows: int, columns: int) -> dict[str, Any]:
        """Values for all inputs."""
        found = {}
        for each in self.inputs:
            shape = (rows, columns)[2 - each.rank :]
            values = rng.integers(-9, 10, shape) if self.dtype == Long else rng.standard_normal(shape)
            found[each.name] = values.astype(self.dtype.dtype)
        return found


class _Draw:
    """Draws one iteration, whose states are matrices and vectors."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.dtype = rng, rng.choice((Long, pm.Double, pm.Double, pm.Float))
        self.ranks = [rng.choice((2, 2, 2, 1)) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        makers = {1: (pm.Vector, [N]), 2: (pm.Matrix, [M, N])}
        given = [(*makers[rank], number) for number, rank in enumerate(self.ranks)]
        self.inputs = [make(self.dtype, f"A{number}", shape) for make, shape, number in given]
        self.given = pm.Matrix(self.dtype, "given", [M, N])

    def states(self) -> States:
        """The iteration."""
        rng, count = self.rng, len(self.ranks)
        numbered = rng.random() < 0.3

        def step(*before: Any) -> Any:
            number = before[count] if numbered else None
            after = tuple(self.after(each, before[:count], number) for each in range(count))
            return after[0] if count == 1 else after

        takers: dict[int, Any] = {  # how many arguments a step takes says whether it wants its number
            1: lambda a: step(a),
            2: lambda a, b: step(a, b),
            3: lambda a, b, c: step(a, b, c),
            4: lambda a, b, c, d: step(a, b, c, d),
        }
        taken = takers[count + numbered]
        kept: dict[str, Any] = rng.choice(
            ({}, {}, {}, {"keep": 2}, {"keep": 3}, {"every": rng.randint(1, 5)})
        )
        found = pm.iterate(taken, self.inputs[0] if count == 1 else self.inputs, steps=T, **kept)
        outputs = [found] if count == 1 else [*found]
        if count > 1 and rng.random() < 0.3:
            outputs = outputs[:1]
        return States(outputs, [*self.inputs, self.given], self.dtype, kept.get("keep", 1) - 1)

    def after(self, state: int, before: Any, number: Any) -> Any:
        """A state of the next step."""
        if self.ranks[state] == 1:
            return self.vector(state, before, number)
        return self.field(state, before, number) if self.rng.random() < 0.7 else self.whole(state, before)

    def field(self, state: int, before: Any, number: Any) -> Function:
        """A matrix by index, of elements near by, and of its own where it is swept over; with borders."""
        rng, reach = self.rng, self.rng.choice((0, 1, 1, 1, 2))

        def near() -> int:
            return rng.randint(-reach, reach)

        made = Function(([i, j], [ROWS, COLUMNS]), self.dtype, f"field{state}")
        terms = []
        for _ in range(rng.randint(1, 4)):
            other = rng.randrange(len(self.ranks))
            row = [i + near()] if self.ranks[other] == 2 else []
            terms.append(before[other](*row, j + near()))
        if reach and rng.random() < 0.35:
            steps = ((-1, 0), (0, -1), (-1, -1), (-1, 1), (0, 1), (1, 0), (1, -1))
            down, right = rng.choice(steps)
            terms.append(made(i + down, j + right))
        value = self.mixed(terms, number)
        if not reach:
            made.defn = [value]
            return made
        rows, columns = ((each - reach, size - 1 - reach - each) for each, size in ((i, M), (j, N)))
        inner, outer = (Condition(rows[0], ">=", 0), Condition(rows[0], "<", 0))
        for apart in (rows[1], *columns):
            inner, outer = inner & Condition(apart, ">=", 0), outer | Condition(apart, "<", 0)
        border = before[state](i, j) if rng.random() < 0.7 else self.given(i, j)
        made.defn = [Case(inner, value), Case(outer, border)]
        return made

    def whole(self, state: int, before: Any) -> Any:
        """A matrix by operations on whole arrays."""
        found = before[state]
        for _ in range(self.rng.randint(0, 2)):
            other = self.rng.choice(before)
            found = found + other if self.rng.random() < 0.7 else found - other
        return found * 2 & LARGEST if self.dtype == Long else found * 0.5

    def vector(self, state: int, before: Any, number: Any) -> Function:
        """A vector: of sums or extremes of columns, of its own elements before, or turned around."""
        rng, made = self.rng, Function(([j], [COLUMNS]), self.dtype, f"vector{state}")
        own, matrices = before[state], [k for k, rank in enumerate(self.ranks) if rank == 2]
        match rng.randrange(4):
            case 0 if matrices:
                total = Reduction(([j], [COLUMNS]), ([i, j], [ROWS, COLUMNS]), self.dtype, f"total{state}")
                value = before[rng.choice(matrices)](i, j)
                total.defn = [Reduce(total(j), value, rng.choice((Op.Sum, Op.Max, Op.Min)))]
                value = total(j) if self.dtype == Long else Clamp(total(j), -8.0, 8.0)
                made.defn = [self.mixed([value, own(j)], number)]
            case 1:
                later = self.mixed([made(j - 1), own(j)], number)
                made.defn = [Case(Condition(j, ">=", 1), later), Case(Condition(j, "<", 1), own(j))]
            case 2:
                made.defn = [self.mixed([own(N - 1 - j), own(j)], number)]
            case _:
                made.defn = [self.mixed([own(j)], number)]
        return made

    def mixed(self, terms: list[Any], number: Any) -> Any:
        """A value of some others, that does not grow; of the number of the step, too, if there is one."""
        rng, found = self.rng, terms[0]
        counted = number is not None and rng.random() < 0.5
        if self.dtype == Long:
            for each in terms[1:]:
                found = rng.choice(
                    (found + each, found - each, 3 * found + each, pm.Max(found, each), found ^ each)
                )
            return (found + number if counted else found) & LARGEST
        share = 0.9 / len(terms)
        found = share * found
        for each in terms[1:]:
            found = found + share * each if rng.random() < 0.8 else pm.Min(found, share * each)
        found = found / (1.5 + terms[0] * terms[0]) if rng.random() < 0.25 else found
        return found + pm.Cast(self.dtype, number) * 0.001 if counted else found


def random_states(seed: int) -> States:
    """The iteration of a seed."""
    return _Draw(random.Random(f"states {seed}")).states()


def differences(states: States, options: pm.Options, seed: int) -> list[str]:
    """Where compiled code and the interpreter differ, also with results in place of inputs; nothing otherwise."""
    compiled, found = pm.compile(states.outputs, name="states", options=options), []
    names = {array.name for array in compiled.signature.inputs}
    hidden = [each.name for each in compiled.signature.sizes if each.array < 0]
    for rows, columns in SHAPES:
        for steps in (each for each in STEPS if each >= states.fewest):
            sizes = {"M": rows, "N": columns, "T": steps}
            arrays = states.arrays(np.random.default_rng([seed, rows, columns]), rows, columns)
            arrays = {name: values for name, values in arrays.items() if name in names}
            known = {name: sizes[name] for name in hidden}
            expected = _tuple(compiled.reference(**arrays, **known))
            found += _wrong(states, _tuple(compiled(**arrays, **known)), expected, f"{sizes}")
            free = [values.copy() for values in arrays.values()]
            taken = dict(zip(arrays, free, strict=True))
            out = tuple(_place(values, free) for values in expected)
            compiled(**taken, **known, out=out if len(out) > 1 else out[0])
            found += _wrong(states, out, expected, f"{sizes}, in place")
    return found


def _place(values: Any, free: list[Any]) -> Any:
    """The first array that fits a result, which then is no longer free; a new one where there is none."""
    for number, each in enumerate(free):
        if each.shape == values.shape:
            return free.pop(number)
    return np.empty_like(values)


def _wrong(states: States, found: Any, expected: Any, where: str) -> list[str]:
    error = {Long: 0.0, pm.Float: 1e-4}.get(states.dtype, 1e-10)
    pairs = enumerate(zip(found, expected, strict=True))
    return [
        f"{states.outputs[number]} at {where}: {one} instead of {other}"
        for number, (one, other) in pairs
        if not np.allclose(one, other, rtol=error, atol=error)
    ]


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)
