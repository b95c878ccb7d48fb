"""Camera pipeline: from a sensor behind a mosaic of colours to a picture, all of it in integers."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.colours import COLD, COLD_KELVIN, HIGHEST, LOWEST, WARM, WARM_KELVIN, curve_of, matrix_of
from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between, photograph
from polymat import (
    Abs,
    Case,
    Cast,
    Condition,
    Float,
    Function,
    Image,
    Int,
    Max,
    Min,
    Parameter,
    Pow,
    Select,
    Short,
    UChar,
)

ROWS, COLUMNS = 48, 64
"""How many more rows and columns the sensor has than the picture."""


x, y = variables("x y")


def build() -> Description:
    """Describe the pipeline; R and C, of the picture, are even."""
    R, C = sizes = parameters("R C")
    kelvin, contrast, gamma = (Parameter(Float, name) for name in ("kelvin", "contrast", "gamma"))
    (j,) = variables("j")
    raw = Image(Short, "raw", [R + ROWS, C + COLUMNS])
    ends = raw(x - 2, y), raw(x + 2, y), raw(x, y - 2), raw(x, y + 2)
    cleared = Max(_least(*ends), Min(_largest(*ends), raw(x, y)))
    den = _stage("den", (8, R + 17), (12, C + 21), cleared)
    red, green, blue = (f(x, y) for f in _demosaiced(den, R, C))

    matrix, curve = _matrix(kelvin), _curve(contrast, gamma)
    spans = [between(0, 2), between(12, R + 11), between(16, C + 15)]
    corrected = Function(([j, x, y], spans), Short, "corrected")
    total = matrix(j, 3) + matrix(j, 0) * red + matrix(j, 1) * green + matrix(j, 2) * blue
    corrected.defn = [Cast(Short, _towards_zero(total))]
    picture = Function(([j, x, y], [between(0, 2), between(0, R - 1), between(0, C - 1)]), UChar, "picture")
    picture.defn = [curve(corrected(2 - j, x + 12, y + 16))]
    return Description((picture,), (raw,), sizes)


def _stage(name: str, rows: Any, columns: Any, *defn: Any) -> Function:
    found = Function(([x, y], [between(*rows), between(*columns)]), Short, name)
    found.defn = list(defn)
    return found


def _demosaiced(den: Function, R: Any, C: Any) -> list[Function]:
    """Red, green and blue everywhere."""
    cells = (4, R // 2 + 8), (6, C // 2 + 10)
    gr, rr = _stage("gr", *cells, den(2 * x, 2 * y)), _stage("rr", *cells, den(2 * x, 2 * y + 1))
    bb, gb = _stage("bb", *cells, den(2 * x + 1, 2 * y)), _stage("gb", *cells, den(2 * x + 1, 2 * y + 1))

    cells = (5, R // 2 + 7), (7, C // 2 + 9)
    g_r = _stage("g_r", *cells, _nearer((gr(x, y + 1), gr(x, y)), (gb(x - 1, y), gb(x, y))))
    g_b = _stage("g_b", *cells, _nearer((gb(x, y - 1), gb(x, y)), (gr(x + 1, y), gr(x, y))))

    cells = (6, R // 2 + 6), (8, C // 2 + 8)
    r_gr, b_gr = (
        _stage("r_gr", *cells, _moved(gr, g_r, rr, 0, -1)),
        _stage("b_gr", *cells, _moved(gr, g_b, bb, -1, 0)),
    )
    r_gb, b_gb = (
        _stage("r_gb", *cells, _moved(gb, g_r, rr, 1, 0)),
        _stage("b_gb", *cells, _moved(gb, g_b, bb, 0, 1)),
    )
    r_b = _stage("r_b", *cells, _crossed(g_b, g_r, rr, 1, -1))
    b_r = _stage("b_r", *cells, _crossed(g_r, g_b, bb, -1, 1))

    fours = {"red": (r_gr, rr, r_b, r_gb), "green": (gr, g_r, g_b, gb), "blue": (b_gr, b_r, bb, b_gb)}
    return [_woven(name, four, R, C) for name, four in fours.items()]


def _moved(at: Function, green: Function, colour: Function, a: int, b: int) -> Any:
    """A colour at a green place: green there, and how far the colour is from green beside it."""
    ours = _mean(green(x, y), green(x + a, y + b))
    return at(x, y) - ours + _mean(colour(x + a, y + b), colour(x, y))


def _crossed(green: Function, other: Function, colour: Function, a: int, b: int) -> Any:
    """A colour at the place of the other one: along the diagonal on which it changes less."""
    pairs = ((0, 0), (a, b)), ((0, b), (a, 0))

    def on(f: Function, pair: Any) -> Any:
        return [f(x + p, y + q) for p, q in pair]

    change = [Abs(first - last) for first, last in (on(colour, pair) for pair in pairs)]
    ways = [green(x, y) - _mean(*on(other, pair)) + _mean(*on(colour, pair)) for pair in pairs]
    return Select(Condition(change[0], "<", change[1]), *ways)


def _woven(name: str, four: tuple[Function, ...], R: Any, C: Any) -> Function:
    """A colour at all places, from those of each place of a cell: columns first, then rows."""
    columns, odd_row, odd_column = (16, C + 15), Condition(x % 2, "==", 1), Condition(y % 2, "==", 1)

    def half(row: int) -> Function:
        even, odd = (f(x, y // 2) for f in four[2 * row : 2 * row + 2])
        cases = Case(~odd_column, even), Case(odd_column, odd)
        return _stage(f"{name}{row}", (6, R // 2 + 6), columns, *cases)

    cases = Case(~odd_row, half(0)(x // 2, y)), Case(odd_row, half(1)(x // 2, y))
    return _stage(name, (12, R + 11), columns, *cases)


def _least(a: Any, b: Any, c: Any, d: Any) -> Any:
    return Min(Min(a, b), Min(c, d))


def _largest(a: Any, b: Any, c: Any, d: Any) -> Any:
    return Max(Max(a, b), Max(c, d))


def _mean(a: Any, b: Any) -> Any:
    """Of two values of the sensor: ten bits each, so that the sum is a Short."""
    return (a + b) // 2


def _nearer(first: tuple[Any, Any], second: tuple[Any, Any]) -> Any:
    """The mean of the pair that differs less."""
    closer = Condition(Abs(first[0] - first[1]), "<", Abs(second[0] - second[1]))
    return Select(closer, _mean(*first), _mean(*second))


def _towards_zero(total: Any) -> Any:
    """A 256th, rounded towards zero."""
    return (total + Select(Condition(total, "<", 0), 255, 0)) >> 8


def _matrix(kelvin: Parameter) -> Function:
    """The colours of the sensor as colours of the picture, in parts of 256."""
    j, k = variables("j k")
    share = (1 / kelvin - 1 / WARM_KELVIN) / (1 / COLD_KELVIN - 1 / WARM_KELVIN)
    matrix = Function(([j, k], [between(0, 2), between(0, 3)]), Int, "matrix")
    matrix.defn = [
        Case(
            Condition(j, "==", row) & Condition(k, "==", column),
            Cast(Int, (WARM[row][column] * share + COLD[row][column] * (1 - share)) * 256),
        )
        for row in range(3)
        for column in range(4)
    ]
    return matrix


def _curve(contrast: Parameter, gamma: Parameter) -> Function:
    """The brightness of each value that a Short can have."""
    (v,) = variables("v")
    bend = 2 - Pow(2.0, contrast / 100)
    slope = 2 - 2 * bend
    g = Pow(Max(0.0, Min(1.0, Cast(Float, v) / 1024)), 1 / gamma)
    h = 1 - g
    z = Select(Condition(g, ">", 0.5), 1 - ((slope * h) * h + bend * h), (slope * g) * g + bend * g)
    curve = Function(([v], [between(LOWEST, HIGHEST)]), UChar, "curve")
    curve.defn = [Cast(UChar, Min(Max(z * 256, 0.0), 255.0))]
    return curve


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return what a sensor of ten bits behind the mosaic G R / B G sees of a picture."""
    picture = photograph((3, sizes["R"] + ROWS, sizes["C"] + COLUMNS), rng) * 1023
    raw = picture[1]
    raw[::2, 1::2], raw[1::2, ::2] = picture[0, ::2, 1::2], picture[2, 1::2, ::2]
    return {"raw": raw.astype(np.int16)}


def reference(raw: Array, kelvin: float, contrast: float, gamma: float) -> Arrays:
    """Solve with NumPy, in integers of 32 bits."""
    colours = [
        colour[12 - 8 : -6, 16 - 12 : -6] for colour in _mosaic_undone(_denoised(raw.astype(np.int32)))
    ]
    matrix, curve = matrix_of(kelvin), curve_of(contrast, gamma)
    planes = []
    for row in matrix[::-1]:
        total = row[3] + row[0] * colours[0] + row[1] * colours[1] + row[2] * colours[2]
        corrected = (np.sign(total) * (np.abs(total) // 256)).astype(np.int16)
        planes.append(curve[corrected.astype(np.int32) - LOWEST])
    return {"picture": np.stack(planes)}


def _denoised(raw: Array) -> Array:
    """Rows 8 to R-31 and columns 12 to C-43 of the sensor."""
    rows, columns = raw.shape

    def shifted(a: int, b: int) -> Array:
        return raw[8 + a : rows - 30 + a, 12 + b : columns - 42 + b]

    ends = np.stack([shifted(-2, 0), shifted(2, 0), shifted(0, -2), shifted(0, 2)])
    found: Array = np.maximum(ends.min(0), np.minimum(ends.max(0), shifted(0, 0)))
    return found


def _mosaic_undone(den: Array) -> list[Array]:
    """Red, green and blue everywhere; wrong within two cells of the border, where cells are wrapped round."""
    gr, rr, bb, gb = den[::2, ::2], den[::2, 1::2], den[1::2, ::2], den[1::2, 1::2]

    def at(f: Array, a: int, b: int) -> Array:
        return np.roll(f, (-a, -b), (0, 1))

    def mean(p: Array, q: Array) -> Array:
        found: Array = (p + q) // 2
        return found

    def nearer(first: Array, second: Array, here: Array, there: Array) -> Array:
        closer = np.abs(first - here) < np.abs(second - there)
        return np.where(closer, mean(first, here), mean(second, there))

    g_r = nearer(at(gr, 0, 1), at(gb, -1, 0), gr, gb)
    g_b = nearer(at(gb, 0, -1), at(gr, 1, 0), gb, gr)
    r_gr = gr - mean(g_r, at(g_r, 0, -1)) + mean(at(rr, 0, -1), rr)
    b_gr = gr - mean(g_b, at(g_b, -1, 0)) + mean(bb, at(bb, -1, 0))
    r_gb = gb - mean(g_r, at(g_r, 1, 0)) + mean(rr, at(rr, 1, 0))
    b_gb = gb - mean(g_b, at(g_b, 0, 1)) + mean(bb, at(bb, 0, 1))
    r_b = np.where(
        np.abs(rr - at(rr, 1, -1)) < np.abs(at(rr, 0, -1) - at(rr, 1, 0)),
        g_b - mean(g_r, at(g_r, 1, -1)) + mean(rr, at(rr, 1, -1)),
        g_b - mean(at(g_r, 0, -1), at(g_r, 1, 0)) + mean(at(rr, 0, -1), at(rr, 1, 0)),
    )
    b_r = np.where(
        np.abs(bb - at(bb, -1, 1)) < np.abs(at(bb, 0, 1) - at(bb, -1, 0)),
        g_r - mean(g_b, at(g_b, -1, 1)) + mean(bb, at(bb, -1, 1)),
        g_r - mean(at(g_b, 0, 1), at(g_b, -1, 0)) + mean(at(bb, 0, 1), at(bb, -1, 0)),
    )
    colours = []
    for four in ((r_gr, rr, r_b, r_gb), (gr, g_r, g_b, gb), (b_gr, b_r, bb, b_gb)):
        colour = np.empty_like(den)
        for place, values in enumerate(four):
            colour[place // 2 :: 2, place % 2 :: 2] = values
        colours.append(colour)
    return colours


PROGRAM = Program(
    name="camera",
    sizes=size_table("R C", MINI=(32, 48), SMALL=(256, 256), PAPER=(1920, 2528)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=37,
    traffic=5,
    tolerance=0,
    scalars=MappingProxyType({"kelvin": 3700.0, "contrast": 50.0, "gamma": 2.0}),
)
