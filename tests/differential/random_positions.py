"""Random extremes with their first places, of data as they come or as stages make them, and what reads these.

Values are quarters and small integers, of floating-point numbers with NaN, infinities and zeros of either
sign, so that most are there twice.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polymat as pm
from polymat import Cast, Clamp, Condition, Function, Int, Interval, Long, Op, Reduce, Reduction, Select
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.lang.types import computed_with, strong, to_bfloat16

L, M, N = SIZES = tuple(pm.Parameter(Int, name) for name in "LMN")
INDICES = tuple(pm.Variable(Int, name) for name in "ijk")
SHAPES = (
    *((0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 1, 1), (1, 9, 40), (9, 1, 33)),
    *((5, 17, 1), (3, 10, 1027), (26, 2, 130)),
)
TYPES = (
    *(pm.Double, pm.Double, pm.Float, pm.Float, pm.Half, pm.BFloat16),
    *(pm.Int, pm.Long, pm.Short, pm.Int8, pm.UChar, pm.UInt16, pm.UInt, pm.UInt64),
)
NUMBERS = (Long, Long, Long, Int, pm.UInt, pm.Short, pm.UInt64)  # types of places


@dataclass(frozen=True)
class Place:
    """Where extremes of values are: along some of the dimensions, in each from one index on and up to its mirror."""

    stage: Reduction
    values: Any
    axes: tuple[int, ...]
    first: int

    def all_values(self, name: str) -> Function:
        """A function that has the values at all indices."""
        indices = self.stage.reduction_variables
        sizes = SIZES[-len(indices) :]
        spans = [Interval(Int, 0, size - 1) for size in sizes]
        made = Function((list(indices), spans), computed_with(strong(self.values.dtype)), name)
        made.defn = [self.values]
        return made

    def wanted(self, values: Any) -> Any:
        """The places in an array of all values, by NumPy; None where there are no values."""
        kept = [axis for axis in range(values.ndim) if axis not in self.axes]
        rows = np.moveaxis(values, kept, range(len(kept)))
        if self.first:
            rows = rows[..., self.first : rows.shape[-1] - self.first]
        if not rows.size:
            return None
        rows = rows.reshape(*rows.shape[: len(kept)], -1)
        find = np.argmax if self.stage.extreme.op is Op.Max else np.argmin  # type: ignore[union-attr]
        return find(rows, axis=-1) + self.first


@dataclass
class Positions:
    """Outputs of some programs, with the inputs, the places among them, and limits of sizes.

    ranks: of the inputs, by name.
    """

    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    constraints: list[Condition] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def arrays(self, shape: Sequence[int], seed: int) -> dict[str, Any]:
        """Arrays for all inputs."""
        rng = np.random.default_rng([seed, *shape])
        return {each.name: _data(rng, each.dtype, shape[-each.rank :]) for each in self.inputs}

    def arguments(self, compiled: pm.Compiled, shape: Sequence[int], seed: int) -> dict[str, Any]:
        """Arrays for the inputs of a program, and sizes that none of them shows."""
        found, sizes = self.arrays(shape, seed), dict(zip("LMN", shape, strict=True))
        known = {array.name: found[array.name] for array in compiled.signature.inputs}
        return known | {each.name: sizes[each.name] for each in compiled.signature.sizes if each.array < 0}


def _data(rng: np.random.Generator, dtype: Any, shape: Sequence[int]) -> Any:
    """Elements with equal ones among them."""
    most = int(rng.choice((1, 2, 3, 60)))
    whole = rng.integers(0 if dtype.kind == "u" else -most, most + 1, shape)
    if dtype.kind != "f":
        return whole.astype(dtype.dtype)
    found = (whole / 4).astype(np.float32)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        if found.size and rng.random() < 0.3:
            found.flat[rng.integers(found.size, size=int(rng.integers(1, 4)))] = special
    if rng.random() < 0.08:
        found[...] = rng.choice((np.nan, np.inf, -np.inf))
    return to_bfloat16(found) if dtype == pm.BFloat16 else found.astype(dtype.dtype)


class _Draw:
    """Draws one program."""

    def __init__(self, rng: random.Random, prefix: str) -> None:
        self.rng, self.prefix, self.made = rng, prefix, Positions()
        self.dtype, self.rank = rng.choice(TYPES), rng.choice((1, 1, 2, 2, 2, 3))
        self.indices, self.sizes = INDICES[-self.rank :], SIZES[-self.rank :]
        self.spans = [Interval(Int, 0, size - 1) for size in self.sizes]
        self.made.inputs += [pm.Image(self.dtype, f"{prefix}{name}", list(self.sizes)) for name in "AB"]

    def value(self) -> Any:
        """A value at all indices: an element, or what is computed of some."""
        (*outer, last), size, (A, B) = self.indices, self.sizes[-1], self.made.inputs
        a, b = A(*self.indices), B(*self.indices)
        back, near = A(*outer, size - 1 - last), A(*outer, Clamp(last - 1, 0, size - 1))
        choices = [
            a,
            a,
            a,
            a - b,
            pm.Max(a, b),
            back,
            near,
            a + b * b,
            Select(Condition(a, ">", b), a, b),
            -a,
        ]
        if self.dtype.kind == "f":
            choices += [a * 0.5 - b, a / (b * b + 1), pm.Sqrt(a * a), pm.Exp(a)]
        else:
            choices += [a & 3, a + last, a // 2, Cast(pm.Double, a) / 3]
        return self.rng.choice(choices)

    def function(self, name: str, value: Any, dtype: Any) -> Function:
        """A function of all indices."""
        made = Function((list(self.indices), list(self.spans)), dtype, f"{self.prefix}{name}")
        made.defn = [value]
        return made

    def place(self, number: int, value: Any) -> None:
        """Where extremes of a value are along some of its dimensions."""
        rng, rank, spans = self.rng, self.rank, list(self.spans)
        count = rng.choice((1, rank, max(rank - 1, 1)))
        axes = tuple(sorted(rng.sample(range(rank), count)))
        first = 1 if count == 1 and rng.random() < 0.2 else 0
        if first:
            spans[axes[0]] = Interval(Int, 1, self.sizes[axes[0]] - 2)
        kept = [axis for axis in range(rank) if axis not in axes]
        indices = [self.indices[axis] for axis in kept]
        domain = (indices, [spans[axis] for axis in kept])
        op, dtype = rng.choice((Op.ArgMin, Op.ArgMax)), rng.choice(NUMBERS)
        stage = Reduction(domain, (list(self.indices), spans), dtype, f"{self.prefix}place{number}")
        stage.defn = [Reduce(stage(*indices), value, op)]
        self.made.places.append(Place(stage, value, axes, first))
        self.made.outputs += [stage, *([stage.extreme] if rng.random() < 0.4 else [])]
        self.made.text.append(f"{stage.name}: {dtype} {op.name} of {value} along {axes} from {first}")
        if rng.random() < 0.3 and dtype != pm.UInt64:
            self.made.outputs.append(self.reader(f"read{number}", stage, domain, axes))

    def reader(self, name: str, place: Reduction, domain: Any, axes: tuple[int, ...]) -> Function:
        """A function of the element at a place, or of the place at all points that were looked at for it."""
        found = place(*domain[0])
        if len(axes) > 1:
            return self.function(name, Cast(Long, found) * 2, Long)
        there: list[Any] = [*self.indices]
        (axis,) = axes
        there[axis] = Clamp(found, 0, self.sizes[axis] - 1)
        self.made.constraints.append(Condition(self.sizes[axis], ">=", 1))
        made = Function(domain, self.dtype, f"{self.prefix}{name}")
        made.defn = [self.made.inputs[0](*there)]
        return made

    def program(self) -> Positions:
        """Some places of one value or of several, which may be values of a stage of their own."""
        rng, value = self.rng, self.value()
        for number in range(rng.choice((1, 1, 2, 3))):
            value = self.value() if rng.random() < 0.4 else value
            if rng.random() < 0.3:
                made = self.function(f"made{number}", value, strong(value.dtype))
                self.made.outputs += [made] if rng.random() < 0.3 else []
                value = made(*self.indices)
            self.place(number, value)
        return self.made


def random_positions(seed: int, count: int) -> Positions:
    """Several programs in one, for one compilation."""
    found = Positions()
    for number in range(count):
        made = _Draw(random.Random(f"positions {seed} {number}"), f"p{number}_").program()
        for name in ("outputs", "inputs", "places", "constraints", "text"):
            getattr(found, name).extend(getattr(made, name))
    return found


def differences(
    positions: Positions, options: pm.Options, seed: int, shapes: Sequence[Sequence[int]] = SHAPES
) -> list[str]:
    """Where compiled code, the interpreter and NumPy differ; nothing where they do not."""
    compiled = pm.compile(
        positions.outputs, name="places", constraints=positions.constraints, options=options
    )
    names = [f"{number}: {each.name}" for number, each in enumerate(positions.outputs)]
    found = []
    for shape in shapes if not positions.constraints else [each for each in shapes if all(each)]:
        given = positions.arguments(compiled, shape, seed)
        results, expected = (_tuple(each(**given)) for each in (compiled, compiled.reference))
        pairs = zip(names, results, expected, strict=True)
        found += [
            f"{name}, {shape}: {one}, not {other}" for name, one, other in pairs if not _alike(one, other)
        ]
    return found + [f"{each}" for each in positions.text if found]


def not_as_numpy(positions: Positions, seed: int, shapes: Sequence[Sequence[int]] = SHAPES[3:]) -> list[str]:
    """Places that are not where NumPy finds them, in values that the interpreter gives it."""
    values = [each.all_values(f"values{number}") for number, each in enumerate(positions.places)]
    outputs = [*(each.stage for each in positions.places), *values]
    pipeline, found = build(outputs, constraints=positions.constraints), []
    for shape in (each for each in shapes if all(each)):
        known = interpret(pipeline, positions.arrays(shape, seed), dict(zip("LMN", shape, strict=True)))
        results = [known[name] for name in pipeline.outputs]
        for place, actual, value in zip(positions.places, results, results[len(values) :], strict=False):
            wanted = place.wanted(value)
            if wanted is not None and not np.array_equal(actual, wanted.astype(actual.dtype)):
                found.append(f"{place.stage.name}, {shape}: {actual}, not {wanted}")
    return found + [f"{each}" for each in positions.text if found]


def _alike(found: Any, expected: Any) -> bool:
    """Whether places are the same, and values to the last digits of a function."""
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    return bool(np.allclose(found, expected, rtol=1e-6, atol=0, equal_nan=True))


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)
