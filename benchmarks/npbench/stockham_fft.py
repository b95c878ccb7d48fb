"""NPBench stockham_fft: the Fourier transform of R to the power of K numbers.

NPBench has Stockham's algorithm written out, which is one way to compute it; which way is taken here is not
the program's to say.
"""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table
from benchmarks.program import Program
from polymat import Complex, Signal, fft


def build() -> Description:
    """Describe the transform."""
    (N,) = sizes = parameters("N")
    x = Signal(Complex, "x", N)
    return Description((fft(x).named("y"),), (x,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    return {"x": rng.random(sizes["N"]) + 1j * rng.random(sizes["N"])}


def reference(x: Array) -> Arrays:
    """Solve with NumPy's own transform."""
    return {"y": np.fft.fft(x) if x.size else x}


PROGRAM = Program(
    name="stockham_fft",
    sizes=size_table("N", S=(2**15,), M=(2**18,), L=(2**21,), PAPER=(4**10,)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=5,
    traffic=32,
    tolerance=1e-13,
    points=lambda sizes: sizes["N"],
    relative=True,
)
