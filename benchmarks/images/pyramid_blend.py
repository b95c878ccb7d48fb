"""Pyramid blending: two images are put together, each of their frequencies with a mask as smooth as it."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between, photograph
from polymat import Case, Condition, Float, Function, Image

LEVELS = 4
BEFORE, AFTER = 31, 29
PADDING = BEFORE + AFTER
HIDDEN, OF = 205, 527
"""The share of rows in which the mask is 0."""


c, x, y = variables("c x y")
PLANES = between(0, 2)


def build() -> Description:
    """Describe the pipeline; the images are within a padding that repeats their edges."""
    R, C = sizes = parameters("R C")
    N, M = R + PADDING, C + PADDING
    first, second = (Image(Float, name, [3, N, M]) for name in ("first", "second"))
    mask = Image(Float, "mask", [N, M])
    one, other = _pyramid("a", first, [c, x, y], N, M), _pyramid("b", second, [c, x, y], N, M)
    share = _pyramid("m", mask, [x, y], N, M)

    def zone(level: int) -> list[Any]:
        return [_zone(N, level), _zone(M, level)]

    def expanded(name: str, f: Any, level: int) -> Function:
        """Rows and columns twice as close, from the level above."""
        rows = [_zone(N, level), _zone(M, level + 1)]
        u = _stage(f"{name}u{level}", [c, x, y], rows, *_doubled(lambda i: f(c, i, y), x))
        return _stage(f"{name}v{level}", [c, x, y], zone(level), *_doubled(lambda i: u(c, x, i), y))

    def laplacian(name: str, g: list[Any], level: int) -> Any:
        if level == LEVELS - 1:
            return g[level]
        up = expanded(name, g[level + 1], level)
        return _stage(f"{name}l{level}", [c, x, y], zone(level), g[level](c, x, y) - up(c, x, y))

    blended = None
    for k in range(LEVELS - 1, -1, -1):
        a, b = laplacian("a", one, k), laplacian("b", other, k)
        mixed = a(c, x, y) * share[k](x, y) + b(c, x, y) * (1 - share[k](x, y))
        result = _stage(f"r{k}", [c, x, y], zone(k), mixed)
        if blended is not None:
            up = expanded("p", blended, k)
            result = _stage(f"p{k}", [c, x, y], zone(k), result(c, x, y) + up(c, x, y))
        blended = result
    assert blended is not None
    whole = [between(0, R - 1), between(0, C - 1)]
    output = _stage("blended", [c, x, y], whole, blended(c, x + BEFORE, y + BEFORE))
    return Description((output,), (first, second, mask), sizes)


def _zone(extent: Any, level: int) -> Any:
    """Rows or columns of a level that are expanded."""
    start = 2 ** (5 - level) - 1
    return between(start, extent // 2**level - start + 1)


def _stage(name: str, at: Any, spans: Any, *defn: Any) -> Function:
    """A function of colours, or of one plane."""
    found = Function((at, [PLANES, *spans] if len(at) == 3 else spans), Float, name)
    found.defn = list(defn)
    return found


def _pyramid(name: str, f: Any, at: Any, N: Any, M: Any) -> list[Any]:
    """The image itself, and three times half of the one before."""
    found, plane = [f], at[:-2]
    for k in range(1, LEVELS):
        rows, columns = between(k, N // 2**k - 2), between(k, M // 2**k - 2)
        near = between(k - 1, M // 2 ** (k - 1) - 2)
        g, h = found[-1], f"{name}h{k}"
        half = _stage(h, at, [rows, near], _weighted([g(*plane, 2 * x + s, y) for s in range(-2, 3)]))
        less = _weighted([half(*plane, x, 2 * y + s) for s in range(-2, 3)])
        found.append(_stage(f"{name}{k}", at, [rows, columns], less))
    return found


def _weighted(parts: list[Any]) -> Any:
    a, b, c, d, e = parts
    return (a + 4 * b + 6 * c + 4 * d + e) * 0.0625


def _doubled(f: Any, i: Any) -> tuple[Any, Any]:
    """Between two points: at even places on one of them, at odd ones in the middle."""
    even = (f(i // 2 - 1) + 6 * f(i // 2) + f(i // 2 + 1)) * 0.125
    odd = (4 * f((i - 1) // 2) + 4 * f((i + 1) // 2)) * 0.125
    return Case(Condition(i % 2, "==", 0), even), Case(Condition(i % 2, "==", 1), odd)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return two pictures within their padding, and the mask."""
    shape = (3, sizes["R"], sizes["C"])
    ends = ((0, 0), (BEFORE, AFTER), (BEFORE, AFTER))
    first, second = (np.pad(photograph(shape, rng), ends, mode="edge") for _ in range(2))
    mask = np.ones(first.shape[1:], np.float32)
    mask[: len(mask) * HIDDEN // OF] = 0
    return {"first": first, "second": second[:, ::-1].copy(), "mask": mask}


def reference(first: Array, second: Array, mask: Array) -> Arrays:
    """Solve with NumPy; what is not defined is not a number, and does not get into the result."""
    one, other, share = _pyramid_of(first), _pyramid_of(second), _pyramid_of(mask[None])
    blended = None
    for k in range(LEVELS - 1, -1, -1):
        shape = one[k].shape
        a, b = (g[k] if k == LEVELS - 1 else g[k] - _expanded(g[k + 1], shape) for g in (one, other))
        result = a * share[k] + b * (np.float32(1) - share[k])
        blended = result if blended is None else result + _expanded(blended, shape)
    assert blended is not None
    return {"blended": blended[:, BEFORE : BEFORE + first.shape[1] - PADDING, BEFORE : 1 - BEFORE + 1].copy()}


def _pyramid_of(image: Array) -> list[Array]:
    found = [image]
    for _ in range(1, LEVELS):
        halved = _halved(found[-1])
        found.append(_halved(halved.swapaxes(1, 2)).swapaxes(1, 2))
    return found


def _halved(array: Array) -> Array:
    """Every second row with its four neighbours, where they are there."""
    extent = array.shape[1] // 2
    found = np.full((array.shape[0], extent, array.shape[2]), np.nan, np.float32)
    rows = np.arange(1, extent - 1)
    parts = [array[:, 2 * rows + k] for k in range(-2, 3)]
    four, six = np.float32(4), np.float32(6)
    total = parts[0] + four * parts[1] + six * parts[2] + four * parts[3] + parts[4]
    found[:, 1:-1] = total * np.float32(0.0625)
    return found


def _expanded(array: Array, shape: tuple[int, ...]) -> Array:
    """Rows and columns twice as close."""
    rows = _twice(array, shape[1])
    return _twice(rows.swapaxes(1, 2), shape[2]).swapaxes(1, 2)


def _twice(array: Array, extent: int) -> Array:
    found = np.full((array.shape[0], extent, array.shape[2]), np.nan, np.float32)
    four, six, eighth = np.float32(4), np.float32(6), np.float32(0.125)
    even = np.arange(2, min(extent, 2 * array.shape[1] - 2), 2) // 2
    odd = (np.arange(1, min(extent, 2 * array.shape[1] - 1), 2) - 1) // 2
    found[:, 2 * even] = (array[:, even - 1] + six * array[:, even] + array[:, even + 1]) * eighth
    found[:, 2 * odd + 1] = (four * array[:, odd] + four * array[:, odd + 1]) * eighth
    return found


PROGRAM = Program(
    name="pyramid-blend",
    sizes=size_table("R C", MINI=(40, 64), SMALL=(256, 256), PAPER=(2048, 2048)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=153.75,
    traffic=40,
    tolerance=2e-6,
)
