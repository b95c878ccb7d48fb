"""The six image pipelines in Numba, parallel and with fastmath: loops over rows, some stages joined."""

from __future__ import annotations

import os
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.colours import LOWEST, curve_of, matrix_of
from benchmarks.task import MissingError, Prepared, Task

fast = njit(parallel=True, fastmath=True, cache=True)
inlined = njit(fastmath=True, cache=True, inline="always")
single = np.float32


@fast
def unsharp(image, threshold, weight):
    rows, columns = image.shape[1] - 4, image.shape[2] - 4
    out = np.empty((3, rows, columns), single)
    for row in prange(3 * rows):
        c, x = row // rows, row % rows
        down = np.empty(columns + 4, single)
        for y in range(columns + 4):
            down[y] = (
                single(0.0625) * (image[c, x, y] + image[c, x + 4, y])
                + single(0.25) * (image[c, x + 1, y] + image[c, x + 3, y])
                + single(0.375) * image[c, x + 2, y]
            )
        for y in range(columns):
            blur = (
                single(0.0625) * (down[y] + down[y + 4])
                + single(0.25) * (down[y + 1] + down[y + 3])
                + single(0.375) * down[y + 2]
            )
            here = image[c, x + 2, y + 2]
            sharp = here * (single(1) + weight) - blur * weight
            out[c, x, y] = here if abs(here - blur) < threshold else sharp
    return out


@fast
def harris(image):
    rows, columns = image.shape
    a, b, k = single(1 / 12), single(1 / 6), single(0.04)
    xx, yy, xy = np.empty_like(image), np.empty_like(image), np.empty_like(image)
    for x in prange(1, rows - 1):
        for y in range(1, columns - 1):
            corners = image[x + 1, y + 1] - image[x - 1, y - 1]
            across = image[x - 1, y + 1] - image[x + 1, y - 1]
            dy = a * (corners + across) + b * (image[x, y + 1] - image[x, y - 1])
            dx = a * (corners - across) + b * (image[x + 1, y] - image[x - 1, y])
            xx[x, y], yy[x, y], xy[x, y] = dx * dx, dy * dy, dx * dy
    out = np.zeros_like(image)
    for x in prange(2, rows - 2):
        for y in range(2, columns - 2):
            sxx = syy = sxy = single(0)
            for i in range(-1, 2):
                for j in range(-1, 2):
                    sxx += xx[x + i, y + j]
                    syy += yy[x + i, y + j]
                    sxy += xy[x + i, y + j]
            trace = sxx + syy
            out[x, y] = sxx * syy - sxy * sxy - k * trace * trace
    return out


@fast
def blurred(grid, first, last):
    """Three blurs, zero but from first to last along each of the three dimensions."""
    four, six = single(4), single(6)
    for along in range(3):
        more = np.zeros_like(grid)
        for x in prange(first[along, 0], last[along, 0] + 1):
            for y in range(first[along, 1], last[along, 1] + 1):
                for z in range(first[along, 2], last[along, 2] + 1):
                    for c in range(2):
                        if along == 0:
                            total = grid[x, y, z - 2, c] + four * grid[x, y, z - 1, c]
                            total += six * grid[x, y, z, c]
                            more[x, y, z, c] = total + four * grid[x, y, z + 1, c] + grid[x, y, z + 2, c]
                        elif along == 1:
                            total = grid[x - 2, y, z, c] + four * grid[x - 1, y, z, c]
                            total += six * grid[x, y, z, c]
                            more[x, y, z, c] = total + four * grid[x + 1, y, z, c] + grid[x + 2, y, z, c]
                        else:
                            total = grid[x, y - 2, z, c] + four * grid[x, y - 1, z, c]
                            total += six * grid[x, y, z, c]
                            more[x, y, z, c] = total + four * grid[x, y + 1, z, c] + grid[x, y + 2, z, c]
        grid = more
    return grid


@inlined
def lerp(p, q, share):
    return p + share * (q - p)


@fast
def sliced(grid, image, start, offset, rows, columns):
    out = np.empty((rows, columns), single)
    for x in prange(rows):
        gx, xf = x // 8 + offset, single(x % 8) / single(8)
        for y in range(columns):
            value = image[x + start, y + start]
            gy, yf = y // 8 + offset, single(y % 8) / single(8)
            level = value * single(10)
            z = int(level)
            zf = level - single(z)
            total = count = single(0)
            for c in range(2):
                near = lerp(
                    lerp(grid[gx, gy, 2 + z, c], grid[gx + 1, gy, 2 + z, c], xf),
                    lerp(grid[gx, gy + 1, 2 + z, c], grid[gx + 1, gy + 1, 2 + z, c], xf),
                    yf,
                )
                far = lerp(
                    lerp(grid[gx, gy, 3 + z, c], grid[gx + 1, gy, 3 + z, c], xf),
                    lerp(grid[gx, gy + 1, 3 + z, c], grid[gx + 1, gy + 1, 3 + z, c], xf),
                    yf,
                )
                if c == 0:
                    total = lerp(near, far, zf)
                else:
                    count = lerp(near, far, zf)
            out[x, y] = total / count if count > 0 else value
    return out


@fast
def bilateral_grid(image):
    rows, columns = image.shape
    high, wide = rows // 8, columns // 8
    grid = np.zeros((high + 4, wide + 4, 14, 2), single)
    for gx in prange((rows + 7) // 8):
        for x in range(8 * gx, min(8 * gx + 8, rows)):
            for y in range(columns):
                level = 2 + int(image[x, y] * single(10))
                grid[2 + gx, 2 + y // 8, level, 0] += image[x, y]
                grid[2 + gx, 2 + y // 8, level, 1] += single(1)
    first = np.full((3, 3), 2)
    last = np.empty((3, 3), np.int64)
    last[:, 0], last[:, 1], last[:, 2] = high + 1, wide + 1, 11
    return sliced(blurred(grid, first, last), image, 0, 2, rows, columns)


@fast
def bilateral_grid_c(image):
    high, wide = (image.shape[0] - 1) // 8 - 1, (image.shape[1] - 1) // 8 - 1
    grid = np.zeros((high + 3, wide + 3, 15, 2), single)
    for gx in prange(1, high + 1):
        for gy in range(1, wide + 1):
            for a in range(-4, 5):
                for b in range(-4, 5):
                    pixel = image[8 * gx + a, 8 * gy + b]
                    level = 2 + int(pixel * single(10) + single(0.5))
                    grid[gx, gy, level, 0] += pixel
                    grid[gx, gy, level, 1] += single(1)
    first = np.array([[1, 1, 2], [3, 1, 2], [3, 3, 2]])
    last = np.array([[high, wide, 12], [high - 2, wide, 12], [high - 2, wide - 2, 12]])
    return sliced(blurred(grid, first, last), image, 24, 3, image.shape[0] - 56, image.shape[1] - 56)


@fast
def halved(d):
    """Half of the rows and columns, in a frame of zeros."""
    rows, columns, all_columns = (d.shape[1] - 2) // 2, (d.shape[2] - 2) // 2, d.shape[2]
    out = np.zeros((4, rows + 2, columns + 2), single)
    for row in prange(4 * rows):
        c, x = row // rows, row % rows + 1
        e = np.zeros(all_columns, single)
        for y in range(1, all_columns - 1):
            e[y] = (d[c, 2 * x - 2, y] + single(2) * d[c, 2 * x - 1, y] + d[c, 2 * x, y]) * single(0.25)
        for y in range(1, columns + 1):
            out[c, x, y] = (e[2 * y - 2] + single(2) * e[2 * y - 1] + e[2 * y]) * single(0.25)
    return out


@fast
def filled_in(d, coarse):
    """Each point of d with what lacks of it from the coarser image."""
    rows, columns = d.shape[1] - 2, d.shape[2] - 2
    out = np.zeros_like(d)
    for x in prange(1, rows + 1):
        u = np.zeros(coarse.shape[2], single)
        for c in range(4):
            for y in range(1, coarse.shape[2] - 1):
                u[y] = (coarse[c, (x + 1) // 2, y] + coarse[c, (x + 2) // 2, y]) * single(0.5)
            for y in range(1, columns + 1):
                mean = (u[(y + 1) // 2] + u[(y + 2) // 2]) * single(0.5)
                out[c, x, y] = d[c, x, y] + (single(1) - d[3, x, y]) * mean
    return out


@fast
def premultiplied(image):
    out = np.empty_like(image)
    for x in prange(image.shape[1]):
        for c in range(4):
            for y in range(image.shape[2]):
                out[c, x, y] = image[c, x, y] * image[3, x, y]
    return out


@fast
def divided(filled):
    out = np.empty((3, filled.shape[1] - 2, filled.shape[2] - 2), single)
    for x in prange(out.shape[1]):
        for c in range(3):
            for y in range(out.shape[2]):
                out[c, x, y] = filled[c, x + 1, y + 1] / filled[3, x + 1, y + 1]
    return out


def interpolate(image):
    down = [premultiplied(image)]
    for _ in range(9):
        down.append(halved(down[-1]))
    filled = down[-1]
    for d in down[-2::-1]:
        filled = filled_in(d, filled)
    return divided(filled)


@fast
def denoised(raw):
    out = np.empty_like(raw)
    rows, columns = raw.shape
    for x in prange(8, rows - 30):
        for y in range(12, columns - 42):
            a, b, c, d = raw[x - 2, y], raw[x + 2, y], raw[x, y - 2], raw[x, y + 2]
            low, high = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))
            out[x, y] = max(low, min(high, raw[x, y]))
    return out


@inlined
def mean(p, q):
    return (p + q) >> 1


@fast
def greens(gr, gb):
    g_r, g_b = np.empty(gr.shape, np.int32), np.empty(gr.shape, np.int32)
    for x in prange(5, gr.shape[0] - 15):
        for y in range(7, gr.shape[1] - 21):
            p, q, r, s = (
                np.int32(gr[x, y + 1]),
                np.int32(gr[x, y]),
                np.int32(gb[x - 1, y]),
                np.int32(gb[x, y]),
            )
            t, u = np.int32(gb[x, y - 1]), np.int32(gr[x + 1, y])
            g_r[x, y] = mean(p, q) if abs(p - q) < abs(r - s) else mean(r, s)
            g_b[x, y] = mean(t, s) if abs(t - s) < abs(u - q) else mean(u, q)
    return g_r, g_b


@inlined
def painted(out, x, y, red, green, blue, matrix, curve):
    for k in range(3):
        row = matrix[2 - k]
        total = row[3] + row[0] * red + row[1] * green + row[2] * blue
        out[k, x, y] = curve[((total + (255 if total < 0 else 0)) >> 8) - LOWEST]


@fast
def developed(gr, rr, bb, gb, g_r, g_b, matrix, curve, rows, columns):
    out = np.empty((3, rows, columns), np.uint8)
    for cell in prange(rows // 2):
        x = cell + 6
        for place in range(columns // 2):
            y = place + 8
            red = gr[x, y] - mean(g_r[x, y], g_r[x, y - 1]) + mean(rr[x, y - 1], rr[x, y])
            blue = gr[x, y] - mean(g_b[x, y], g_b[x - 1, y]) + mean(bb[x, y], bb[x - 1, y])
            painted(out, 2 * cell, 2 * place, red, gr[x, y], blue, matrix, curve)
            if abs(bb[x, y] - bb[x - 1, y + 1]) < abs(bb[x, y + 1] - bb[x - 1, y]):
                blue = g_r[x, y] - mean(g_b[x, y], g_b[x - 1, y + 1]) + mean(bb[x, y], bb[x - 1, y + 1])
            else:
                blue = g_r[x, y] - mean(g_b[x, y + 1], g_b[x - 1, y]) + mean(bb[x, y + 1], bb[x - 1, y])
            painted(out, 2 * cell, 2 * place + 1, rr[x, y], g_r[x, y], blue, matrix, curve)
            if abs(rr[x, y] - rr[x + 1, y - 1]) < abs(rr[x, y - 1] - rr[x + 1, y]):
                red = g_b[x, y] - mean(g_r[x, y], g_r[x + 1, y - 1]) + mean(rr[x, y], rr[x + 1, y - 1])
            else:
                red = g_b[x, y] - mean(g_r[x, y - 1], g_r[x + 1, y]) + mean(rr[x, y - 1], rr[x + 1, y])
            painted(out, 2 * cell + 1, 2 * place, red, g_b[x, y], bb[x, y], matrix, curve)
            red = gb[x, y] - mean(g_r[x, y], g_r[x + 1, y]) + mean(rr[x, y], rr[x + 1, y])
            blue = gb[x, y] - mean(g_b[x, y], g_b[x, y + 1]) + mean(bb[x, y], bb[x, y + 1])
            painted(out, 2 * cell + 1, 2 * place + 1, red, gb[x, y], blue, matrix, curve)
    return out


def camera(raw, kelvin, contrast, gamma):
    den = denoised(raw)
    gr, rr, bb, gb = den[::2, ::2], den[::2, 1::2], den[1::2, ::2], den[1::2, 1::2]
    matrix, curve = matrix_of(kelvin), curve_of(contrast, gamma)
    sizes = raw.shape[0] - 48, raw.shape[1] - 64
    return developed(gr, rr, bb, gb, *greens(gr, gb), matrix, curve, *sizes)


@fast
def reduced(f):
    """Half of the rows and columns; the outermost ones are not defined."""
    rows, columns = f.shape[1] // 2, f.shape[2] // 2
    out = np.zeros((len(f), rows, columns), single)
    four, six, less = single(4), single(6), single(0.0625)
    for row in prange(len(f) * (rows - 2)):
        c, x = row // (rows - 2), row % (rows - 2) + 1
        h = np.empty(f.shape[2], single)
        for y in range(f.shape[2]):
            ends = f[c, 2 * x - 2, y] + f[c, 2 * x + 2, y]
            h[y] = (ends + four * (f[c, 2 * x - 1, y] + f[c, 2 * x + 1, y]) + six * f[c, 2 * x, y]) * less
        for y in range(1, columns - 1):
            ends = h[2 * y - 2] + h[2 * y + 2]
            out[c, x, y] = (ends + four * (h[2 * y - 1] + h[2 * y + 1]) + six * h[2 * y]) * less
    return out


@inlined
def between_rows(f, c, x, u):
    """Row x of an image with twice as many rows."""
    half = x // 2
    for y in range(f.shape[2]):
        if x % 2 == 0:
            u[y] = (f[c, half - 1, y] + single(6) * f[c, half, y] + f[c, half + 1, y]) * single(0.125)
        else:
            u[y] = (f[c, half, y] + f[c, half + 1, y]) * single(0.5)


@inlined
def between_columns(u, y):
    half = y // 2
    if y % 2 == 0:
        return (u[half - 1] + single(6) * u[half] + u[half + 1]) * single(0.125)
    return (u[half] + u[half + 1]) * single(0.5)


@fast
def mixed(one, other, share, less_one, less_other, less, start):
    """A level of the result: both Laplacians mixed, and the coarser result, twice as large."""
    planes, rows, columns = one.shape
    out = np.zeros_like(one)
    for row in prange(planes * (rows - 2 * start + 2)):
        c, x = row // (rows - 2 * start + 2), row % (rows - 2 * start + 2) + start
        a, b, p = (
            np.empty(less.shape[2], single),
            np.empty(less.shape[2], single),
            np.empty(less.shape[2], single),
        )
        between_rows(less_one, c, x, a)
        between_rows(less_other, c, x, b)
        between_rows(less, c, x, p)
        for y in range(start, columns - start + 2):
            m = share[x, y]
            first = one[c, x, y] - between_columns(a, y)
            second = other[c, x, y] - between_columns(b, y)
            out[c, x, y] = first * m + second * (single(1) - m) + between_columns(p, y)
    return out


def pyramid_blend(first, second, mask):
    one, other, share = [first], [second], [mask[None]]
    for levels in (one, other, share):
        for _ in range(3):
            levels.append(reduced(levels[-1]))
    result = one[3] * share[3] + other[3] * (single(1) - share[3])
    for k in (2, 1, 0):
        start = 2 ** (5 - k) - 1
        result = mixed(one[k], other[k], share[k][0], one[k + 1], other[k + 1], result, start)
    return result[:, 31:-29, 31:-29]


KERNELS: dict[str, Any] = {
    "unsharp": unsharp,
    "harris-corner": harris,
    "bilateral-grid": bilateral_grid,
    "bilateral-grid-c": bilateral_grid_c,
    "interpolate": interpolate,
    "camera": camera,
    "pyramid-blend": pyramid_blend,
}


def prepare(task: Task) -> Prepared:
    """The loops of the task's name."""
    if task.problem not in KERNELS:
        raise MissingError(f"no image pipeline {task.problem}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    scalars = {name: single(value) for name, value in task.values["scalars"].items()}
    arrays, kernel = tuple(task.arrays.values()), KERNELS[task.problem]
    return Prepared(lambda: kernel(*arrays, **scalars))
