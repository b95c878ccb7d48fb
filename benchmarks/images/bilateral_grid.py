"""Bilateral grid: pixels summed up by place and brightness, blurred there, and looked up again.

Two filters go by that name: what PolyMage's text says, and what the C that was timed beside it computes. The
second one rounds a pixel to the nearest bin, and lets neighbouring cells share a row and a column of pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between, photograph
from polymat import (
    Case,
    Cast,
    Clamp,
    Condition,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Op,
    Reduce,
    Reduction,
    Select,
)

CELL, BINS = 8, 10
BLUR = (1, 4, 6, 4, 1)
BEFORE, AFTER = 24, 32
"""Pixels of padding that the variant of the C has on both sides."""
INNER = (slice(BEFORE, -AFTER), slice(BEFORE, -AFTER))
ROUNDING = 1e-6
"""Of a pixel's place among the bins."""


def build() -> Description:
    """Describe the filter as the text has it."""
    R, C = sizes = parameters("R C")
    c, x, y, gx, gy, gz = variables("c x y gx gy gz")
    image = Image(Float, "image", [R, C])
    rows, columns, kinds = between(0, R - 1), between(0, C - 1), between(0, 1)
    high, wide = R // CELL, C // CELL
    cells = [kinds, between(0, high + 3), between(0, wide + 3), between(0, 13)]

    sums = Reduction(([c, gx, gy, gz], cells), ([x, y], [rows, columns]), Float, "sums")
    cell = (2 + x // CELL, 2 + y // CELL, 2 + _bin(image(x, y) * BINS))
    sums.defn = [
        Reduce(sums(0, *cell), image(x, y), Op.Sum),
        Reduce(sums(1, *cell), 1.0, Op.Sum),
    ]
    within = _all_within((gx, 2, high + 1), (gy, 2, wide + 1), (gz, 2, 11))
    blurred = _blur(sums, (c, gx, gy, gz), cells, (within,) * 3)

    zone = (2 + x // CELL, 2 + y // CELL)
    inner = Function(([c, x, y], [kinds, rows, columns]), Float, "inner")
    inner.defn = [_sliced(blurred, c, zone, x, y, image(x, y))]
    filtered = Function(([x, y], [rows, columns]), Float, "filtered")
    some = Condition(inner(1, x, y), ">", 0)
    filtered.defn = [Select(some, inner(0, x, y) / inner(1, x, y), image(x, y))]
    return Description((filtered,), (image,), sizes)


def build_as_c() -> Description:
    """Describe the filter as the C computes it, of an image within its padding."""
    R, C = sizes = parameters("R C")
    c, x, y, gx, gy, gz, a, b = variables("c x y gx gy gz a b")
    padding = BEFORE + AFTER
    image = Image(Float, "image", [R + padding, C + padding])
    high, wide = (R + padding - 1) // CELL - 1, (C + padding - 1) // CELL - 1
    kinds = between(0, 1)
    cells = [kinds, between(1, high), between(1, wide), between(0, 14)]
    near = between(-CELL // 2, CELL // 2)

    sums = Reduction(([c, gx, gy, gz], cells), ([gx, gy, a, b], [*cells[1:3], near, near]), Float, "sums")
    pixel = image(CELL * gx + a, CELL * gy + b)
    level = 2 + _bin(pixel * BINS + 0.5)
    sums.defn = [
        Reduce(sums(0, gx, gy, level), pixel, Op.Sum),
        Reduce(sums(1, gx, gy, level), 1.0, Op.Sum),
    ]
    along = _all_within((gz, 2, 12))
    down = along & _all_within((gx, 3, high - 2))
    across = down & _all_within((gy, 3, wide - 2))
    blurred = _blur(sums, (c, gx, gy, gz), cells, (along, down, across))

    rows, columns = between(0, R - 1), between(0, C - 1)
    place = (x + BEFORE, y + BEFORE)
    inner = Function(([c, x, y], [kinds, rows, columns]), Float, "inner")
    zone = (3 + x // CELL, 3 + y // CELL)
    inner.defn = [_sliced(blurred, c, zone, x, y, image(*place))]
    filtered = Function(([x, y], [rows, columns]), Float, "filtered")
    some = Condition(inner(1, x, y), ">", 0)
    filtered.defn = [Select(some, inner(0, x, y) / inner(1, x, y), image(*place))]
    return Description((filtered,), (image,), sizes)


def _bin(scaled: Any) -> Any:
    """Which bin a pixel falls into; it is from 0 to 1, and that is stated for the bounds."""
    return Clamp(Cast(Int, scaled), 0, BINS)


def _all_within(*spans: tuple[Any, Any, Any]) -> Any:
    conditions = [Condition(i, ">=", low) & Condition(i, "<=", high) for i, low, high in spans]
    found = conditions[0]
    for condition in conditions[1:]:
        found &= condition
    return found


def _blur(grid: Any, at: Sequence[Any], cells: Sequence[Interval], where: Sequence[Any]) -> Any:
    """Three blurs of a grid, along z, x and y; zero elsewhere."""
    for name, along, within in zip(("bz", "bx", "by"), (3, 1, 2), where, strict=True):
        blurred = Function((list(at), list(cells)), Float, name, default=0.0)
        shifts = [[i + k - 2 if d == along else i for d, i in enumerate(at)] for k in range(5)]
        blurred.defn = [Case(within, sum(w * grid(*place) for w, place in zip(BLUR, shifts, strict=True)))]
        grid = blurred
    return grid


def _sliced(grid: Any, c: Any, zone: tuple[Any, Any], x: Any, y: Any, value: Any) -> Any:
    """The grid between eight corners, along x first, then y, then brightness."""
    level = value * BINS
    base = _bin(level)
    zf = level - Cast(Float, base)
    xf, yf = Cast(Float, x % CELL) / CELL, Cast(Float, y % CELL) / CELL

    def along_x(b: int, d: int) -> Any:
        near, far = (grid(c, zone[0] + a, zone[1] + b, 2 + base + d) for a in (0, 1))
        return _between(near, far, xf)

    def along_y(d: int) -> Any:
        return _between(along_x(0, d), along_x(1, d), yf)

    return _between(along_y(0), along_y(1), zf)


def _between(first: Any, second: Any, share: Any) -> Any:
    return first + share * (second - first)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a picture."""
    return {"image": photograph((sizes["R"], sizes["C"]), rng)}


def inputs_as_c(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a picture within its padding, which repeats the edges."""
    return {"image": np.pad(photograph((sizes["R"], sizes["C"]), rng), (BEFORE, AFTER), mode="edge")}


def reference(image: Array) -> Arrays:
    """Solve with NumPy."""
    return {"filtered": _looked_up(_grid(image), image, 2)}


def undecided(image: Array) -> Arrays:
    """What the rounding of a pixel's place among the bins comes to."""
    return {"filtered": _undecided(_grid(image), image, 2)}


def _grid(image: Array) -> Array:
    """Both sums, blurred; the pixels of a cell are added in the order of rows."""
    R, C = image.shape
    high, wide = R // CELL, C // CELL
    grid = np.zeros((2, high + 4, wide + 4, 14), np.float32)
    x, y = np.divmod(np.arange(image.size), max(C, 1))
    level = 2 + (image * np.float32(BINS)).astype(np.int32).ravel()
    np.add.at(grid[0], (2 + x // CELL, 2 + y // CELL, level), image.ravel())
    np.add.at(grid[1], (2 + x // CELL, 2 + y // CELL, level), np.float32(1))
    inside = np.zeros(grid.shape, bool)
    inside[:, 2 : high + 2, 2 : wide + 2, 2:12] = True
    for along in (3, 1, 2):
        grid = np.where(inside, _blurred(grid, along), np.float32(0))
    return grid


def reference_as_c(image: Array) -> Arrays:
    """Solve with NumPy."""
    return {"filtered": _looked_up(_grid_as_c(image), image[INNER], 3)}


def undecided_as_c(image: Array) -> Arrays:
    """What the rounding of a pixel's place among the bins comes to."""
    return {"filtered": _undecided(_grid_as_c(image), image[INNER], 3)}


def _grid_as_c(image: Array) -> Array:
    """Both sums, blurred; each cell gathers the pixels of its window."""
    high, wide = ((extent - 1) // CELL - 1 for extent in image.shape)
    grid = np.zeros((2, high + 1, wide + 1, 15), np.float32)
    gx, gy = np.ogrid[1 : high + 1, 1 : wide + 1]
    for a in range(-4, 5):
        for b in range(-4, 5):
            pixel = image[8 * gx + a, 8 * gy + b]
            level = 2 + (pixel * np.float32(BINS) + np.float32(0.5)).astype(np.int32)
            grid[0][gx, gy, level] += pixel
            grid[1][gx, gy, level] += 1
    inside = np.zeros(grid.shape, bool)
    inside[..., 2:13] = True
    for along in (3, 1, 2):
        if along < 3:
            index = [slice(None)] * 4
            index[along] = np.r_[0:3, high - 1 if along == 1 else wide - 1 : grid.shape[along]]
            inside[tuple(index)] = False
        grid = np.where(inside, _blurred(grid, along), np.float32(0))
    return grid


def _blurred(grid: Array, along: int) -> Array:
    """The sum of five weighted neighbours, with zeros behind both ends."""
    ends = [(2, 2) if axis == along else (0, 0) for axis in range(4)]
    padded = np.pad(grid, ends)
    parts = [np.take(padded, range(k, k + grid.shape[along]), along) for k in range(5)]
    total: Array = parts[0]
    for weight, part in zip(BLUR[1:], parts[1:], strict=True):
        total = total + np.float32(weight) * part
    return total


def _ends(grid: Array, image: Array, offset: int) -> tuple[Array, Array, Array]:
    """Both sums in the planes below and above each pixel's brightness, and its share of the upper one."""
    x, y = np.ogrid[: image.shape[0], : image.shape[1]]
    level = image * np.float32(BINS)
    z = level.astype(np.int32)
    xf, yf = ((i % CELL).astype(np.float32) / np.float32(CELL) for i in (x, y))

    def plane(d: int) -> Array:
        def corner(a: int, b: int) -> Array:
            found: Array = grid[:, x // CELL + offset + a, y // CELL + offset + b, 2 + z + d]
            return found

        near, far = (_lerp(corner(0, b), corner(1, b), xf) for b in (0, 1))
        return _lerp(near, far, yf)

    return plane(0), plane(1), level - z.astype(np.float32)


def _lerp(p: Array, q: Array, share: Array) -> Array:
    found: Array = p + share * (q - p)
    return found


def _looked_up(grid: Array, image: Array, offset: int) -> Array:
    """The quotient of both sums, each between its eight corners."""
    total, count = _lerp(*_ends(grid, image, offset))
    some = count > 0
    return np.where(some, total / np.where(some, count, np.float32(1)), image)


def _undecided(grid: Array, image: Array, offset: int) -> Array:
    """How far the share of the upper plane, rounded otherwise, takes a quotient."""
    low, high, share = (part.astype(np.float64) for part in _ends(grid, image, offset))
    total, count = low + share * (high - low)
    some, rise = count > 0, np.abs(high - low)
    off = (rise[0] + rise[1] * total / np.where(some, count, 1)) / np.where(some, count, 1)
    return np.where(some, ROUNDING * off, 0)


PROGRAM = Program(
    name="bilateral-grid",
    sizes=size_table("R C", MINI=(40, 56), SMALL=(256, 256), PAPER=(2560, 1536)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=56.6,
    traffic=8,
    tolerance=2e-6,
    undecided=undecided,
)
AS_C = replace(
    PROGRAM,
    name="bilateral-grid-c",
    build=build_as_c,
    inputs=inputs_as_c,
    reference=reference_as_c,
    operations=59.3,
    undecided=undecided_as_c,
)
