"""The convolution layers of Yolo9000 and ResNet-18, float32, batch 1, channels last."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.cases import Case, Results
from benchmarks.polybench.kernel import Array, Description, parameters, upto, variables
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Float, Function, Image, Max, Op, Reduce, Reduction, Vector

# Output channels, input channels, height = width of the output times the stride, height = width of the
# filter, stride.
LAYERS = {
    "Yolo9000-0": (32, 3, 544, 3, 1),
    "Yolo9000-2": (64, 32, 272, 3, 1),
    "Yolo9000-4": (128, 64, 136, 3, 1),
    "Yolo9000-5": (64, 128, 136, 1, 1),
    "Yolo9000-8": (256, 128, 68, 3, 1),
    "Yolo9000-9": (128, 256, 68, 1, 1),
    "Yolo9000-12": (512, 256, 34, 3, 1),
    "Yolo9000-13": (256, 512, 34, 1, 1),
    "Yolo9000-18": (1024, 512, 17, 3, 1),
    "Yolo9000-19": (512, 1024, 17, 1, 1),
    "Yolo9000-23": (28269, 1024, 17, 1, 1),
    "ResNet18-1": (64, 3, 224, 7, 2),
    "ResNet18-2": (64, 64, 56, 3, 1),
    "ResNet18-3": (64, 64, 56, 1, 1),
    "ResNet18-4": (128, 64, 56, 3, 2),
    "ResNet18-5": (128, 64, 56, 1, 2),
    "ResNet18-6": (128, 128, 28, 3, 1),
    "ResNet18-7": (256, 128, 28, 3, 2),
    "ResNet18-8": (256, 128, 28, 3, 1),
    "ResNet18-9": (256, 256, 14, 3, 1),
    "ResNet18-10": (512, 512, 14, 3, 2),
    "ResNet18-11": (512, 512, 14, 5, 2),
    "ResNet18-12": (512, 512, 7, 3, 1),
}
QUICK = ("Yolo9000-5", "ResNet18-2", "ResNet18-4")
CHECKED_ROWS = (0, -1)


def describe(task: Task) -> Description:
    """O[h,w,k] = sum over r, s, c of I[h st + r, w st + s, c] P[r,s,c,k]; with bias and ReLU if asked."""
    H, W, K, R, S, C = sizes = parameters("H W K R S C")
    h, w, k, r, s, c = variables("h w k r s c")
    step = task.values["stride"]
    image = Image(Float, "I", [step * (H - 1) + R, step * (W - 1) + S, C])
    weights = Image(Float, "P", [R, S, C, K])
    domain = [upto(size) for size in sizes]
    O = Reduction(([h, w, k], domain[:3]), ([h, w, k, r, s, c], domain), Float, "O")  # noqa: E741
    O.defn = [Reduce(O(h, w, k), image(step * h + r, step * w + s, c) * weights(r, s, c, k), Op.Sum)]
    if "bias" not in task.arrays:
        return Description((O,), (image, weights), sizes)
    bias = Vector(Float, "bias", [K])
    positive = Function(([h, w, k], domain[:3]), Float, "positive")
    positive.defn = [Max(O(h, w, k) + bias(k), 0.0)]
    return Description((positive,), (image, weights, bias), sizes)


def convolution_case(name: str, layer: tuple[int, int, int, int, int], *, fused: bool = False) -> Case:
    """A layer; with bias and ReLU if `fused`.  Results are judged on the first and last row."""
    K, C, extent, R, step = layer
    out = extent // step
    rng = np.random.default_rng(1)
    side = step * (out - 1) + R
    arrays = {
        "I": rng.standard_normal((side, side, C), dtype=np.float32),
        "P": rng.standard_normal((R, R, C, K), dtype=np.float32),
    }
    if fused:
        arrays["bias"] = rng.standard_normal(K, dtype=np.float32)

    def expected() -> tuple[Results, Results]:
        right = _rows(arrays["I"], arrays["P"], out, step)
        bound = _rows(np.abs(arrays["I"]), np.abs(arrays["P"]), out, step)
        if fused:
            right, bound = np.maximum(right + arrays["bias"], 0), bound + np.abs(arrays["bias"])
        return (right,), ((2 * R * R * C + 2) * float(np.finfo(np.float32).eps) * bound,)

    sizes = dict(zip("HWKRSC", (out, out, K, R, R, C), strict=True))
    return Case(
        name=name + (" + bias, ReLU" if fused else ""),
        group="with bias and ReLU" if fused else "convolution",
        task=Task("conv2d", arrays, {"sizes": sizes, "stride": step}),
        expected=expected,
        flops=2 * out * out * K * R * R * C,
        traffic=4 * (side * side * C + R * R * C * K + out * out * K),
        element_bytes=4,
        view=lambda array: array[list(CHECKED_ROWS)],
    )


def _rows(image: Array, weights: Array, out: int, step: int) -> Array:
    """The rows that are judged, in double precision."""
    R = weights.shape[0]
    rows = []
    for row in (0, out - 1):
        band = image[row * step : row * step + R].astype(np.float64)
        windows = np.lib.stride_tricks.sliding_window_view(band, R, axis=1)[:, ::step]
        rows.append(np.einsum("rwcs,rsck->wk", windows, weights.astype(np.float64), optimize=True))
    return np.stack(rows)


def cases(quick: bool) -> Iterator[Case]:
    """Every layer, without and with bias and ReLU."""
    for fused in (False, True):
        for name in QUICK if quick else LAYERS:
            yield convolution_case(name, LAYERS[name], fused=fused)


PROBLEMS = {"conv2d": describe}
SECTIONS = (
    Section(
        name="convolutions",
        title="Convolution layers, float32, channels last",
        cases=cases,
        rivals={"polymat": ("torch conv2d", "torch.compile conv2d")},
        goals=(
            "geometric mean level with PyTorch's oneDNN, no layer below 0.7 of it",
            "with bias and ReLU no more than 3 % slower than without",
        ),
    ),
)
