"""Recursive filters of a million samples: sections in a row and direct forms, one channel and eight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import signal

from benchmarks.cases import Case, Results
from benchmarks.polybench.kernel import Description, parameters
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Double, Float, Matrix, Signal, Vector, lfilter, sosfilt

SAMPLES = 1 << 20
CHANNELS = 8
CUTOFF = 0.3  # of half the sampling rate
# Relative to the largest sample; rounding grows with the order and towards low cut-offs.
TOLERANCES = {"float64": 1e-12, "float32": 1e-4}


def describe(task: Task) -> Description:
    """The filter, whose coefficients are inputs."""
    x, *coefficients = task.arrays.values()
    kind = Float if x.dtype == np.float32 else Double
    sizes = parameters("C N" if x.ndim == 2 else "N")
    source = Signal(kind, "x", list(sizes))
    if len(coefficients) == 1:
        rows = Matrix(kind, "sos", list(coefficients[0].shape))
        return Description((sosfilt(rows, source),), (source, rows), sizes)
    b, a = (Vector(kind, name, [len(task.arrays[name])]) for name in ("b", "a"))
    return Description((lfilter(b, a, source),), (source, b, a), sizes)


def recursive_case(problem: str, order: int, dtype: Any, channels: int = 1, samples: int = SAMPLES) -> Case:
    """A low-pass of Butterworth, in sections ("sosfilt") or in direct form ("lfilter")."""
    kind = np.dtype(dtype).type
    shape = (samples,) if channels == 1 else (channels, samples // channels)
    x = np.random.default_rng(1).standard_normal(shape).astype(kind)
    names = ("b", "a") if problem == "lfilter" else ("sos",)
    design: Any = signal.butter
    found = design(order, CUTOFF) if problem == "lfilter" else design(order, CUTOFF, output="sos")
    coefficients = dict(zip(names, found if problem == "lfilter" else (found,), strict=True))
    arrays = {"x": x, **{name: each.astype(kind) for name, each in coefficients.items()}}
    sizes = {"N": shape[-1], **({"C": channels} if channels > 1 else {})}

    def expected() -> tuple[Results, Results]:
        wide: list[Any] = [each.astype(np.float64) for each in arrays.values()]
        run: Any = signal.lfilter if problem == "lfilter" else signal.sosfilt
        right = np.asarray(run(*wide[1:], wide[0]))
        return (right,), (np.full(shape, TOLERANCES[x.dtype.name] * float(np.abs(right).max())),)

    return Case(
        name=f"{problem}, order {order}, {channels} x {shape[-1]}, {x.dtype.name}",
        group=x.dtype.name,
        task=Task(problem, arrays, {"sizes": sizes}),
        expected=expected,
        flops=(2 * order + 1) * 2 * samples if problem == "lfilter" else 5 * 2 * (order // 2) * samples,
        traffic=2 * x.nbytes,
        element_bytes=x.itemsize,
    )


def recursive_cases(quick: bool) -> Iterator[Case]:
    """Sections and direct forms; single precision beside them."""
    for dtype in (np.float64,) if quick else (np.float64, np.float32):
        yield recursive_case("sosfilt", 12, dtype)
        yield recursive_case("sosfilt", 12, dtype, CHANNELS)
        yield recursive_case("lfilter", 2, dtype)
        yield recursive_case("lfilter", 4, dtype)


PROBLEMS = dict.fromkeys(("sosfilt", "lfilter"), describe)
SECTIONS = (
    Section(
        name="recursive",
        title="Recursive filters of a million samples",
        cases=recursive_cases,
        rivals={"polymat": ("SciPy, recursive", "Numba, recursive")},
        goals=("2 times the best of SciPy and Numba's loops, one thread, 1 and 8 channels",),
    ),
)
