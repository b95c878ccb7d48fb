"""Sums between random ends, and random cases, are those of plain loops: the interpreter shares proofs of ranges."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Case,
    Cast,
    Clamp,
    Condition,
    Function,
    Int,
    Interval,
    Max,
    Min,
    Op,
    Reduce,
    Reduction,
    Select,
)

PROGRAMS, ENOUGH, SIZES = 24, 4, (0, 1, 2, 3, 7, 12)
QUICK: dict[str, Any] = {"cflags": ("-O1",), "threads": 2, "parallel_threshold": 0}
COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
NARROW = ((pm.Int8, np.int8), (pm.UChar, np.uint8), (pm.Short, np.int16), (pm.UInt16, np.uint16))
N, AT = pm.Parameter(Int, "N"), pm.Variable(Int, "i")
INSIDE = Interval(Int, 0, N - 1)
Value = Callable[[int, int], int]  # of an index and the size
Program = tuple[Any, Callable[[int, int], float]]  # and each of its results


@dataclass(frozen=True)
class Drawn:
    """A form in polymat's words, and what it is."""

    form: Any
    value: Value


class Ends:
    """Draws forms of an index and a size."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def form(self, depth: int) -> Drawn:
        """A form of so many levels at most."""
        if depth == 0 or self.rng.random() < 0.2:
            return self._leaf()
        kind = int(self.rng.integers(5))
        one, other = self.form(depth - 1), self.form(depth - 1)
        if kind == 0:
            return Drawn(Min(one.form, other.form), lambda i, n: min(one.value(i, n), other.value(i, n)))
        if kind == 1:
            return Drawn(Max(one.form, other.form), lambda i, n: max(one.value(i, n), other.value(i, n)))
        if kind == 2:
            high = int(self.rng.integers(1, 9))
            return Drawn(Clamp(one.form, 0, high), lambda i, n: min(max(one.value(i, n), 0), high))
        if kind == 3:
            holds, test = self.condition()
            return Drawn(
                Select(holds, one.form, other.form),
                lambda i, n: one.value(i, n) if test(i, n) else other.value(i, n),
            )
        return self._leaf()

    def condition(self) -> tuple[Any, Callable[[int, int], bool]]:
        """A comparison of two forms without choices, one of them of a narrow type now and then."""
        left, right = self._leaf(), self._leaf()
        sign = str(self.rng.choice([*COMPARED]))
        compare = COMPARED[sign]
        if self.rng.random() < 0.3:
            left = self._narrowed(left)
        return (
            Condition(left.form, sign, right.form),
            lambda i, n: bool(compare(left.value(i, n), right.value(i, n))),
        )

    def _leaf(self) -> Drawn:
        c = int(self.rng.integers(-3, 5))
        found: Value = (
            lambda i, n: i + c,
            lambda i, n: n - c,
            lambda i, n: 2 * i - n + c,
            lambda i, n: (i + c) // 2,
            lambda i, n: n - 1 - i,
            lambda i, n: i - i + c,
        )[int(self.rng.integers(6))]
        form: Any = found
        return Drawn(form(AT, N), found)

    def _narrowed(self, inner: Drawn) -> Drawn:
        kind, dtype = NARROW[int(self.rng.integers(len(NARROW)))]
        times = int(self.rng.choice([1, 40, 9000]))

        def value(i: int, n: int) -> int:
            return int(np.int64(times * inner.value(i, n)).astype(dtype))

        return Drawn(Cast(kind, times * inner.form), value)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_sums_between_random_ends(number: int, seed: int) -> None:
    drawn = Ends(np.random.default_rng([seed, number]))
    k = pm.Variable(Int, "k")

    def draw() -> Program:
        low, high = drawn.form(2), drawn.form(2)
        terms = Interval(Int, low.form, high.form)
        result = Reduction(([AT], [INSIDE]), ([AT, k], [INSIDE, terms]), pm.Double, "result")
        result.defn = [Reduce(result(AT), Cast(pm.Double, k + 1), Op.Sum)]
        return result, lambda i, n: float(sum(range(low.value(i, n) + 1, high.value(i, n) + 2)))

    _compare_some(draw)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_random_cases(number: int, seed: int) -> None:
    drawn = Ends(np.random.default_rng([seed, number]))

    def draw() -> Program:
        (one, first), (other, second) = drawn.condition(), drawn.condition()
        result = Function(([AT], [INSIDE]), pm.Double, "result")
        result.defn = [Case(one & other, 1.0), 2.0]
        return result, lambda i, n: 1.0 if first(i, n) and second(i, n) else 2.0

    _compare_some(draw)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_reads_that_pass_the_proof_of_bounds_are_within(number: int, seed: int) -> None:
    drawn = Ends(np.random.default_rng([seed, number]))
    x = pm.Vector(pm.Double, "x", [N])

    def draw() -> Program:
        place, (holds, test) = drawn.form(1), drawn.condition()
        result = Function(([AT], [INSIDE]), pm.Double, "result")
        result.defn = [Select(holds, x(place.form), -1.0)]

        def right(i: int, n: int) -> float:
            if not test(i, n):
                return -1.0
            assert 0 <= place.value(i, n) < n
            return float(place.value(i, n) ** 2)

        return result, right

    _compare_some(draw, x)


def _compare_some(draw: Callable[[], Program], *inputs: Any) -> None:
    """Compare programs that are not refused with what is right at every index."""
    compared = 0
    for _ in range(100):
        try:
            result, right = draw()
            compiled = pm.compile(result, name="ends", inputs=inputs, options=pm.Options(**QUICK))
        except pm.PolymatError:
            continue
        for size in SIZES:
            arrays = [np.arange(float(size)) ** 2 for _ in inputs]
            sizes = {} if inputs else {"N": size}
            expected = [right(i, size) for i in range(size)]
            assert compiled(*arrays, **sizes).tolist() == expected
            assert compiled.reference(*arrays, **sizes).tolist() == expected
        compared += 1
        if compared == ENOUGH:
            break
    assert compared
