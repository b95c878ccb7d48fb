"""SciPy's filters of images; one thread, whatever it is given."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

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
