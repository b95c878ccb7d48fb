"""Random eliminations: at each step, some of a column in front changes all columns behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

import polymat as pm
from polymat import Case, Clamp, Condition, Double, Function, Int, Interval, Long, Op, Reduce, Reduction
from polymat.decide import waitingsteps

T, M, C = (pm.Parameter(Int, name) for name in "TMC")
k, i, j, r = (pm.Variable(Int, name) for name in "kijr")
STEPS, ROWS = Interval(Int, 0, T), Interval(Int, 0, M - 1)
COLUMNS = Interval(Int, 0, C - 1)
EXTENTS: dict[Any, Any] = {k: STEPS, i: ROWS, j: COLUMNS}
WAIT = "wait for"
ALL_SIZES = tuple(
    {"T": steps, "M": rows, "C": steps + more}
    for steps in (0, 1, 6, 21, 40)
    for rows, more in ((1, 2), (2, 7), (9, 19), (17, 4), (0, 2))
)


@dataclass
class Eliminations:
    """Outputs and inputs of a random program; text: what was drawn."""

    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    text: str = ""

    def arrays(self, rng: np.random.Generator, sizes: dict[str, int]) -> dict[str, Any]:
        """Random numbers of either sign."""
        columns = sizes["C"]
        shapes = {"x": (sizes["M"], columns), "y": (columns, sizes["M"]), "c": (columns,)}
        return {each.name: rng.standard_normal(shapes[each.name]) for each in self.inputs}


class _Draw:
    """Draws one program: a matrix over time, its dimensions in some order, and what is made of its columns."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2))  # in others the columns are taken for the steps
        self.order = orders[int(rng.integers(0, len(orders)))]
        self.x, self.y = pm.Matrix(Double, "x", [M, C]), pm.Matrix(Double, "y", [C, M])
        self.c = pm.Vector(Double, "c", [C])
        self.front = int(rng.integers(-1, 2))  # of the column that is in front, behind the step
        dims = [(k, i, j)[p] for p in self.order]
        self.a = Function((dims, [EXTENTS[each] for each in dims]), Double, "a")
        self.drawn = [f"order {self.order}", f"front {self.front}"]

    def some(self, what: str, share: float = 0.5) -> bool:
        """Whether something is so, which is noted."""
        found = bool(self.rng.random() < share)
        if found:
            self.drawn.append(what)
        return found

    def at(self, *index: Any) -> Any:
        """The matrix at a step, row and column."""
        return self.a(*(index[p] for p in self.order))

    def program(self) -> Eliminations:
        """Define all of it; inputs are those that are read, in a fixed order."""
        head = k + self.front if self.front >= 0 else k
        scale = Reduction(([k], [STEPS]), ([k, i], [STEPS, ROWS]), Double, "scale")
        scale.defn = [Reduce(scale(k), pm.Abs(self.at(k, i, head)), Op.Sum)]
        q = Function(([i, k] if self.some("turned q") else [k, i], self._two()), Double, "q")
        turned = "turned q" in self.drawn

        def left(row: Any, step: Any) -> Any:
            return q(row, step) if turned else q(step, row)

        q.defn = [self.at(k, i, head) / (scale(k) + 1.0)]
        p = Reduction(([k, j], [STEPS, COLUMNS]), ([k, j, r], [STEPS, COLUMNS, ROWS]), Double, "p")
        p.defn = [Reduce(p(k, j), left(r, k) * self.at(k, r, j), Op.Sum)]
        right = p(k - 1, j) if self.some("sums", 0.6) else 0.5 * self.at(k - 1, 0, j)
        before = self.at(k - 1, i, j)
        if self.some("turned rows", 0.3):
            before = 0.5 * (before + self.at(k - 1, M - 1 - i, j))
        if self.some("pivots", 0.4):
            pivot = Reduction(([k], [STEPS]), ([k, i], [STEPS, ROWS]), Long, "pivot")
            pivot.defn = [Reduce(pivot(k), pm.Abs(self.at(k, i, head)), Op.ArgMax)]
            before = 0.5 * (before + self.at(k - 1, Clamp(pivot(k - 1), 0, M - 1), j))
        value = before - left(i, k - 1) * right * 0.5 + 0.125 * self.c(j)
        if self.some("old columns", 0.3) and "copies" not in self.drawn:
            self.drawn.append("copies")
            value = value - 0.25 * self.at(k - 1, i, k - 1)
        first, later = Condition(k, "==", 0), Condition(k, ">=", 1)
        start = self.x(i, j) if self.some("x") else self.y(j, i)
        self.a.defn = [Case(first, start), Case(later, value)]
        if self.some("copies", 0.4) or "copies" in self.drawn:
            behind = Condition(j, ">=", k)
            copied = Case(later & Condition(j, "<", k), self.at(k - 1, i, j))
            self.a.defn = [Case(first, start), Case(later & behind, value), copied]
        outputs = self._outputs(p, q, left)
        return Eliminations(outputs, [self.x if "x" in self.drawn else self.y, self.c], ", ".join(self.drawn))

    def _two(self) -> list[Any]:
        return [ROWS, STEPS] if "turned q" in self.drawn else [STEPS, ROWS]

    def _outputs(self, p: Any, q: Any, left: Any) -> list[Any]:
        """The last matrix, and some of what was made of columns."""
        last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
        last.defn = [self.at(T, i, j) * 2.0]
        found = [last]
        if self.some("all of p", 0.4):
            whole = Function(([k, j], [STEPS, COLUMNS]), Double, "whole")
            whole.defn = [p(k, j) + 1.0]
            found.append(whole)
        if self.some("all of q", 0.4):
            every = Function(([i, k], [ROWS, STEPS]), Double, "every")
            every.defn = [left(i, k) * 3.0]
            found.append(every)
        return found


def draw(seed: int) -> Eliminations:
    """The program of a seed."""
    return _Draw(np.random.default_rng(seed)).program()


@contextmanager
def waiting_whenever_legal(steps: int) -> Iterator[None]:
    """Slices wait for so many steps wherever they may, whatever is predicted."""
    with (
        patch.object(waitingsteps, "CLEARLY", 1e9),
        patch.object(waitingsteps, "LEAST_SHARE", 0.0),
        patch.object(waitingsteps, "STEPS", steps),
    ):
        yield


def differences(program: Eliminations, steps: int, cflags: tuple[str, ...] = ("-O1",)) -> list[str]:
    """Where compiled code and the interpreter differ, on one thread and two; nothing where they do not."""
    found = []
    for threads in (1, 2):
        options = pm.Options(cflags=cflags, parallel_threshold=0, threads=threads)
        with waiting_whenever_legal(steps):
            compiled = pm.compile(
                program.outputs,
                name="waiting",
                inputs=program.inputs,
                constraints=[Condition(C, ">=", T + 2)],
                options=options,
            )
        if WAIT not in str(compiled.explain()):
            found.append(f"nothing waits: {program.text}")
        rng = np.random.default_rng(0)
        for sizes in ALL_SIZES:
            arrays = program.arrays(rng, sizes)
            given = {**arrays, "T": sizes["T"]}
            actual, expected = compiled(**given), compiled.reference(**given)
            if not _alike(actual, expected):
                found.append(f"{sizes}, {threads} threads, {steps} steps: {program.text}")
    return found


def _alike(actual: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return all(map(_alike, actual, expected))
    return bool(np.allclose(actual, expected, rtol=1e-10, atol=1e-10))
