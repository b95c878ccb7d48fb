"""FIR filters of one signal, and the filter pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import signal

from benchmarks.cases import Case, Results
from benchmarks.dsp import polymat_versions
from benchmarks.dsp.programs import CHAINS, SUB_BAND, useful_flops
from benchmarks.dsp.scipy_versions import reference
from benchmarks.polybench.kernel import Description, parameters
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Double, Float, Signal, Vector

TAPS = (8, 32, 128, 512, 2048, 8192)
SAMPLES = 1_000_000
PIPELINE_SAMPLES = (262_144, 2_097_152)
# Relative to the norm of the signal.
TOLERANCES = {"float64": 1e-10, "float32": 1e-5}


def describe_fir(task: Task) -> Description:
    """A delay-compensated filter whose taps are an input; every so many samples are kept."""
    kind = Float if task.arrays["x"].dtype == np.float32 else Double
    (N,) = sizes = parameters("N")
    x, h = Signal(kind, "x", N), Vector(kind, "h", [len(task.arrays["h"])])
    y = x.fir(h, mode="valid")
    return Description((y.down(task.values["down"]) if "down" in task.values else y,), (x, h), sizes)


def fir_case(taps: int, dtype: Any, down: int = 1, samples: int = SAMPLES) -> Case:
    """A filter of so many taps; every `down`th sample is kept."""
    rng = np.random.default_rng(1)
    kind = np.dtype(dtype).type
    x = rng.standard_normal(samples).astype(kind)
    h = signal.firwin(taps, 0.25).astype(kind)
    kept = -(-(samples - taps + 1) // down)
    values: dict[str, Any] = {"sizes": {"N": samples}, **({"down": down} if down > 1 else {})}

    def expected() -> tuple[Results, Results]:
        right = signal.oaconvolve(x.astype(np.float64), h.astype(np.float64), mode="valid")[::down]
        return (right,), (_bound(right, x),)

    return Case(
        name=f"{taps} taps, {np.dtype(dtype).name}" + (f", down {down}" if down > 1 else ""),
        group="float64" if kind is np.float64 and down == 1 else "other",
        task=Task("fir", {"x": x, "h": h}, values),
        expected=expected,
        flops=2 * taps * kept,
        traffic=kind().itemsize * (samples + taps + kept),
        element_bytes=kind().itemsize,
    )


def pipeline_case(name: str, samples: int) -> Case:
    """One of the pipelines on noise."""
    x = np.random.default_rng(1).standard_normal(samples)

    def expected() -> tuple[Results, Results]:
        right = reference(name, x)
        return right, tuple(_bound(array, x) for array in right)

    return Case(
        name=f"{name} {samples}",
        group=f"N = {samples}",
        task=Task(name, {"x": x}, {"sizes": {"N": samples}}),
        expected=expected,
        flops=useful_flops(name, samples),
        traffic=8 * 2 * samples,
    )


def _bound(right: Any, x: Any) -> Any:
    return np.full(right.shape, TOLERANCES[x.dtype.name] * float(np.linalg.norm(x)))


def fir_cases(quick: bool) -> Iterator[Case]:
    """All numbers of taps; single precision and decimation beside them."""
    for taps in TAPS[1:5:3] if quick else TAPS:
        yield fir_case(taps, np.float64)
    yield fir_case(64, np.float32)
    yield fir_case(64, np.float32, down=10)


def pipeline_cases(quick: bool) -> Iterator[Case]:
    """The three pipelines, short and long."""
    for samples in PIPELINE_SAMPLES[:1] if quick else PIPELINE_SAMPLES:
        for name in (*CHAINS, SUB_BAND):
            yield pipeline_case(name, samples)


PROBLEMS = {
    "fir": describe_fir,
    SUB_BAND: polymat_versions.describe,
    **dict.fromkeys(CHAINS, polymat_versions.describe),
}
SECTIONS = (
    Section(
        name="fir",
        title="A filter on a million samples",
        cases=fir_cases,
        rivals={
            "polymat": (
                "lfilter",
                "oaconvolve",
                "upfirdn",
                "torch conv1d",
                "polymat, direct",
                "polymat, FFT",
            )
        },
        goals=(
            "2 times the best of SciPy and PyTorch at every number of taps",
            "never more than 10 % slower than the better of direct and FFT",
            "64 taps, float32: 0.7 of peak; decimation by 10 costs a tenth",
        ),
    ),
    Section(
        name="dsp",
        title="Filter pipelines, float64",
        cases=pipeline_cases,
        rivals={"polymat": ("SciPy, lfilter", "SciPy, best", "SciPy, streaming")},
        goals=(
            "2,097,152 samples: 5 times the best SciPy version on one thread, 8 times on two",
            "262,144 samples: 4 times",
        ),
    ),
)
