"""A filter pipeline: low-pass FIR filter, then every fourth sample."""

from __future__ import annotations

import numpy as np
from scipy import signal

from benchmarks.polybench.kernel import DOUBLE, Arrays, Description, Kernel, Sizes, parameters, size_table
from polymat import Double, Signal, Vector

NAME = "decimate"
TAPS = 65
FACTOR = 4


def build() -> Description:
    """Describe the pipeline with signals."""
    (N,) = sizes = parameters("N")
    x, h = Signal(Double, "x", N), Vector(Double, "h", [TAPS])
    return Description((x.fir(h, mode="valid").down(FACTOR),), (x, h), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return noise, and a filter that keeps the lowest fourth of the spectrum."""
    noise = np.random.default_rng(1).standard_normal(sizes["N"])
    return {"x": noise, "h": signal.firwin(TAPS, 1 / FACTOR)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with SciPy's polyphase filter, which computes only the samples that are kept."""
    x, h = arrays["x"], arrays["h"]
    first = (TAPS - 1) // FACTOR  # full overlap begins at sample TAPS - 1, a multiple of FACTOR
    return {"y": signal.upfirdn(h, x, down=FACTOR)[first : first + _kept(len(x))]}


def _kept(samples: int) -> int:
    return max(0, -((TAPS - 1 - samples) // FACTOR))


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    return 2 * TAPS * _kept(sizes["N"])


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    return DOUBLE * (sizes["N"] + TAPS + _kept(sizes["N"]))


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "N",
        MINI=(4096,),
        SMALL=(32768,),
        MEDIUM=(262144,),
        LARGE=(2097152,),
        EXTRALARGE=(8388608,),
    ),
    builds={"signal": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: TAPS,
)
