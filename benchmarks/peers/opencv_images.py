"""OpenCV, where it has what a program computes: filters and pyramids, plane by plane; counts, tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from benchmarks.task import Array, MissingError, Prepared, Task

TAPS = np.array((0.0625, 0.25, 0.375, 0.25, 0.0625), np.float32)


def unsharp(image: Array, threshold: float, weight: float) -> Array:
    """`sepFilter2D`, `addWeighted`, and a choice by a mask."""
    out = np.empty((3, image.shape[1] - 4, image.shape[2] - 4), np.float32)
    for plane, result in zip(image, out, strict=True):
        blur = cv2.sepFilter2D(plane, cv2.CV_32F, TAPS, TAPS, borderType=cv2.BORDER_CONSTANT)[2:-2, 2:-2]
        here = plane[2:-2, 2:-2]
        cv2.addWeighted(here, 1 + weight, blur, -weight, 0, dst=result)
        alike = cv2.compare(cv2.absdiff(here, blur), threshold, cv2.CMP_LT)
        cv2.copyTo(here, alike, result)
    return out


def harris(image: Array) -> Array:
    """`cornerHarris`, whose scale of slopes is 1/12 as well; what it makes of the border is cleared."""
    out = cv2.cornerHarris(image, 3, 3, 0.04)
    out[:2], out[-2:], out[:, :2], out[:, -2:] = 0, 0, 0, 0
    return np.asarray(out)


def pyramid_blend(first: Array, second: Array, mask: Array) -> Array:
    """`pyrDown` and `pyrUp`; what they make of borders does not get into the result."""

    def pyramid(image: Array) -> list[Array]:
        found = [image]
        for _ in range(3):
            rows, columns = found[-1].shape
            found.append(cv2.pyrDown(found[-1], dstsize=(columns // 2, rows // 2)))
        return found

    def up(image: Array, like: Array) -> Array:
        return np.asarray(cv2.pyrUp(image, dstsize=like.shape[::-1]))

    share = pyramid(mask)
    less = [cv2.subtract(np.ones_like(m), m) for m in share]
    out = np.empty((3, mask.shape[0] - 60, mask.shape[1] - 60), np.float32)
    for one, other, result in zip(first, second, out, strict=True):
        a, b = pyramid(one), pyramid(other)
        blended: Any = None
        for k in (3, 2, 1, 0):
            p, q = a[k], b[k]
            if k < 3:
                p, q = cv2.subtract(p, up(a[k + 1], p)), cv2.subtract(q, up(b[k + 1], q))
            mixed = cv2.add(cv2.multiply(p, share[k]), cv2.multiply(q, less[k]))
            blended = mixed if blended is None else cv2.add(mixed, up(blended, mixed))
        result[:] = blended[31:-29, 31:-29]
    return out


def counts(x: Array, end: float) -> Array:
    """`calcHist` of 256 bins."""
    return np.asarray(cv2.calcHist([x], [0], None, [256], [0.0, end]).ravel().astype(np.int32))


KERNELS: dict[str, Callable[..., Array]] = {
    "unsharp": unsharp,
    "harris-corner": harris,
    "pyramid-blend": pyramid_blend,
    "data_histogram-bytes": lambda x: counts(x, 256.0),
    "data_histogram-reals": lambda x: counts(x, 1.0),
    "data_lookup": cv2.LUT,
}


def prepare(task: Task) -> Prepared:
    """The pipeline of the task's name."""
    if task.problem not in KERNELS:
        raise MissingError(f"OpenCV has no {task.problem}")
    cv2.setNumThreads(int(os.environ["OMP_NUM_THREADS"]))
    kernel, arrays = KERNELS[task.problem], tuple(task.arrays.values())
    scalars: dict[str, float] = dict(task.values["scalars"])
    return Prepared(lambda: kernel(*arrays, **scalars))
