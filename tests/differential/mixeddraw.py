"""Draws of random mixtures: values that a program has so far, with bounds, from which steps make further ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polymat as pm
from polymat import Function, Int

SIZES = K, M, N = tuple(pm.Parameter(Int, name) for name in "KMN")
LARGEST_EXTENT = 33 * 33
REAL = (pm.Double, pm.Double, pm.Float, pm.Half, pm.BFloat16)
WHOLE = (pm.Int, pm.Long, pm.Short, pm.Int8, pm.UChar, pm.UInt16, pm.UInt, pm.UInt64)
COMPLEX = (pm.Complex, pm.ComplexFloat)
# Integers up to here are sums of others without rounding; those of integer types wrap around.
EXACT = {
    pm.Half: 2.0**10,
    pm.BFloat16: 2.0**7,
    pm.Float: 2.0**22,
    pm.ComplexFloat: 2.0**21,
    pm.Double: 2.0**50,
    pm.Complex: 2.0**49,
}


@dataclass(frozen=True)
class Value:
    """An array of a program.  largest: a bound of what is in it; exact: whether all that are integers."""

    source: Any
    largest: float
    exact: bool = True

    @property
    def dtype(self) -> Any:
        return self.source.dtype


@dataclass
class Mixture:
    """Outputs and inputs of a program, and how it was drawn."""

    outputs: list[Value] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    drawn: list[Value] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self.text)


class Refused(Exception):  # noqa: N818 (a signal, not an error)
    """A step that nothing fits."""


class Draw:
    """Draws one program; what the language refuses is drawn again."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"mixtures {seed}")
        self.made = Mixture()
        self.pool: list[Value] = []
        self.count = 0
        rng = self.rng
        for shape in ([M, N], [N], [N, M], [N], [K, M, N], [M, N]):
            dtype = rng.choice(rng.choice((REAL, WHOLE, REAL, COMPLEX)))
            make = {1: pm.Vector, 2: rng.choice((pm.Matrix, pm.Matrix, pm.Image))}.get(len(shape), pm.Image)
            self.add_input(make(dtype, f"A{len(self.pool)}", shape))
        for shape in ([N], [M, N]):
            dtype = rng.choice((pm.Double, pm.Float, pm.Complex, pm.ComplexFloat))
            self.add_input(pm.Signal(dtype, f"s{len(shape)}", shape if len(shape) > 1 else N))

    def add_input(self, array: Any) -> None:
        self.made.inputs.append(array)
        self.pool.append(Value(array, 9.0 if array.dtype.kind in "iu" else 4.0))

    def program(self, count: int, steps: Steps) -> Mixture:
        """The results of so many steps; the last results are outputs, some of those before, too."""
        inputs = len(self.pool)
        for _ in range(12 * count):
            if len(self.pool) == inputs + count:
                break
            kind, step = self.rng.choice(steps)
            try:
                found = step(self)
            except (Refused, pm.LangError):
                continue
            found = _bounded(found)
            if found.largest > EXACT.get(found.dtype, np.inf) or found.source in [
                v.source for v in self.pool
            ]:
                continue
            self.pool.append(found)
            self.made.text.append(f"{kind}: {found.source!r} {found.dtype} {found.largest} {found.exact}")
        results = self.made.drawn = self.pool[inputs:]
        last = [v for v in results[:-2] if self.rng.random() < 0.25] + results[-2:]
        self.made.outputs = [v for v in last if _can_be_output(v.source)]
        for value in self.made.outputs:
            if not value.source.name:
                value.source.named(self.name("r"))
        return self.made

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> Value:
        """A value, rather a late one."""
        fitting = [value for value in self.pool if fits(value)]
        if not fitting:
            raise Refused
        return self.rng.choice(fitting[-4:] if self.rng.random() < 0.6 else fitting)

    def small(self, value: Value, limit: float = 8.0) -> Value:
        """A value whose elements are small."""
        if value.largest <= limit:
            return value
        if value.dtype.kind == "c":
            raise Refused
        low = 0 if value.dtype.kind == "u" else -int(limit)
        return Value(pm.Clamp(value.source, low, int(limit)), limit, value.exact)


def _bounded(value: Value) -> Value:
    """With the bound of an integer type where it may have wrapped around."""
    if value.dtype.kind not in "iu":
        return value
    most = float(np.iinfo(value.dtype.dtype).max)
    wrapped = value.dtype.kind == "u" or value.largest > most
    return Value(value.source, most if wrapped else value.largest, value.exact)


def _can_be_output(source: Any) -> bool:
    return isinstance(source, Function)


Steps = Sequence[tuple[str, Callable[[Draw], Value]]]
