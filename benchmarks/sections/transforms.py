"""The discrete Fourier transform, written as a double sum."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.cases import Case, Results
from benchmarks.polybench.kernel import Description, parameters, upto, variables
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Cast, Complex, Exp, Op, Reduce, Reduction, Vector

LENGTHS = (64, 1024, 4093, 4096, 1 << 18, 1 << 20)


def describe(task: Task) -> Description:
    """X[k] = sum over n of x[n] exp(-2 pi i k n / N)."""
    (N,) = sizes = parameters("N")
    k, n = variables("k n")
    x = Vector(Complex, "x", [N])
    X = Reduction(([k], [upto(N)]), ([k, n], [upto(N), upto(N)]), Complex, "X")
    X.defn = [Reduce(X(k), x(n) * Exp(Cast(Complex, -2j * math.pi) * k * n / N), Op.Sum)]
    return Description((X,), (x,), sizes)


def transform_case(length: int) -> Case:
    """A complex transform."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(length) + 1j * rng.standard_normal(length)

    def expected() -> tuple[Results, Results]:
        right = np.fft.fft(x)
        # A sum of so many rounded terms, of which the angles are rounded too.
        size = length * float(np.finfo(np.float64).eps) * math.log2(length + 1)
        return (right,), (np.full(length, 8 * size * math.sqrt(length)),)

    return Case(
        name=f"{length}",
        group="complex transform",
        task=Task("dft", {"x": x}, {"sizes": {"N": length}}),
        expected=expected,
        flops=int(5 * length * math.log2(length)),
        traffic=32 * length,
    )


def cases(quick: bool) -> Iterator[Case]:
    """Powers of two, large ones among them, and a prime."""
    for length in LENGTHS[:4:3] if quick else LENGTHS:
        yield transform_case(length)


PROBLEMS = {"dft": describe}
SECTIONS = (
    Section(
        name="transforms",
        title="A discrete Fourier transform written as a double sum, complex float64",
        cases=cases,
        rivals={"polymat": ("NumPy",), "polymat from C": ("FFTW", "FFTW measured")},
        goals=(
            "4096: within 1.1 of calling the library directly; a prime length works",
            "large ones: threads share one transform",
        ),
    ),
)
