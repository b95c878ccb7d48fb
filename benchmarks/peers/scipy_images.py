"""SciPy's filters of images; one thread, whatever it is given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import ndimage

from benchmarks.images import harris, unsharp
from benchmarks.sections.channels import CHANNELS, SIDE, TAPS
from benchmarks.task import Array, MissingError, Prepared, Task


def prepare(task: Task) -> Prepared:
    """`ndimage.correlate` with a window of one channel, and its interior."""
    weights, half = np.array(TAPS), SIDE // 2
    inner = slice(half, -half)
    image = task.arrays.get("image")

    def planes() -> Array:
        assert image is not None
        return np.asarray(ndimage.correlate(image, weights[None])[:, inner, inner])

    def last() -> Array:
        assert image is not None
        found = image.reshape(len(image), -1, CHANNELS)
        found = np.asarray(ndimage.correlate(found, weights[..., None])[inner, inner])
        return found.reshape(len(found), -1) if image.ndim == 2 else found

    ways = {"blur-last": last, "blur-flat": last, "blur-bytes": last, "blur-planes": planes}
    if task.problem not in ways:
        raise MissingError(f"no filter {task.problem}")
    return Prepared(ways[task.problem])


def prepare_pipeline(task: Task) -> Prepared:
    """Those of the image pipelines that are filters of `ndimage` and arithmetic of NumPy.

    The others have stages that it has not: grids of sums at computed places, tables, and levels that keep
    every second pixel, of which it would filter all.
    """
    image = task.arrays.get("image")
    ways: dict[str, Callable[..., Array]] = {"unsharp": _sharpened, "harris-corner": _corners}
    if task.problem not in ways or image is None:
        raise MissingError(f"SciPy has no filters for most of {task.problem}")
    way, scalars = ways[task.problem], task.values["scalars"]
    return Prepared(lambda: way(image, **scalars))


def _sharpened(image: Array, threshold: float, weight: float) -> Array:
    """Blurred down and across, and sharpened where that makes a difference."""
    down = ndimage.correlate1d(image, unsharp.WEIGHTS, axis=1)[:, 2:-2]
    blur = ndimage.correlate1d(down, unsharp.WEIGHTS, axis=2)[:, :, 2:-2]
    here, w = image[:, 2:-2, 2:-2], np.float32(weight)
    sharp = here * (np.float32(1) + w) - blur * w
    return np.where(np.abs(here - blur) < np.float32(threshold), here, sharp)


def _corners(image: Array) -> Array:
    """Two slopes, three windows of their products, and the response inside."""
    smooth, slope = (harris.A, harris.B, harris.A), (-1, 0, 1)
    dx = ndimage.correlate1d(ndimage.correlate1d(image, smooth, axis=1), slope, axis=0)
    dy = ndimage.correlate1d(ndimage.correlate1d(image, smooth, axis=0), slope, axis=1)
    sxx, syy, sxy = (_window(f) for f in (dx * dx, dy * dy, dx * dy))
    trace = sxx + syy
    found = np.zeros_like(image)
    found[2:-2, 2:-2] = (sxx * syy - sxy * sxy - np.float32(harris.SENSITIVITY) * trace * trace)[2:-2, 2:-2]
    return found


def _window(f: Array) -> Array:
    """The sum of nine neighbours."""
    ones = (1, 1, 1)
    return np.asarray(ndimage.correlate1d(ndimage.correlate1d(f, ones, axis=0), ones, axis=1))
