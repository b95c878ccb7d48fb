"""Random images of a few planes, with points that take turns and borders, read once and at a fixed distance.

What is read so may be computed where it is read, planes side by side, points of a row by turns.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Function, Int, Interval, Select

M, N = (pm.Parameter(Int, name) for name in "MN")
c, i, j = (pm.Variable(Int, name) for name in "cij")
BESIDE = 8  # rows and columns beyond those of results that every input has
SHAPES = ((0, 3), (3, 0), (1, 1), (2, 5), (5, 2), (9, 17), (4, 70))
ORDERS = ((0, 1, 2), (0, 1, 2), (0, 1, 2), (1, 0, 2), (1, 2, 0))  # of plane, row and column


@dataclass
class Planes:
    """Outputs and inputs of some programs, and how they were made; shapes: of the inputs, by name."""

    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    shapes: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)

    def arguments(self, compiled: pm.Compiled, shape: Sequence[int], seed: int) -> dict[str, Any]:
        """Arrays for the inputs of a program, of small multiples of an eighth."""
        rng, (rows, columns) = np.random.default_rng([seed, *shape]), shape
        lengths: dict[Any, int] = {"rows": rows + BESIDE, "columns": columns + BESIDE}
        found = {}
        for array in compiled.signature.inputs:
            extents = [int(lengths.get(each, each)) for each in self.shapes[array.name]]
            found[array.name] = (rng.integers(-16, 17, extents) / 8).astype(array.dtype)
        known = {"M": rows, "N": columns}
        return found | {each.name: known[each.name] for each in compiled.signature.sizes if each.array < 0}


class _Draw:
    """Draws one program: stages that are read once, and what reads them."""

    def __init__(self, rng: random.Random, prefix: str) -> None:
        self.rng, self.prefix, self.made = rng, prefix, Planes()
        self.dtype, self.order = rng.choice((pm.Float, pm.Float, pm.Double)), rng.choice(ORDERS)
        self.planes = rng.choice((1, 2, 3, 3, 4))
        self.layers = self.image("layers", self.planes + 1)
        self.others = self.image("others", self.planes + 1)
        self.mask = self.image("mask", 0)

    def image(self, name: str, planes: int) -> Any:
        """An input with planes, or without."""
        lengths = [M + BESIDE, N + BESIDE]
        shape: list[int | str] = ["rows", "columns"]
        if planes:
            lengths, shape = (
                [each[k] for k in self.order] for each in ([planes, *lengths], [planes, *shape])
            )
        made = pm.Image(self.dtype, f"{self.prefix}{name}", lengths)
        self.made.inputs.append(made)
        self.made.shapes[f"{self.prefix}{name}"] = tuple(shape)
        return made

    def function(self, name: str, planes: int, defn: list[Any], rows: Any = M - 1, last: Any = N - 1) -> Any:
        """A function of planes, rows and columns."""
        spans = [Interval(Int, 0, planes - 1), Interval(Int, 0, rows), Interval(Int, 0, last)]
        dims = ([(c, i, j)[k] for k in self.order], [spans[k] for k in self.order])
        made = Function(dims, self.dtype, f"{self.prefix}{name}")
        made.defn = defn
        self.made.text.append(f"{made.name}: {defn}")
        return made

    def at(self, array: Any, plane: Any, row: Any, column: Any) -> Any:
        """An element, in the order of this program."""
        return array(*((plane, row, column)[k] for k in self.order))

    def combined(self, one: Any, other: Any) -> Any:
        """An operation on two values."""
        choices = (one + other, one - other, one * other, one * 0.5 + other, pm.Max(one, other))
        return self.rng.choice(
            (*choices, one / (other * other + 1), Select(Condition(one, ">", other), one, 2 * other))
        )

    def turns(self, number: int) -> Any:
        """Points that take turns along rows, each of elements at half of the place or a quarter; its value."""
        rng, period, cases = self.rng, self.rng.choice((2, 2, 4)), []
        for turn in range(period):
            places = [
                (j + rng.randint(0, period)) // period + rng.randint(0, 1) for _ in range(rng.randint(1, 2))
            ]
            terms = [self.at(self.layers, c, i + rng.choice((0, 0, 1)), place) for place in places]
            total = sum((term * rng.choice((0.25, 0.5)) for term in terms[1:]), terms[0])
            cases.append(Case(Condition(j % period, "==", turn), total))
        shift = rng.choice((0, 0, 1, 2))
        made = self.function(f"turns{number}", self.planes, cases, last=N + 2)
        return self.at(made, c, i, j + shift)

    def weighed(self, number: int) -> Any:
        """All planes and one more, of which a reader takes one for all others."""
        value = self.combined(self.at(self.layers, c, i, j), self.mask(i, j))
        value = self.combined(value, self.at(self.layers, self.planes, i, j + self.rng.choice((0, 1))))
        made = self.function(f"weighed{number}", self.planes + 1, [value], rows=M, last=N)
        row, column = i + self.rng.choice((0, 1)), j + self.rng.choice((0, 1))
        moved, fixed = self.rng.choice(((0, self.planes), (1, 0)))
        return self.combined(self.at(made, c + moved, row, column), self.at(made, fixed, row, column))

    def bordered(self, number: int) -> Any:
        """What is another value along its borders, of which a reader takes the interior or all of it."""
        inner = Condition(j, ">=", 1) & Condition(j, "<=", N)
        outer = Condition(j, "<", 1) | Condition(j, ">", N)
        value, border = (
            self.at(self.layers, c, i, j) + self.at(self.layers, c, i + 1, j),
            self.rng.choice((0, self.mask(i, j))),
        )
        choice = Select(inner, value, border)
        defn = [choice] if self.rng.random() < 0.5 else [Case(inner, value), Case(outer, border)]
        made = self.function(f"bordered{number}", self.planes, defn, last=N + 1)
        places = self.rng.choice(((j + 1,), (j, j + 1), (j, j + 1, j + 2)))
        return sum((self.at(made, c, i, place) for place in places[1:]), self.at(made, c, i, places[0]))

    def program(self) -> Planes:
        """A reader of some of them, and what reads that."""
        rng, value = self.rng, self.combined(self.at(self.others, c, i, j), self.mask(i, j))
        for number in range(rng.choice((1, 1, 2, 3))):
            stage = rng.choice((self.turns, self.weighed, self.weighed, self.bordered))(number)
            value = self.combined(value, stage) if rng.random() < 0.7 else self.combined(stage, value)
        defn = [value]
        if rng.random() < 0.3:
            even, odd = (Condition(j % 2, "==", turn) for turn in range(2))
            defn = [Case(even, value), Case(odd, value * 0.5)]
        made = self.function("read", self.planes, defn)
        self.made.outputs.append(made)
        if rng.random() < 0.3:
            last = self.at(made, c, i, j) + self.at(made, self.planes - 1, i, j)
            self.made.outputs[rng.choice((0, 1)) :] = [self.function("last", self.planes, [last])]
        return self.made


def random_planes(seed: int, count: int) -> Planes:
    """Several programs in one, for one compilation."""
    found = Planes()
    for number in range(count):
        made = _Draw(random.Random(f"planes {seed} {number}"), f"p{number}_").program()
        found.outputs += made.outputs
        found.inputs += made.inputs
        found.shapes |= made.shapes
        found.text += made.text
    return found


def differences(planes: Planes, options: pm.Options, seed: int) -> list[str]:
    """Where compiled code and the interpreter differ; nothing where they do not."""
    compiled, found = pm.compile(planes.outputs, name="planes", options=options), []
    for shape in SHAPES:
        given = planes.arguments(compiled, shape, seed)
        results, expected = (each(**given) for each in (compiled, compiled.reference))
        several = isinstance(results, tuple)
        pairs = zip(results, expected, strict=True) if several else [(results, expected)]
        for output, (one, other) in zip(planes.outputs, pairs, strict=True):
            error = 1e-5 if output.dtype == pm.Float else 1e-13
            largest = float(np.max(np.abs(other), initial=1.0))
            if not np.allclose(one, other, rtol=0, atol=error * largest):
                found.append(f"{output.name} at {shape}: {one} instead of {other}")
    return found + planes.text if found else []
