"""The six image pipelines in Halide, scheduled by hand in the way of its published apps.

Strips of rows go to threads; within a strip a stage is computed for the rows that its readers need next, or
for all of its level where levels follow each other. Indices are column first, as Halide has them.  Vectors
are as long as the processor's, but where it is said.  What is not as in the apps (`apps/*/*_generator.cpp`):

- unsharp: no grey picture and no quotient; rows blurred down are not kept, as no other row reads them.
- harris: no grey picture.
- bilateral grid: all three blurs of the whole grid, as the app had it before it computed two of them where
  they are read: with the zeros around the grid that took twice as long.  Eight lanes are the app's.
- interpolate: levels one after the other on the way up, too, where the app computes what a strip of the
  result reads of them: no quicker here.  Eight lanes: sixteen took a tenth longer around zeros.
- camera: nothing prefetched or folded, one row at a time, not two; planes and colours are stages.
- blending: no app; level after level as in `local_laplacian`, in strips of eight rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import halide as hl
import numpy as np

from benchmarks.colours import HIGHEST, LOWEST, matrix_of
from benchmarks.task import Array, MissingError, Prepared, Task

STRIP = 32
HOST = hl.get_host_target()
LANES = int(HOST.natural_vector_size(hl.Float(32)))
PAIR = 2 * int(HOST.natural_vector_size(hl.Int(16)))  # of vectors of pixels of a camera
GRID_LANES, LEVEL_LANES = 8, min(LANES, 8)
x, y, c, yo, yi, co = (hl.Var(name) for name in ("x", "y", "c", "yo", "yi", "co"))
TAPS = (0.0625, 0.25, 0.375, 0.25, 0.0625)


def f32(value: Any) -> Any:
    """A constant or an expression in single precision."""
    return hl.f32(value)


def strips(output: Any, *, lanes: int = LANES, rows: int = STRIP) -> Any:
    """Rows of a result in strips for threads, columns on vectors."""
    return output.split(y, yo, yi, rows).parallel(yo).vectorize(x, lanes)


def unsharp(image: Any, threshold: float, weight: float) -> Any:
    """As the app `unsharp`: blurred rows are kept for the row that needs them."""
    down, out = hl.Func("down"), hl.Func("out")
    down[x, y, c] = sum((f32(w) * image[x, y + k, c] for k, w in enumerate(TAPS)), start=f32(0))
    blur = sum((f32(w) * down[x + k, y, c] for k, w in enumerate(TAPS)), start=f32(0))
    here = image[x + 2, y + 2, c]
    sharp = here * f32(1 + weight) - blur * f32(weight)
    out[x, y, c] = hl.select(hl.abs(here - blur) < f32(threshold), here, sharp)
    strips(out)
    down.compute_at(out, yi).vectorize(x, LANES)
    return out


def harris(image: Any, width: int, height: int) -> Any:
    """As the app `harris`: both slopes of three rows are kept, all else is computed where it is read."""
    a, b = f32(1 / 12), f32(1 / 6)
    dy, dx, out = hl.Func("dy"), hl.Func("dx"), hl.Func("out")
    padded = hl.BoundaryConditions.repeat_edge(image)

    def at(i: int, j: int) -> Any:
        return padded[x + j, y + i]

    dy[x, y] = a * (at(-1, 1) - at(-1, -1) + at(1, 1) - at(1, -1)) + b * (at(0, 1) - at(0, -1))
    dx[x, y] = a * (at(1, -1) - at(-1, -1) + at(1, 1) - at(-1, 1)) + b * (at(1, 0) - at(-1, 0))

    def window(f: Any, g: Any) -> Any:
        near = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return sum((f[x + j, y + i] * g[x + j, y + i] for i, j in near), start=f32(0))

    sxx, syy, sxy = window(dx, dx), window(dy, dy), window(dx, dy)
    trace = sxx + syy
    inside = (x >= 2) & (x < width - 2) & (y >= 2) & (y < height - 2)
    out[x, y] = hl.select(inside, sxx * syy - sxy * sxy - f32(0.04) * trace * trace, f32(0))
    strips(out)
    for slope in (dx, dy):
        slope.store_at(out, yo).compute_at(out, yi).vectorize(x, LANES)
    dx.compute_with(dy, x)
    return out


def lerp(p: Any, q: Any, share: Any) -> Any:
    """Between two values, without a multiplication saved."""
    return p + share * (q - p)


def grid_filter(
    image: Any, window: tuple[int, int], rounding: float, zone: Any, bins: int, offset: int, start: int
) -> Any:
    """As the app `bilateral_grid`: cells gather their pixels, three blurs, and a look-up for each pixel."""
    z = hl.Var("z")
    r = hl.RDom([(window[0], window[1]), (window[0], window[1])])
    sums = hl.Func("sums")
    sums[x, y, z, c] = f32(0)
    pixel = image[x * 8 + r.x, y * 8 + r.y]
    level = hl.i32(pixel * f32(10) + f32(rounding))
    sums[x, y, hl.clamp(level, 0, 10), c] += hl.select(c == 0, pixel, f32(1))
    first, last = zone
    zeroed, bz, bx, by = (hl.Func(name) for name in ("zeroed", "bz", "bx", "by"))

    def blur(f: Callable[[int], Any]) -> Any:
        return f(-2) + f(2) + f32(4) * (f(-1) + f(1)) + f32(6) * f(0)

    inside = (x >= first) & (x <= last[0]) & (y >= first) & (y <= last[1])
    zeroed[x, y, z, c] = hl.select(
        inside, sums[hl.clamp(x, first, last[0]), hl.clamp(y, first, last[1]), z, c], f32(0)
    )
    bz[x, y, z, c] = blur(lambda k: zeroed[x, y, z + k, c])
    inside &= (z >= 0) & (z < bins)
    bx[x, y, z, c] = hl.select(inside, blur(lambda k: bz[x, y + k, z, c]), f32(0))
    by[x, y, z, c] = hl.select(inside, blur(lambda k: bx[x + k, y, z, c]), f32(0))
    out = _looked_up(image, by, offset, start)
    bz.compute_root().reorder(c, z, x, y).parallel(y).vectorize(x, GRID_LANES).bound(c, 0, 2).unroll(c)
    zeroed.compute_at(bz, y).reorder(c, z, x, y).vectorize(x, GRID_LANES)
    sums.compute_at(bz, y)
    sums.update().reorder(c, r.x, r.y, x, y).unroll(c)
    for stage in (bx, by):
        stage.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, GRID_LANES).bound(c, 0, 2).unroll(c)
    strips(out, lanes=GRID_LANES)
    return out


def _looked_up(image: Any, by: Any, offset: int, start: int) -> Any:
    """The quotient of both sums, each between its eight corners."""
    out = hl.Func("out")
    value = image[x + start, y + start]
    scaled = value * f32(10)
    zi = hl.clamp(hl.i32(scaled), 0, 10)
    zf, xf, yf = scaled - hl.f32(zi), hl.f32(x % 8) / f32(8), hl.f32(y % 8) / f32(8)
    inner = []
    for kind in (0, 1):

        def at(a: int, b: int, d: int, kind: int = kind) -> Any:
            return by[x // 8 + offset + a, y // 8 + offset + b, zi + d, kind]

        near, far = (
            lerp(lerp(at(0, 0, d), at(0, 1, d), yf), lerp(at(1, 0, d), at(1, 1, d), yf), xf) for d in (0, 1)
        )
        inner.append(lerp(near, far, zf))
    out[x, y] = hl.select(inner[1] > 0, inner[0] / inner[1], value)
    return out


def interpolate(image: Any, width: int, height: int) -> Any:
    """As the app `interpolate`: level after level, each half of an image with the level it is for."""
    levels = 10
    wide, high = [width >> k for k in range(levels)], [height >> k for k in range(levels)]

    def framed(name: str, last: tuple[int, int], value: Any) -> Any:
        """Zero but from 1 to the last ones."""
        inner, found = hl.Func(f"{name}_inner"), hl.Func(name)
        inner[x, y, c] = value
        found[x, y, c] = hl.BoundaryConditions.constant_exterior(
            inner, f32(0), [(1, last[0]), (1, last[1]), (hl.Expr(), hl.Expr())]
        )[x, y, c]
        return found

    first = hl.Func("d0")
    first[x, y, c] = image[x, y, c] * image[x, y, 3]
    down = [first]
    for k in range(1, levels):
        d = down[-1]
        rows = (d[x, 2 * y - 2, c] + f32(2) * d[x, 2 * y - 1, c] + d[x, 2 * y, c]) * f32(0.25)
        e = framed(f"e{k}", (wide[k - 1], high[k]), rows)
        columns = (e[2 * x - 2, y, c] + f32(2) * e[2 * x - 1, y, c] + e[2 * x, y, c]) * f32(0.25)
        down.append(framed(f"d{k}", (wide[k], high[k]), columns))
        down[-1].compute_root().parallel(y, 8).vectorize(x, LEVEL_LANES)
        e.compute_at(down[-1], y).vectorize(x, LEVEL_LANES)
    filled = down[-1]
    for k in range(levels - 2, -1, -1):
        d = down[k]
        rows = (filled[x, (y + 1) // 2, c] + filled[x, (y + 2) // 2, c]) * f32(0.5)
        u = framed(f"u{k}", (wide[k + 1], high[k]), rows)
        coarse = (u[(x + 1) // 2, y, c] + u[(x + 2) // 2, y, c]) * f32(0.5)
        filled = framed(f"i{k}", (wide[k], high[k]), d[x, y, c] + (f32(1) - d[x, y, 3]) * coarse)
        if k:
            filled.compute_root().parallel(y, 8).vectorize(x, LEVEL_LANES)
            u.compute_at(filled, y).vectorize(x, LEVEL_LANES)
    out = hl.Func("out")
    out[x, y, c] = filled[x + 1, y + 1, c] / filled[x + 1, y + 1, 3]
    out.reorder(c, x, y).bound(c, 0, 3).unroll(c).parallel(y, 8).vectorize(x, LEVEL_LANES)
    filled.compute_at(out, y).vectorize(x, LEVEL_LANES)
    u.compute_at(out, y).vectorize(x, LEVEL_LANES)
    return out


def _curve(contrast: float, gamma: float) -> Any:
    """The brightness of values from `LOWEST` on, made in each call."""
    curve = hl.Func("curve")
    bend = f32(2) - hl.pow(f32(2), f32(contrast) / f32(100))
    slope = f32(2) - f32(2) * bend
    value = hl.max(f32(0), hl.min(f32(1), f32(x + LOWEST) / f32(1024)))
    g = hl.pow(value, f32(1) / f32(gamma))
    h = f32(1) - g
    z = hl.select(g > f32(0.5), f32(1) - ((slope * h) * h + bend * h), (slope * g) * g + bend * g)
    curve[x] = hl.u8(hl.min(hl.max(z * f32(256), f32(0)), f32(255)))
    curve.compute_root().vectorize(x, LANES).bound(x, 0, HIGHEST - LOWEST + 1)
    return curve


def camera(raw: Any, matrix: Any, contrast: float, gamma: float) -> Any:
    """As the app `camera_pipe`: strips of rows, cells of the mosaic unrolled in the result."""
    curve = _curve(contrast, gamma)
    den = hl.Func("den")
    ends = [raw[x, y - 2], raw[x, y + 2], raw[x - 2, y], raw[x + 2, y]]
    low = hl.min(hl.min(ends[0], ends[1]), hl.min(ends[2], ends[3]))
    top = hl.max(hl.max(ends[0], ends[1]), hl.max(ends[2], ends[3]))
    den[x, y] = hl.max(low, hl.min(top, raw[x, y]))
    planes = {}
    for name, (i, j) in {"gr": (0, 0), "rr": (0, 1), "bb": (1, 0), "gb": (1, 1)}.items():
        planes[name] = hl.Func(name)
        planes[name][x, y] = den[2 * x + j, 2 * y + i]

    def mean(p: Any, q: Any) -> Any:
        return (p + q) >> hl.i16(1)

    def closer(p: Any, q: Any, r: Any, s: Any) -> Any:
        return hl.absd(p, q) < hl.absd(r, s)

    def stage(name: str, value: Any) -> Any:
        planes[name] = hl.Func(name)
        planes[name][x, y] = value
        return planes[name]

    _demosaiced(planes, stage, mean, closer)
    red, green, blue = (planes[name] for name in ("red", "green", "blue"))
    out, corrected = hl.Func("out"), hl.Func("corrected")
    colours = [hl.i32(f[x + 16, y + 12]) for f in (red, green, blue)]
    rows = []
    for k in range(3):
        m = [hl.i32(int(value)) for value in matrix[k]]
        total = m[3] + m[0] * colours[0] + m[1] * colours[1] + m[2] * colours[2]
        rows.append(hl.i16((total + hl.select(total < 0, 255, 0)) >> 8))
    corrected[x, y, c] = hl.mux(c, rows)
    out[x, y, c] = curve[hl.i32(corrected[x, y, 2 - c]) - LOWEST]
    _in_strips(out, corrected, den, planes)
    return out


def _demosaiced(planes: dict[str, Any], stage: Any, mean: Any, closer: Any) -> None:
    """Red, green and blue everywhere."""
    gr, rr, bb, gb = planes.values()
    p, q, r, s, t, u = gr[x + 1, y], gr[x, y], gb[x, y - 1], gb[x, y], gb[x - 1, y], gr[x, y + 1]
    g_r = stage("g_r", hl.select(closer(p, q, r, s), mean(p, q), mean(r, s)))
    g_b = stage("g_b", hl.select(closer(t, s, u, q), mean(t, s), mean(u, q)))
    r_gr = stage("r_gr", gr[x, y] - mean(g_r[x, y], g_r[x - 1, y]) + mean(rr[x - 1, y], rr[x, y]))
    b_gr = stage("b_gr", gr[x, y] - mean(g_b[x, y], g_b[x, y - 1]) + mean(bb[x, y], bb[x, y - 1]))
    r_gb = stage("r_gb", gb[x, y] - mean(g_r[x, y], g_r[x, y + 1]) + mean(rr[x, y], rr[x, y + 1]))
    b_gb = stage("b_gb", gb[x, y] - mean(g_b[x, y], g_b[x + 1, y]) + mean(bb[x, y], bb[x + 1, y]))
    main = g_b[x, y] - mean(g_r[x, y], g_r[x - 1, y + 1]) + mean(rr[x, y], rr[x - 1, y + 1])
    other = g_b[x, y] - mean(g_r[x - 1, y], g_r[x, y + 1]) + mean(rr[x - 1, y], rr[x, y + 1])
    r_b = stage("r_b", hl.select(closer(rr[x, y], rr[x - 1, y + 1], rr[x - 1, y], rr[x, y + 1]), main, other))
    main = g_r[x, y] - mean(g_b[x, y], g_b[x + 1, y - 1]) + mean(bb[x, y], bb[x + 1, y - 1])
    other = g_r[x, y] - mean(g_b[x + 1, y], g_b[x, y - 1]) + mean(bb[x + 1, y], bb[x, y - 1])
    b_r = stage("b_r", hl.select(closer(bb[x, y], bb[x + 1, y - 1], bb[x + 1, y], bb[x, y - 1]), main, other))

    def woven(name: str, four: tuple[Any, ...]) -> Any:
        rows = [
            hl.select(x % 2 == 0, four[2 * k][x // 2, y // 2], four[2 * k + 1][x // 2, y // 2])
            for k in (0, 1)
        ]
        return stage(name, hl.select(y % 2 == 0, rows[0], rows[1]))

    woven("red", (r_gr, rr, r_b, r_gb))
    woven("green", (gr, g_r, g_b, gb))
    woven("blue", (b_gr, b_r, bb, b_gb))


def _in_strips(out: Any, corrected: Any, den: Any, planes: dict[str, Any]) -> None:
    """Rows that are read again are kept in a strip; the rest is computed for two rows at a time."""
    out.reorder(c, x, y).split(y, yo, yi, STRIP).bound(c, 0, 3).parallel(yo)
    out.align_bounds(y, 2).align_bounds(x, 2)
    out.vectorize(x, PAIR).unroll(c)
    corrected.compute_at(out, x).vectorize(x).unroll(c)
    den.compute_at(out, yi).store_at(out, yo).vectorize(x, PAIR)
    for name in ("gr", "rr", "bb", "gb", "g_r", "g_b"):
        planes[name].compute_at(out, yi).store_at(out, yo).vectorize(x, PAIR)
    for name in ("red", "green", "blue"):
        planes[name].compute_at(out, yi).vectorize(x, PAIR)
    for name in ("r_gr", "b_gr", "r_gb", "b_gb", "r_b", "b_r"):
        planes[name].compute_at(out, yi).vectorize(x, PAIR)


def pyramid_blend(first: Any, second: Any, mask: Any) -> Any:
    """Levels one after the other as in the app `local_laplacian`; what expands one is computed by rows."""

    def reduced(f: Any, name: str, plane: tuple[Any, ...]) -> Any:
        h, found = hl.Func(f"{name}h"), hl.Func(name)

        def weighted(at: Callable[[int], Any]) -> Any:
            return (at(-2) + at(2) + f32(4) * (at(-1) + at(1)) + f32(6) * at(0)) * f32(0.0625)

        h[(x, y, *plane)] = weighted(lambda k: f[(x, 2 * y + k, *plane)])
        found[(x, y, *plane)] = weighted(lambda k: h[(2 * x + k, y, *plane)])
        found.compute_root().parallel(y, 8).vectorize(x, LANES)
        h.compute_at(found, y).vectorize(x, LANES)
        return found

    def doubled(at: Callable[[Any], Any], i: Any) -> Any:
        even = (at(i // 2 - 1) + f32(6) * at(i // 2) + at(i // 2 + 1)) * f32(0.125)
        return hl.select(i % 2 == 0, even, (at(i // 2) + at(i // 2 + 1)) * f32(0.5))

    inner: list[tuple[int, Any]] = []

    def expanded(f: Any, name: str, level: int) -> Any:
        u = hl.Func(name)
        u[x, y, c] = doubled(lambda i: f[x, i, c], y)
        inner.append((level, u))
        return doubled(lambda i: u[i, y, c], x)

    one, other, share = [first], [second], [mask]
    for levels, name, plane in ((one, "a", (c,)), (other, "b", (c,)), (share, "m", ())):
        for k in range(1, 4):
            levels.append(reduced(levels[-1], f"{name}{k}", plane))
    result = None
    results = []
    for k in (3, 2, 1, 0):
        a, b, m = one[k][x, y, c], other[k][x, y, c], share[k][x, y]
        if k < 3:
            a = a - expanded(one[k + 1], f"au{k}", k)
            b = b - expanded(other[k + 1], f"bu{k}", k)
        value = a * m + b * (f32(1) - m)
        if result is not None:
            value = value + expanded(result, f"pu{k}", k)
        result = hl.Func(f"p{k}")
        result[x, y, c] = value
        results.append((k, result))
    assert result is not None
    out = hl.Func("out")
    out[x, y, c] = result[x + 31, y + 31, c]
    out.parallel(y, 8).vectorize(x, LANES)
    for k, stage in results:
        if k:
            stage.compute_root().parallel(y, 8).vectorize(x, LANES)
        for level, u in inner:
            if level == k:
                u.compute_at(stage if k else out, y).vectorize(x, LANES)
    return out


def build(task: Task, buffers: list[Any]) -> tuple[Any, Any]:
    """The pipeline of a task, and the element type of its result."""
    R, C = task.values["sizes"]["R"], task.values["sizes"]["C"]
    scalars = task.values["scalars"]
    match task.problem:
        case "unsharp":
            return unsharp(buffers[0], **scalars), np.float32
        case "harris-corner":
            return harris(buffers[0], C, R), np.float32
        case "bilateral-grid":
            padded = hl.BoundaryConditions.constant_exterior(buffers[0], f32(-1))
            return grid_text(padded, R, C), np.float32
        case "bilateral-grid-c":
            last = (C + 55) // 8 - 1, (R + 55) // 8 - 1
            return grid_filter(buffers[0], (-4, 9), 0.5, (1, last), 11, 3, 24), np.float32
        case "interpolate":
            return interpolate(buffers[0], C, R), np.float32
        case "camera":
            matrix = matrix_of(scalars["kelvin"])
            return camera(buffers[0], matrix, scalars["contrast"], scalars["gamma"]), np.uint8
        case "pyramid-blend":
            return pyramid_blend(*buffers), np.float32
    raise MissingError(f"no image pipeline {task.problem}")


def grid_text(padded: Any, rows: int, columns: int) -> Any:
    """The variant of the text, whose cells hold whole pixels; only full ones are blurred."""
    if rows % 8 or columns % 8:
        raise MissingError("the grid of the text is written for whole cells")
    return grid_filter(padded, (0, 8), 0.0, (0, (columns // 8 - 1, rows // 8 - 1)), 10, 0, 0)


def prepare(task: Task) -> Prepared:
    """Compiled in memory for this processor, into a result that is there.

    The twelve numbers of the camera's matrix are made before, once: all others make them in every call.
    """
    threads = int(os.environ["OMP_NUM_THREADS"])
    os.environ["HL_NUM_THREADS"] = str(threads)
    arrays = [np.ascontiguousarray(array) for array in task.arrays.values()]
    buffers = [hl.Buffer(array) for array in arrays]
    pipeline, dtype = build(task, buffers)
    shape = (task.values["sizes"]["R"], task.values["sizes"]["C"])
    result: Array = np.empty(shape if pipeline.dimensions() == 2 else (3, *shape), dtype)
    target = hl.get_jit_target_from_environment()
    pipeline.compile_jit(target)
    buffer = hl.Buffer(result)

    def call() -> Array:
        assert arrays  # a buffer does not keep the array that it lies in
        pipeline.realize(buffer)
        return result

    return Prepared(call)
