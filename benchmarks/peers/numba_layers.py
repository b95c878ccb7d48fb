"""The layers of NPBench's networks in Numba, parallel and with fastmath; small products are NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import njit, prange

fast = njit(parallel=True, fastmath=True, cache=True)
single = np.float32


@fast
def softmax(x):
    rows = x.reshape(-1, x.shape[-1])
    y = np.empty_like(rows)
    for r in prange(len(rows)):
        top, total = rows[r].max(), single(0)
        for c in range(rows.shape[1]):
            y[r, c] = np.exp(rows[r, c] - top)
            total += y[r, c]
        for c in range(rows.shape[1]):
            y[r, c] /= total
    return y.reshape(x.shape)


@fast
def convolved(image, weights):
    high, wide, channels, filters = weights.shape
    pictures, rows, columns = image.shape[0], image.shape[1] - high + 1, image.shape[2] - wide + 1
    out = np.zeros((pictures, rows, columns, filters), single)
    for place in prange(pictures * rows):
        n, y = place // rows, place % rows
        for x in range(columns):
            for a in range(high):
                for b in range(wide):
                    for d in range(channels):
                        value = image[n, y + a, x + b, d]
                        for c in range(filters):
                            out[n, y, x, c] += value * weights[a, b, d, c]
    return out


@fast
def conv2d_bias(image, weights, bias):
    return convolved(image, weights) + bias


def lenet(image, *weights):
    x = image
    for filters, bias in (weights[:2], weights[2:4]):
        x = np.maximum(convolved(x, filters) + bias, 0)
        high, wide = x.shape[1] // 2 * 2, x.shape[2] // 2 * 2
        x = np.maximum(x[:, :high:2, :wide], x[:, 1:high:2, :wide])
        x = np.ascontiguousarray(np.maximum(x[:, :, ::2], x[:, :, 1::2]))
    x = x.reshape(len(x), -1)
    for at in range(4, len(weights), 2):
        x = x @ weights[at].reshape(-1, len(weights[at + 1])) + weights[at + 1]
        x = np.maximum(x, 0) if at < len(weights) - 2 else x
    return x


@fast
def _normalised(x, beside):
    """Over the pictures; added to something, and what is negative cut off."""
    pictures, rows, columns, channels = x.shape
    out = np.empty_like(x)
    for y in prange(rows):
        for c in range(columns):
            for d in range(channels):
                mean, square = single(0), single(0)
                for n in range(pictures):
                    mean += x[n, y, c, d]
                mean /= single(pictures)
                for n in range(pictures):
                    square += (x[n, y, c, d] - mean) ** 2
                scale = np.sqrt(np.sqrt(square / single(pictures)) + single(1e-5))
                for n in range(pictures):
                    out[n, y, c, d] = max((x[n, y, c, d] - mean) / scale + beside[n, y, c, d], single(0))
    return out


def resnet(image, first, second, third):
    x = np.pad(convolved(image, first), ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = _normalised(x, np.zeros_like(x))
    x = convolved(x, second)
    x = _normalised(x, np.zeros_like(x))
    return _normalised(convolved(x, third), image)


LAYERS: Mapping[str, Callable[..., Any]] = {
    "softmax": softmax,
    "conv2d_bias": conv2d_bias,
    "lenet": lenet,
    "resnet": resnet,
}
