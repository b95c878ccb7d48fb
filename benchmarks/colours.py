"""The numbers of the camera pipeline: its matrix of colours and its curve of brightness, in NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
WARM = ((1.6697, -0.2693, -0.4004, -42.4346), (-0.3576, 1.0615, 1.5949, -37.1158),
        (-0.2175, -1.8751, 6.9640, -26.6970))  # fmt: skip
COLD = ((2.2997, -0.4478, 0.1706, -39.0923), (-0.3826, 1.5906, -0.2080, -25.4311),
        (-0.0888, -0.7344, 2.2832, -20.0826))  # fmt: skip
WARM_KELVIN, COLD_KELVIN = 3200, 7000
LOWEST, HIGHEST = -32768, 32767


def matrix_of(kelvin: float) -> Array:
    """The matrix of colours, in parts of 256."""
    one, warm, cold = np.float32(1), np.array(WARM, np.float32), np.array(COLD, np.float32)
    difference = np.float32(1 / COLD_KELVIN - 1 / WARM_KELVIN)
    share = (one / np.float32(kelvin) - np.float32(1 / WARM_KELVIN)) / difference
    found: Array = ((warm * share + cold * (one - share)) * np.float32(256)).astype(np.int32)
    return found


def curve_of(contrast: float, gamma: float) -> Array:
    """The brightness of values from -32768 on."""
    one, two = np.float32(1), np.float32(2)
    v = np.arange(LOWEST, HIGHEST + 1).astype(np.float32)
    f = np.clip(v / np.float32(1024), 0, 1).astype(np.float32)
    g = f ** (one / np.float32(gamma))
    bend = two - two ** (np.float32(contrast) / np.float32(100))
    slope, h = two - two * bend, one - g
    z = np.where(g > 0.5, one - ((slope * h) * h + bend * h), (slope * g) * g + bend * g)
    entries: Array = np.clip(z * np.float32(256), 0, 255).astype(np.uint8)
    return entries
