"""Rows that are normalised and small steps of many: softmax, layer norm, attention, a Kalman filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.peers.formulas import FORMULAS
from benchmarks.polybench.kernel import Description, parameters, upto, variables
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import (
    Cast,
    Condition,
    Double,
    Exp,
    Float,
    Function,
    Image,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Select,
    Sqrt,
)

SHAPES = ((64, 16, 448, 448), (8, 16, 448, 448), (1024, 1024), (65536, 64))
TRACKS = (512, 8192)
STATES, MEASURED = 4, 2
EPSILON = 1e-5
ROUNDINGS = 4096  # more than the operations on the longest path through any of them
FLOPS = {
    "softmax": 5,
    "layer_norm": 8,
    "attention": 4096,
    "kalman": 150,
}  # an element of the first array, roughly


def _reduced(name: str, dims: Any, over: Any, op: Any, term: Any, dtype: Any) -> Any:
    """A reduction of a term over all but the dimensions of its result."""
    made = Reduction(dims, over, dtype, name)
    made.defn = [Reduce(made(*dims[0]), term, op)]
    return made


def _function(name: str, dims: Any, value: Any, dtype: Any) -> Any:
    made = Function(dims, dtype, name)
    made.defn = [value]
    return made


def _normalised(x: Any, dims: Any, dtype: Any, scale: Any = None) -> Any:
    """Softmax of each row of an array."""
    at, intervals = dims
    row = (at[:-1], intervals[:-1])
    value = x(*at) if scale is None else x(*at) * scale
    top = _reduced("top", row, dims, Op.Max, value, dtype)
    e = _function("e", dims, Exp(value - top(*at[:-1])), dtype)
    total = _reduced("total", row, dims, Op.Sum, e(*at), dtype)
    return _function("y", dims, e(*at) / total(*at[:-1]), dtype)


def describe_softmax(task: Task) -> Description:
    """exp(x - max x) over its sum, along the last dimension."""
    rank = task.arrays["x"].ndim
    sizes = parameters("B H M N")[-rank:]
    dims = (list(variables("b h m n")[-rank:]), [upto(size) for size in sizes])
    x = Image(Float, "x", list(sizes))
    return Description((_normalised(x, dims, Float),), (x,), sizes)


def describe_layer_norm(task: Task) -> Description:
    """(x - mean) / sqrt(variance + eps) * g + b, along the last dimension."""
    M, N = sizes = parameters("M N")
    m, n = variables("m n")
    x, g, b = Matrix(Float, "x", [M, N]), Image(Float, "g", [N]), Image(Float, "b", [N])
    whole, row, length = ([m, n], [upto(M), upto(N)]), ([m], [upto(M)]), Cast(Float, N)
    total = _reduced("total", row, whole, Op.Sum, x(m, n), Float)
    mean = _function("mean", row, total(m) / length, Float)
    off = x(m, n) - mean(m)
    spread = _reduced("spread", row, whole, Op.Sum, off * off, Float)
    value = off / Sqrt(spread(m) / length + EPSILON) * g(n) + b(n)
    return Description((_function("y", whole, value, Float),), (x, g, b), sizes)


def describe_attention(task: Task) -> Description:
    """Softmax(Q K' / sqrt(D)) V."""
    M, N, D = sizes = parameters("M N D")
    m, n = variables("m n")
    q, k, v = Matrix(Float, "q", [M, D]), Matrix(Float, "k", [N, D]), Matrix(Float, "v", [N, D])
    scores = q @ k.T
    dims = ([m, n], [upto(M), upto(N)])
    weights = _normalised(scores, dims, Float, 1 / Sqrt(Cast(Float, D)))
    i, j, s = variables("i j s")
    result = Reduction(
        ([i, j], [upto(M), upto(D)]), ([i, j, s], [upto(M), upto(D), upto(N)]), Float, "result"
    )
    result.defn = [Reduce(result(i, j), weights(i, s) * v(s, j), Op.Sum)]
    return Description((result,), (q, k, v), sizes)


def describe_kalman(task: Task) -> Description:
    """One step of a Kalman filter, of every track by itself; tracks are the last dimension."""
    (B,) = sizes = parameters("B")
    i, j, k, b = variables("i j k b")
    shapes = {"n": STATES, "m": MEASURED}
    x, z = Matrix(Double, "x", [STATES, B]), Matrix(Double, "z", [MEASURED, B])
    P = Image(Double, "P", [STATES, STATES, B])
    F, Q = Matrix(Double, "F", [STATES, STATES]), Matrix(Double, "Q", [STATES, STATES])
    H, R = Matrix(Double, "H", [MEASURED, STATES]), Matrix(Double, "R", [MEASURED, MEASURED])
    inner = {"i": i, "j": j}

    def dims(shape: str) -> tuple[list[Any], list[Any]]:
        named = list(inner.values())[: len(shape)]
        return [*named, b], [*(upto(shapes[extent]) for extent in shape), upto(B)]

    def times(name: str, shape: str, depth: str, term: Any) -> Any:
        at, intervals = dims(shape)
        over = ([*at, k], [*intervals, upto(shapes[depth])])
        return _reduced(name, (at, intervals), over, Op.Sum, term, Double)

    def value(name: str, shape: str, term: Any) -> Any:
        return _function(name, dims(shape), term, Double)

    ahead = times("ahead", "n", "n", F(i, k) * x(k, b))
    moved = times("moved", "nn", "n", F(i, k) * P(k, j, b))
    prior = value("prior", "nn", times("turned", "nn", "n", moved(i, k, b) * F(j, k))(i, j, b) + Q(i, j))
    seen = times("seen", "m", "n", H(i, k) * ahead(k, b))
    off = value("off", "m", z(i, b) - seen(i, b))
    cross = times("cross", "nm", "n", prior(i, k, b) * H(j, k))
    spread = value("spread", "mm", times("both", "mm", "n", H(i, k) * cross(k, j, b))(i, j, b) + R(i, j))
    det = value("det", "", spread(0, 0, b) * spread(1, 1, b) - spread(0, 1, b) * spread(1, 0, b))
    # Of two rows the inverse is (d, -b; -c, a) / det.
    turned = Select(Condition(i, "==", j), spread(1 - i, 1 - j, b), -spread(i, j, b))
    inverse = value("inverse", "mm", turned / det(b))
    gain = times("gain", "nm", "m", cross(i, k, b) * inverse(k, j, b))
    state = value("state", "n", ahead(i, b) + times("by", "n", "m", gain(i, k, b) * off(k, b))(i, b))
    known = times("known", "nn", "m", gain(i, k, b) * H(k, j))
    less = times("less", "nn", "n", known(i, k, b) * prior(k, j, b))
    posterior = value("posterior", "nn", prior(i, j, b) - less(i, j, b))
    return Description((state, posterior), (x, P, z, F, Q, H, R), sizes)


def case(problem: str, arrays: Mapping[str, Any], sizes: Mapping[str, int], name: str) -> Case:
    """A problem on these arrays; results are judged by the same formula in double precision."""

    def expected() -> tuple[Results, Results]:
        exact = {key: array.astype(np.float64) for key, array in arrays.items()}
        right = tuple(np.asarray(each) for each in FORMULAS[problem](np, exact, {}))
        largest = tuple(np.full_like(each, np.max(np.abs(each), initial=0.0)) for each in right)
        return right, rounding_bounds(largest, ROUNDINGS, next(iter(arrays.values())).dtype)

    first = next(iter(arrays.values()))
    moved = sum(array.nbytes for array in arrays.values())
    written = 2 * first.nbytes if problem == "kalman" else first.nbytes
    return Case(
        name=name,
        group=problem,
        task=Task(problem, dict(arrays), {"sizes": dict(sizes)}),
        expected=expected,
        flops=FLOPS[problem] * first.size,
        traffic=moved + written,
        compute_bound=False,
        element_bytes=first.dtype.itemsize,
        stream="copy",
    )


def softmax_case(shape: tuple[int, ...]) -> Case:
    """Rows of an array of that shape."""
    x = np.random.default_rng(1).standard_normal(shape, np.float32)
    sizes = dict(zip("BHMN"[-len(shape) :], shape, strict=True))
    return case("softmax", {"x": x}, sizes, f"softmax {' x '.join(map(str, shape))}")


def layer_norm_case(rows: int, length: int) -> Case:
    """Rows of that length."""
    rng = np.random.default_rng(1)
    arrays = {"x": rng.standard_normal((rows, length), np.float32)}
    arrays |= {name: rng.standard_normal(length, np.float32) for name in "gb"}
    return case("layer_norm", arrays, {"M": rows, "N": length}, f"layer norm {rows} x {length}")


def attention_case(rows: int, depth: int) -> Case:
    """As many keys as queries."""
    rng = np.random.default_rng(1)
    arrays = {name: rng.standard_normal((rows, depth), np.float32) for name in "qkv"}
    return case("attention", arrays, {"M": rows, "N": rows, "D": depth}, f"attention {rows} x {depth}")


def kalman_case(tracks: int) -> Case:
    """One step for so many tracks."""
    rng = np.random.default_rng(1)
    half = rng.standard_normal((STATES, STATES, tracks)) * 0.1
    arrays = {
        "x": rng.standard_normal((STATES, tracks)),
        "P": half + half.transpose(1, 0, 2) + 4 * np.eye(STATES)[:, :, None],
        "z": rng.standard_normal((MEASURED, tracks)),
        "F": np.eye(STATES) + 0.1 * np.eye(STATES, k=2),
        "Q": 0.01 * np.eye(STATES),
        "H": np.eye(MEASURED, STATES),
        "R": 0.1 * np.eye(MEASURED),
    }
    return case("kalman", arrays, {"B": tracks}, f"Kalman step, {tracks} tracks")


def cases(quick: bool) -> Iterator[Case]:
    """All of them."""
    for shape in SHAPES[1:] if quick else SHAPES:
        yield softmax_case(shape)
    yield layer_norm_case(8192, 1024)
    yield attention_case(1024, 64)
    for tracks in TRACKS:
        yield kalman_case(tracks)


PROBLEMS = {
    "softmax": describe_softmax,
    "layer_norm": describe_layer_norm,
    "attention": describe_attention,
    "kalman": describe_kalman,
}
SECTIONS = (
    Section(
        name="rows",
        title="Normalised rows (float32), and steps of a Kalman filter (float64)",
        cases=cases,
        rivals={"polymat": ("NumPy", "JAX", "torch", "torch.compile")},
        goals=(
            "softmax: 4 times NumPy, 1.2 times the best of JAX and torch.compile",
            "attention: 0.9 of torch's own, ahead of NumPy",
        ),
    ),
)
