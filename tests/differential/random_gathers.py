"""Random pipelines that read, accumulate and sum up where data say, with operations on bits.

All values are integers or eighths, so that sums are exact in whichever order they are added up.

`python -m tests.differential.random_gathers --count 500` runs so many beside the interpreter and NumPy.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import polymat as pm
from polymat import (
    Cast,
    Clamp,
    Condition,
    Function,
    Int,
    Interval,
    Long,
    Max,
    Min,
    Op,
    Reduce,
    Reduction,
    Select,
)
from polymat import Variable as Index
from tests.differential.placesbynumpy import Claim, LookUp, Scatter, Segments, not_as_numpy

N, M = pm.Parameter(Int, "N"), pm.Parameter(Int, "M")
FEW = 7  # elements of the small arrays
SIZES = ((0, 3), (3, 0), (1, 1), (2, 5), (5, 2), (13, 17), (67, 1), (2, 93))
ALL_SIZES = (*SIZES, (70, 1500))  # the last takes the interpreter nine tenths of the time
i, j, b, x, y, k = (Index(Int, name) for name in "ijbxyk")
ROWS, COLUMNS, BINS = Interval(Int, 0, N - 1), Interval(Int, 0, M - 1), Interval(Int, 0, FEW - 1)
_TYPES = {
    Op.Sum: (pm.Long, pm.Int, pm.Double, pm.UInt, pm.Short),
    Op.Mul: (pm.Int, pm.Short),
    Op.Min: (pm.Int, pm.Short, pm.Float, pm.Double),
    Op.Max: (pm.Int, pm.Long, pm.Float, pm.UChar),
}


@dataclass(frozen=True)
class Gathers:
    """Outputs, how they were made, and what NumPy can say of their stages."""

    outputs: list[Any]
    text: str
    claims: list[Claim]

    def arrays(self, rng: np.random.Generator, n: int, m: int) -> dict[str, Any]:
        """Values for all inputs."""
        return {
            "levels": rng.integers(0, 256, (n, m), dtype=np.uint8),
            "image": rng.integers(-8, 17, (n, m)).astype(np.float32) / 8,
            "column": rng.integers(0, max(m, 1), (n, m), dtype=np.int32) if m else np.zeros((n, m), np.int32),
            "row": rng.integers(0, max(n, 1), (n, m), dtype=np.int64) if n else np.zeros((n, m), np.int64),
            "ends": np.sort(rng.integers(0, m + 1, n + 1, dtype=np.int32)),
            "starts": rng.integers(0, m + 1, n, dtype=np.int64),
            "place": rng.integers(0, FEW, m, dtype=np.int32),
            "far": rng.integers(0, FEW, m, dtype=np.int64),
            "weights": rng.integers(-8, 9, m) / 8,
            "vector": rng.integers(-16, 17, FEW) / 8,
            "few": rng.integers(-9, 10, FEW, dtype=np.int32),
            "table": rng.integers(-99, 100, 256, dtype=np.int32),
            "bytes": rng.integers(0, 256, 256, dtype=np.uint8),
            "shares": rng.integers(-128, 128, (n, 70), dtype=np.int8),
        }


def inputs() -> dict[str, Any]:
    """The inputs by name."""
    return {
        "levels": pm.Image(pm.UChar, "levels", [N, M]),
        "image": pm.Image(pm.Float, "image", [N, M]),
        "column": pm.Image(pm.Int, "column", [N, M], values=(0, M - 1)),
        "row": pm.Image(pm.Long, "row", [N, M], values=(0, N - 1)),
        "ends": pm.Vector(pm.Int, "ends", [N + 1], values=(0, M), sorted=True),
        "starts": pm.Vector(pm.Long, "starts", [N], values=(0, M)),
        "place": pm.Vector(pm.Int, "place", [M], values=(0, FEW - 1)),
        "far": pm.Vector(pm.Long, "far", [M], values=(0, FEW - 1)),
        "weights": pm.Vector(pm.Double, "weights", [M]),
        "vector": pm.Vector(pm.Double, "vector", [FEW]),
        "few": pm.Vector(pm.Int, "few", [FEW]),
        "table": pm.Vector(pm.Int, "table", [256]),
        "bytes": pm.Vector(pm.UChar, "bytes", [256]),
        "shares": pm.Image(pm.Int8, "shares", [N, 70]),
    }


def _element(array: Any, place: tuple[Any, ...]) -> Any:
    """An element of an array; one of a byte as an Int."""
    return Cast(Int, array(*place)) if array.dtype.size == 1 else array(*place)


@dataclass
class _Writer:
    rng: random.Random
    prefix: str
    given: dict[str, Any]
    planes: list[Any] = field(default_factory=list)
    tables: list[Any] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.planes += [self.given["levels"], self.given["image"]]
        self.tables += [self.given["few"]]

    def integer(self, p: Any, q: Any) -> Any:
        """An integer of any size, from data at (p, q)."""
        rng, given = self.rng, self.given
        plane = rng.choice(self.planes)
        match rng.randrange(8):
            case 0:
                return Cast(Int, given["levels"](p, q))
            case 6:
                return self.bits(given["levels"](p, q), given["row"](p, q))
            case 7:
                return self.bits(Cast(pm.Short, given["image"](p, q) * 900), given["column"](p, q) - 1)
            case 1:
                return Cast(Long, Clamp(given["image"](p, q) * 4, -9.0, 20.0))
            case 2:
                return given["column"](p, q) - rng.randint(0, 3)
            case 3:
                return Select(Condition(given["image"](p, q), ">", 0), p, given["row"](p, q))
            case 4 if plane.dtype.kind in "iu":
                return Cast(Long, plane(p, q)) // rng.randint(1, 9)
            case _:
                return Cast(Int, given["levels"](p, q)) * rng.randint(-3, 3) + rng.randint(-5, 5)

    def bits(self, one: Any, other: Any) -> Any:
        """Operations on the bits of two integers of different types, and what wraps around or saturates."""
        rng = self.rng
        first = rng.choice((one & other, one | other, one ^ other, ~one ^ other, one << rng.randint(0, 9)))
        shifted = rng.choice((other >> rng.randint(0, 40), other << (one & 7), one >> other))
        last = rng.choice((first // shifted, first % shifted, first & shifted, shifted - first))
        last = last if last.dtype.kind == "i" else Cast(Int, last)
        dtype = rng.choice((pm.Int8, pm.UChar, pm.Short, pm.UInt16, Int))
        found = rng.choice((last, Cast(dtype, last, saturate=True), Cast(dtype, last)))
        return Cast(Int, found) if found.dtype.kind == "u" else found

    def below(self, p: Any, q: Any) -> Any:
        """An index of a small array."""
        e = self.integer(p, q)
        match self.rng.randrange(7):
            case 5:
                return Min(e & 7, FEW - 1)
            case 6:
                return Cast(Long, Cast(pm.UChar, e, saturate=True)) >> 6
            case 0:
                return e % FEW
            case 1:
                return Min(Max(e, 0), FEW - 1)
            case 2:
                return Cast(Int, self.given["levels"](p, q)) // 37
            case 3:
                return Clamp(e, 0, 4) + 2
            case _:
                return Clamp(e, 0, FEW - 1)

    def place(self, p: Any, q: Any) -> tuple[Any, tuple[Any, ...]]:
        """An array and computed indices of it, for p and q inside."""
        rng, given = self.rng, self.given
        plane = rng.choice(self.planes)
        match rng.randrange(8):
            case 0:
                return given["table"], (given["levels"](p, q),)
            case 6:
                return given["bytes"], (given["levels"](p, q),)
            case 7:
                return given["shares"], (p, Clamp(self.integer(p, q), 3, 60) + rng.randint(-3, 9))
            case 1:
                return plane, (p, given["column"](p, q))
            case 2:
                return plane, (Clamp(self.integer(p, q), 0, N - 1), q)
            case 3:
                return plane, (given["row"](p, q), Clamp(self.integer(p, q), 0, M - 1))
            case 4:
                return plane, (Clamp(p + Clamp(self.integer(p, q), -1, 1), 0, N - 1), q)
            case _:
                return rng.choice(self.tables), (self.below(p, q),)

    def value(self, p: Any, q: Any) -> Any:
        """An element at a computed index, for p and q inside."""
        return _element(*self.place(p, q))

    def plane(self) -> None:
        """A stage over all points."""
        array, place = self.place(x, y)
        total = _element(array, place)
        others = self.rng.randint(0, 2)
        for _ in range(others):
            other = self.value(x, y) if self.rng.random() < 0.7 else self.rng.choice(self.planes)(x, y)
            total = total + other if self.rng.random() < 0.6 else Max(total, other)
        dtype = self.rng.choice((pm.Int, pm.Double, pm.Float))
        made = Function(([x, y], [ROWS, COLUMNS]), dtype, f"{self.prefix}f{len(self.texts)}")
        made.defn = [Cast(dtype, total)]
        if not others:
            self.claims.append(LookUp(made, ([x, y], [ROWS, COLUMNS]), array, place))
        self._keep(made, self.planes)

    def counts(self) -> None:
        """A sum, product, minimum or maximum into computed places."""
        op = self.rng.choice((Op.Sum, Op.Sum, Op.Sum, Op.Min, Op.Max, Op.Mul))
        dtype = self.rng.choice(_TYPES[op])
        name, rng = f"{self.prefix}h{len(self.texts)}", self.rng
        over = ([i, j], [ROWS, COLUMNS])
        value = 1 if op is Op.Sum and rng.random() < 0.5 else Cast(dtype, self.value(i, j))
        if op is Op.Mul:
            value = Cast(dtype, Clamp(self.value(i, j), 1, 2))
        place: tuple[Any, ...]
        match rng.randrange(4):
            case 0:
                domain, place, among = ([x], [ROWS]), (self.given["row"](i, j),), []
            case 1:
                domain, place, among = ([x, y], [ROWS, COLUMNS]), (i, self.given["column"](i, j)), self.planes
            case _:
                domain, place, among = ([b], [BINS]), (self.below(i, j),), self.tables
        made = Reduction(domain, over, dtype, name)
        made.defn = [Reduce(made(*place), value, op)]
        self.claims.append(Scatter(made, over, place, value, op))
        self._keep(made, among)

    def segments(self) -> None:
        """A sum or another reduction of elements between bounds that data give, for each row or each point."""
        rng, given = self.rng, self.given
        low, high = given["ends"](x), given["ends"](x + 1) - 1
        if rng.random() < 0.4:
            low, high = given["starts"](x), Clamp(given["starts"](x) + (x & 3), 0, M) - 1
        if rng.random() < 0.2:
            low, high = rng.choice(((low, M - 1), (0, high)))
        inside, plane = Interval(Int, low, high), rng.choice(self.planes)
        name, by_points = f"{self.prefix}s{len(self.texts)}", rng.random() < 0.5
        at = (x, y) if by_points else (x,)
        domain = ([x, y], [ROWS, COLUMNS]) if by_points else ([x], [ROWS])
        over = [ROWS, COLUMNS, inside] if by_points else [ROWS, inside]
        op = rng.choice((Op.Sum, Op.Sum, Op.Min, Op.Max, Op.Count, Op.Any, Op.ArgMax))
        value = rng.choice((plane(x, k), plane(x, k), given["levels"](x, given["column"](x, k))))
        dtype = {Op.Count: Int, Op.Any: pm.Bool, Op.ArgMax: Long}.get(op) or rng.choice(_TYPES[op])
        if op in _TYPES:
            value = rng.choice((value, value * 2 - (y if by_points else x), self.bits(k, low)))
            value = Cast(dtype, Cast(Long, value) if dtype.kind == "u" else value)  # of less than 0 as well
        made = Reduction(domain, ([*at, k], over), dtype, name)
        made.defn = [Reduce(made(*at), Condition(value, ">", 2) if op is Op.Any else value, op)]
        if op in _TYPES:
            within = ([*at, k], [ROWS, COLUMNS, COLUMNS] if by_points else [ROWS, COLUMNS])
            self.claims.append(Segments(made, within, (low, high), value, op))
        self._keep(made, self.planes if by_points and op is Op.Sum else [])

    def rows(self) -> None:
        """A sparse matrix times a vector, or sums into the places of its columns, of all rows or some."""
        rng, given = self.rng, self.given
        place, name = given[rng.choice(("place", "far"))], f"{self.prefix}r{len(self.texts)}"
        starts = given["ends"] if rng.random() < 0.8 else given["starts"]
        end = given["ends"](i + 1) if starts is given["ends"] else Clamp(starts(i) + (i & 7), 0, M)
        some = Interval(Int, rng.choice((0, 0, 0, 1)), N - 1 - rng.choice((0, 0, 0, 1)))
        inside, value = Interval(Int, starts(i), end - 1), given["vector"](place(k))
        value = rng.choice((value, given["weights"](k) * value, value * given["weights"](k) + value))
        if rng.random() < 0.2:
            made = Reduction(([b], [BINS]), ([i, k], [some, inside]), pm.Double, name)
            made.defn = [Reduce(made(place(k)), value, Op.Sum)]
        else:
            made = Reduction(([i], [ROWS]), ([i, k], [some, inside]), pm.Double, name)
            made.defn = [Reduce(made(i), value, rng.choice((Op.Sum, Op.Sum, Op.Sum, Op.Max)))]
        self._keep(made, [])

    def running(self) -> None:
        """Sums up to each element of a small array."""
        table, name = self.rng.choice(self.tables), f"{self.prefix}c{len(self.texts)}"
        made = Function(([b], [BINS]), pm.Double, name)
        made.defn = [
            pm.Case(Condition(b, "==", 0), Cast(pm.Double, table(0))),
            pm.Case(Condition(b, ">", 0), made(b - 1) + table(b)),
        ]
        self._keep(made, self.tables)

    def _keep(self, made: Any, among: list[Any]) -> None:
        among.append(made)
        self.texts.append(f"{made.name}: {made.defn}")
        self.made = made


def random_gathers(seed: int, count: int = 6) -> Gathers:
    """Several programs of one seed in one pipeline: one compilation for all."""
    given = inputs()
    outputs, texts, claims = [], [], []
    for number in range(count):
        writer = _Writer(random.Random(f"gathers {seed} {number}"), f"p{number}_", given)
        outputs_of_one = []
        for _ in range(writer.rng.randint(1, 4)):
            kinds = (
                writer.plane,
                writer.counts,
                writer.segments,
                writer.segments,
                writer.running,
                writer.rows,
            )
            writer.rng.choice(kinds)()
            if writer.rng.random() < 0.4:
                outputs_of_one.append(writer.made)
        outputs += (
            [*outputs_of_one, writer.made][-2:] if writer.made not in outputs_of_one else outputs_of_one
        )
        texts += writer.texts
        claims += writer.claims
    unique = list({id(output): output for output in outputs}.values())
    return Gathers(unique, "\n".join(texts), claims)


def differences(
    gathers: Gathers, options: pm.Options, seed: int, sizes_of: Sequence[tuple[int, int]] = ALL_SIZES
) -> list[str]:
    """Compile, run at some sizes, and describe what differs from the interpreter."""
    compiled = pm.compile(gathers.outputs, options=options, name="gathers")
    found = []
    for n, m in sizes_of:
        rng, sizes = np.random.default_rng(seed), {"N": n, "M": m}
        given = gathers.arrays(rng, sizes["N"], sizes["M"])
        known = {array.name: given[array.name] for array in compiled.signature.inputs}
        known |= {size.name: sizes[size.name] for size in compiled.signature.sizes if size.array < 0}
        results, reference = compiled(**known), compiled.reference(**known)
        pairs = zip(_tuple(results), _tuple(reference), gathers.outputs, strict=True)
        for result, expected, output in pairs:
            if not np.array_equal(result, expected):
                found.append(f"{output.name} at {sizes}: {result} instead of {expected}\n{gathers.text}")
    return found


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


FLAGS = ("-O0",)
# Programs of one compilation: of more of them the compiler of a program looks at too many together.
BATCH = 12
WAYS = (
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=2),
    pm.Options(cflags=FLAGS),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=3, tile_sizes=(3,), inline=False),
    pm.Options.naive(cflags=FLAGS, parallel_threshold=0, threads=2),
)


def batch(number: int, seed: int) -> list[str]:
    """What is wrong with so many programs, compiled in one way at half of the sizes; NumPy says some of it."""
    own = 1000 * seed + number
    gathers = random_gathers(own, BATCH)
    sizes = random.Random(own).sample(SIZES, 4)
    wrong = not_as_numpy(gathers.claims, partial(gathers.arrays, np.random.default_rng(own)), sizes[:2])
    return wrong + differences(gathers, WAYS[number % len(WAYS)], own, sizes)


def main() -> int:
    """Run programs and tell what is wrong with them; 1 when something is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    asked = parser.parse_args()
    batches = -(-asked.count // BATCH)
    found = [text for number in range(batches) for text in batch(number, asked.seed)]
    print("\n".join([*found, f"{batches * BATCH} programs of seed {asked.seed}, {len(found)} wrong"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
