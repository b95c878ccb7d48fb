"""Products of matrices: polymat's own code, the crossover to libraries, a bias and a ReLU behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.polybench.kernel import ALPHA, BETA, Description, parameters, upto, variables
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Double, Float, Function, Matrix, Max, Vector, gemm

CUBES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048)
SHAPES = (
    (128, 2048, 4096),
    (320, 3072, 4096),
    (2048, 4096, 32),
    (1024, 16, 500000),
    (4096, 4096, 4096),
    (1024, 1024, 32768),
    (1024, 32768, 1024),
    (32768, 1024, 1024),
)
THIN = range(8, 51)
# Around the size from which a library is faster: cubes, and rows or columns that are few.
CROSSOVER = (
    *((n, n, n) for n in (8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, 256)),
    *((n, 8 * n, n) for n in (8, 12, 16, 24, 32, 48, 64, 96)),
    *((8 * n, n, n) for n in (8, 12, 16, 24, 32, 48, 64, 96)),
    *((n, n, 8 * n) for n in (8, 12, 16, 24, 32, 48, 64, 96)),
)
# What users multiply: odd sizes and powers of two, few rows, columns or steps, and many of them.
SIZES = (
    *((n, n, n) for n in (24, 31, 32, 48, 63, 64, 96, 100, 127, 128, 160, 192, 200, 255, 256, 300, 320)),
    *((n, n, n) for n in (384, 400, 500, 511, 512, 640, 768, 800, 1000, 1023, 1024)),
    *((50, 128, 128), (8, 1000, 1000), (1000, 1000, 8), (1000, 8, 1000), (16, 2048, 512), (2048, 16, 512)),
    *((300, 4, 300), (4, 300, 300), (64, 64, 4096), (2000, 32, 32), (32, 2000, 32), (1024, 1024, 64)),
)
LAYERS = ((64, 64, 64), (256, 256, 256), (1024, 1024, 1024), (2048, 2048, 64))


def describe_product(task: Task) -> Description:
    """C = A B, or alpha A B + beta C where the task has a C."""
    kind = _kind(task)
    M, N, K = sizes = parameters("M N K")
    A, B = Matrix(kind, "A", [M, K]), Matrix(kind, "B", [K, N])
    if "C" not in task.arrays:
        return Description((A @ B,), (A, B), sizes)
    C = Matrix(kind, "C", [M, N])
    return Description((gemm(A, B, C, ALPHA, BETA),), (A, B, C), sizes)


def describe_layer(task: Task) -> Description:
    """A product, a bias added to each row, and the positive part."""
    kind = _kind(task)
    M, N, K = sizes = parameters("M N K")
    A, B, bias = Matrix(kind, "A", [M, K]), Matrix(kind, "B", [K, N]), Vector(kind, "bias", [N])
    i, j = variables("i j")
    product = A @ B
    layer = Function(([i, j], [upto(M), upto(N)]), kind, "positive")
    layer.defn = [Max(product(i, j) + bias(j), 0.0)]
    return Description((layer,), (A, B, bias), sizes)


def _kind(task: Task) -> Any:
    return Float if task.arrays["A"].dtype == np.float32 else Double


def product_case(
    shape: tuple[int, int, int],
    dtype: Any,
    group: str,
    *,
    problem: str = "product",
    scaled: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Case:
    """M x N x K; `scaled`: with alpha and beta, into an array that is there."""
    M, N, K = shape
    rng = np.random.default_rng(1)
    arrays = {"A": rng.standard_normal((M, K)).astype(dtype), "B": rng.standard_normal((K, N)).astype(dtype)}
    if scaled:
        arrays["C"] = rng.standard_normal((M, N)).astype(dtype)
    if problem == "layer":
        arrays["bias"] = rng.standard_normal(N).astype(dtype)

    def expected() -> tuple[Results, Results]:
        right = arrays["A"] @ arrays["B"]
        bound = np.abs(arrays["A"]) @ np.abs(arrays["B"])
        if scaled:
            right, bound = ALPHA * right + BETA * arrays["C"], ALPHA * bound + BETA * np.abs(arrays["C"])
        if problem == "layer":
            right, bound = np.maximum(right + arrays["bias"], 0), bound + np.abs(arrays["bias"])
        return (right,), rounding_bounds((bound,), 2 * K + 8, dtype)

    size = np.dtype(dtype).itemsize
    values = {"sizes": {"M": M, "N": N, "K": K}, "options": dict(options or {})}
    return Case(
        name=_name(shape, dtype, problem),
        group=group,
        task=Task(problem, arrays, values),
        expected=expected,
        flops=2 * M * N * K,
        traffic=size * (M * K + K * N + M * N * (2 if scaled else 1)),
        element_bytes=size,
    )


def _name(shape: tuple[int, int, int], dtype: Any, problem: str) -> str:
    extents = f"{shape[0]}" if len(set(shape)) == 1 else " x ".join(map(str, shape))
    return f"{extents}, {np.dtype(dtype).name}" + (", bias, ReLU" if problem == "layer" else "")


def cubes(quick: bool) -> Iterator[Case]:
    """Cubes and cubes less one in both precisions, the shapes of the literature, thin ones."""
    own = {"blas": "never"}
    for dtype in (np.float64, np.float32):
        for n in (32, 96, 256, 1024) if quick else CUBES:
            for size in (n, n - 1):
                yield product_case((size, size, size), dtype, f"{np.dtype(dtype).name} cubes", options=own)
    for shape in SHAPES[:3] if quick else SHAPES:
        yield product_case(shape, np.float32, "shapes", scaled=True, options=own)
    for rows in THIN[::14] if quick else THIN:
        yield product_case((rows, 128, 128), np.float32, "thin", options=own)


def sizes(quick: bool) -> Iterator[Case]:
    """Forty products in both precisions, as `compile` makes them."""
    for dtype in (np.float64, np.float32):
        for shape in SIZES[::8] if quick else SIZES:
            yield product_case(shape, dtype, np.dtype(dtype).name)


def crossover(quick: bool) -> Iterator[Case]:
    """Forty sizes around which a library begins to be faster than loops, or not."""
    for shape in CROSSOVER[::8] if quick else CROSSOVER:
        yield product_case(shape, np.float64, "cubes" if len(set(shape)) == 1 else "skewed")


def layers(quick: bool) -> Iterator[Case]:
    """A product alone, and with a bias and a ReLU behind it."""
    for shape in LAYERS[:2] if quick else LAYERS:
        for problem in ("product", "layer"):
            yield product_case(shape, np.float32, problem, problem=problem)


PROBLEMS = {"product": describe_product, "layer": describe_layer}
SECTIONS = (
    Section(
        name="cubes",
        title="Products by polymat's own code (M x N x K)",
        cases=cubes,
        rivals={"polymat from C": ("OpenBLAS", "MKL", "OpenBLAS, one thread", "MKL, one thread")},
        goals=(
            "cubes: geometric mean 1.25 times OpenBLAS and level with MKL",
            "0.90 of peak at the best size, 0.80 at 1024 and 2048; thin ones 0.75 of peak each",
        ),
    ),
    Section(
        name="sizes",
        title="A @ B at forty sizes (M x N x K)",
        cases=sizes,
        rivals={"polymat": ("NumPy",), "polymat from C": ("OpenBLAS", "MKL")},
        goals=(
            "over NumPy: geometric mean 1.15, none below 0.95",
            "over the better library from C: geometric mean 1.0, none below 0.9",
        ),
    ),
    Section(
        name="crossover",
        title="Library or loops: the choice beside each of the two (M x N x K, float64)",
        cases=crossover,
        rivals={"polymat": ("polymat, blas always", "polymat, blas never")},
        goals=("nowhere more than 5 % slower than the better of the two",),
    ),
    Section(
        name="layer",
        title="A product alone, and with bias and ReLU (M x N x K, float32)",
        cases=layers,
        rivals={"polymat": ("NumPy", "JAX", "torch", "torch.compile")},
        goals=("bias and ReLU cost no second pass over the result",),
    ),
)
