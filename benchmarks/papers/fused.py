"""An operator and what follows it point by point: convolution and ReLU6, batch normalisation and ReLU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import polymat as pm
from benchmarks.cases import Case, Results
from benchmarks.polybench.kernel import Description, parameters, upto, variables
from benchmarks.sections import convolutions
from benchmarks.sections.convolutions import LAYERS, convolution_case
from benchmarks.task import Task

CONVOLUTION, NORMALISATION = "conv2d-relu6", "bnorm-relu"
NORMALISED = (
    *((112, 64), (56, 64), (56, 256), (28, 128), (28, 512)),
    *((14, 256), (14, 1024), (7, 512), (7, 2048)),
)
"""The results of ResNet-50's layers: height and width, channels."""


def describe_convolution(task: Task) -> Description:
    """min(max(O, 0), 6) behind a convolution."""
    plain = convolutions.describe(task)
    (O,) = plain.outputs  # noqa: E741
    H, W, K, *_ = plain.sizes
    h, w, k = variables("h w k")
    bounded = pm.Function(([h, w, k], [upto(H), upto(W), upto(K)]), pm.Float, "bounded")
    bounded.defn = [pm.Min(pm.Max(O(h, w, k), 0.0), 6.0)]
    return Description((bounded,), plain.inputs, plain.sizes)


def describe_normalisation(task: Task) -> Description:
    """max(x scale + shift, 0), the normalisation and the ReLU each a stage."""
    H, W, C = sizes = parameters("H W C")
    h, w, c = variables("h w c")
    x = pm.Image(pm.Float, "x", [H, W, C])
    scale, shift = pm.Vector(pm.Float, "scale", [C]), pm.Vector(pm.Float, "shift", [C])
    domain = [h, w, c], [upto(size) for size in sizes]
    normal = pm.Function(domain, pm.Float, "normal")
    normal.defn = [x(h, w, c) * scale(c) + shift(c)]
    positive = pm.Function(domain, pm.Float, "positive")
    positive.defn = [pm.Max(normal(h, w, c), 0.0)]
    return Description((positive,), (x, scale, shift), sizes)


def fused_case(name: str) -> Case:
    """A convolution layer with a ReLU6 behind."""
    plain = convolution_case(name, LAYERS[name])

    def expected() -> tuple[Results, Results]:
        (right,), bounds = plain.expected()
        return (np.clip(right, 0, 6),), bounds

    task = replace(plain.task, problem=CONVOLUTION)
    return replace(plain, name=f"{name} + ReLU6", group="convolution, ReLU6", task=task, expected=expected)


def normalised_case(side: int, channels: int) -> Case:
    """A batch normalisation of one picture with a ReLU behind."""
    rng = np.random.default_rng(1)
    shapes = {"x": (side, side, channels), "scale": (channels,), "shift": (channels,)}
    arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}

    def expected() -> tuple[Results, Results]:
        x, scale, shift = (arrays[name].astype(np.float64) for name in shapes)
        bound = 4 * float(np.finfo(np.float32).eps) * (np.abs(x * scale) + np.abs(shift))
        return (np.maximum(x * scale + shift, 0),), (bound,)

    return Case(
        name=f"{side} x {side} x {channels}",
        group="batch normalisation, ReLU",
        task=Task(NORMALISATION, arrays, {"sizes": dict(zip("HWC", (side, side, channels), strict=True))}),
        expected=expected,
        flops=3 * side * side * channels,
        traffic=4 * 2 * side * side * channels,
        compute_bound=False,
        element_bytes=4,
        stream="copy",
    )


def fused_cases(quick: bool) -> Iterator[Case]:
    """Every layer with a ReLU6."""
    yield from map(fused_case, convolutions.QUICK if quick else LAYERS)


def normalised_cases(quick: bool) -> Iterator[Case]:
    """The results of ResNet-50's layers."""
    for side, channels in NORMALISED[::4] if quick else NORMALISED:
        yield normalised_case(side, channels)


PROBLEMS = {CONVOLUTION: describe_convolution, NORMALISATION: describe_normalisation}
