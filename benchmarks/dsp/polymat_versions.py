"""The pipelines in polymat.  Lengths are known when they are compiled, since transforms need them."""

from __future__ import annotations

from typing import Any

import polymat as pm
from benchmarks.dsp.design import RATE
from benchmarks.dsp.programs import BANDS, SUB_BAND
from benchmarks.polybench.kernel import Description
from benchmarks.task import MissingError, Task


def describe(task: Task) -> Description:
    """The pipeline of that name, for the length of the task's signal."""
    samples = task.values["sizes"]["N"]
    x = pm.Signal(pm.Double, "x", samples)
    outputs = _sub_band(x) if task.problem == SUB_BAND else (_chain(x, task.problem),)
    return Description(outputs, (x,), ())


def _feature(name: str) -> Any:
    if not hasattr(pm, name):
        raise MissingError(f"polymat has no {name} yet")
    return getattr(pm, name)


def _kaiser(attenuation: float) -> tuple[str, float]:
    beta: float = _feature("kaiser_beta")(attenuation)
    return "kaiser", beta


def _chain(x: Any, name: str) -> Any:
    firwin = _feature("firwin")
    cutoff, factor = (1000, 10) if name == "unwanted-spectral" else (4000, 5)
    y = x.fir(firwin(670, cutoff / (RATE / 2), window=_kaiser(95)), mode="valid").down(factor)
    half = RATE // factor / 2
    stops = ((55, 65),) if name == "unwanted-spectral" else BANDS
    taps, attenuation = (3999, 60) if name == "unwanted-spectral" else (7239, 48)
    for low, high in stops:
        y = y.fir(firwin(taps, (low / half, high / half), window=_kaiser(attenuation)), mode="valid")
    if not hasattr(y, "interp_fft"):
        raise MissingError("polymat has no interp_fft yet")
    return y.interp_fft(factor)


def _sub_band(x: Any) -> tuple[Any, ...]:
    firwin = _feature("firwin")

    def filters(gain: float = 1.0) -> tuple[Any, Any]:
        return gain * firwin(24, 1 / 2), gain * firwin(25, 1 / 2, pass_zero=False)

    def split(y: Any) -> tuple[Any, Any]:
        low, high = filters()
        return y.fir(low, mode="causal").down(2), y.fir(high, mode="causal").down(2)

    def join(a: Any, b: Any) -> Any:
        low, high = filters(2.0)
        return a.up(2).fir(low, mode="causal") + b.up(2).fir(high, mode="causal")

    first, second = split(x)
    bands = (*split(first), *split(second))
    return (join(join(bands[0], bands[1]), join(bands[2], bands[3])), *bands)
