"""Whole tasks as a user of NumPy writes them, against NumPy, at odd sizes."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

import polymat as pm
from polymat import (
    Abs,
    Cast,
    Condition,
    Double,
    Function,
    Image,
    Int,
    Interval,
    Log10,
    Matrix,
    Max,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Signal,
    Sqrt,
    UChar,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.verifypipeline import verify

Values = NDArray[Any]
M, N, K, L = (Parameter(Int, name) for name in "MNKL")
X = Matrix(Double, "X", [M, N])


def upto(extent: Any) -> Interval:
    return Interval(Int, 0, extent - 1)


def test_principal_components_by_power_iteration() -> None:
    """The covariance of columns, and the largest of its eigenvalues."""
    centred = X - X.mean(axis=0)
    covariance = pm.compile(centred.T @ centred / (M - 1), inputs=[X], name="covariance")
    A, v = Matrix(Double, "A", [N, N]), Vector(Double, "v", [N])
    w = A @ v
    step = pm.compile([w / Sqrt((w**2).sum()), v @ w], inputs=[A, v], name="step")
    rng = np.random.default_rng(0)
    for rows, columns in ((2, 1), (7, 3), (101, 13)):
        x = rng.standard_normal((rows, columns)) * np.arange(1, columns + 1) ** 2
        square = np.cov(x, rowvar=False).reshape(columns, columns)
        np.testing.assert_allclose(covariance(x), square, atol=1e-9)
        direction = np.ones(columns)
        for _ in range(100):
            direction, largest = step(square, direction)
        np.testing.assert_allclose(largest, np.linalg.eigvalsh(square)[-1], rtol=1e-6)


def kmeans_update() -> Function:
    """The mean of the points that have each label; of none the origin."""
    k, d, n = (Variable(Int, name) for name in "kdn")
    labels = Vector(pm.Long, "labels", [M])
    chosen = Condition(labels(n), "==", k)
    of_all, of_one = ([k, d], [upto(K), upto(N)]), ([k], [upto(K)])
    total = Reduction(of_all, ([k, d, n], [upto(K), upto(N), upto(M)]), Double, "total")
    total.defn = [Reduce(total(k, d), Select(chosen, X(n, d), 0.0), Op.Sum)]
    count = Reduction(of_one, ([k, n], [upto(K), upto(M)]), Double, "count")
    count.defn = [Reduce(count(k), Select(chosen, 1.0, 0.0), Op.Sum)]
    moved = Function(of_all, Double, "moved")
    moved.defn = [total(k, d) / Max(count(k), 1.0)]
    return moved


def test_a_step_of_k_means() -> None:
    """Labels by whole arrays that broadcast, new centres by comparing labels with each index."""
    C = Matrix(Double, "C", [K, N])
    distance = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
    assign = pm.compile(distance.argmin(axis=1), inputs=[X, C], name="assign")
    update = pm.compile(kmeans_update(), name="update")
    rng = np.random.default_rng(1)
    for points, features, clusters in ((1, 1, 1), (101, 5, 7), (64, 3, 2)):
        x, c = rng.standard_normal((points, features)), rng.standard_normal((clusters, features))
        labels = ((x[:, None] - c) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(assign(x, c), labels)
        chosen = np.asarray(labels[None, :] == np.arange(clusters)[:, None], np.float64)
        mean = chosen @ x / np.maximum(chosen.sum(axis=1), 1.0)[:, None]
        np.testing.assert_allclose(update(X=x, labels=labels, K=clusters), mean, atol=1e-12)


def framed(x: Signal, window: Vector, form: str) -> Any:
    """Frames of 64 samples, every 24, by polymat's function or as a user writes them."""
    if form == "frames":
        return pm.frames(x, 64, 24, window)
    t, n = Variable(Int, "t"), Variable(Int, "n")
    parts = Function(([t, n], [upto((N - 64) // 24 + 1), upto(64)]), Double, "parts")
    parts.defn = [x(24 * t + n) * window(n)]
    return parts


@pytest.mark.parametrize("form", ["frames", "indices"])
def test_a_spectrogram(form: str) -> None:
    """Windows, transforms of the rows and decibels."""
    x, window = Signal(Double, "x", N), Vector(Double, "window", [64])
    spectrum = pm.rfft(framed(x, window, form))
    spectrogram = pm.compile(10 * Log10(Abs(spectrum) ** 2 + 1e-12), inputs=[x, window], name="spectrogram")
    rng = np.random.default_rng(2)
    for samples in (64, 65, 1001):
        given, weights = rng.standard_normal(samples), np.hanning(64)
        parts = sliding_window_view(given, 64)[::24] * weights
        expected = 10 * np.log10(np.abs(np.fft.rfft(parts)) ** 2 + 1e-12)
        np.testing.assert_allclose(spectrogram(given, weights), expected, atol=1e-8)


@pytest.mark.parametrize("kind", [Matrix, Image])
def test_transforms_of_rows(kind: Any) -> None:
    """As numpy.fft along the last axis, of a matrix, of an image and of what is computed of them."""
    A = kind(Double, "A", [M, N])
    outputs = [pm.rfft(A), pm.fft(A + 1.0), pm.irfft(pm.rfft(A), N)]
    compiled = pm.compile(outputs, inputs=[A], name="transforms")
    a = np.random.default_rng(3).standard_normal((5, 37))
    for got, expected in zip(compiled(a), (np.fft.rfft(a), np.fft.fft(a + 1.0), a), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-11)


WEIGHTS = (1, 4, 6, 4, 1)


def halved(image: Any) -> Any:
    """A level of a pyramid: borders repeated, filtered along both axes, every other pixel, rounded."""
    rows, columns = image.shape
    wide = pm.pad(Cast(Int, image), 2, "edge")
    along = sum(weight * wide[:, a : columns + a] for a, weight in enumerate(WEIGHTS))
    both = sum(weight * along[a : rows + a] for a, weight in enumerate(WEIGHTS))
    return Cast(UChar, (both[::2, ::2] + 128) // 256)


def halved_by_numpy(image: Values) -> Values:
    rows, columns = image.shape
    wide = np.pad(image.astype(int), 2, mode="edge")
    along: Any = sum(weight * wide[:, a : columns + a] for a, weight in enumerate(WEIGHTS))
    both: Any = sum(weight * along[a : rows + a] for a, weight in enumerate(WEIGHTS))
    return np.asarray((both[::2, ::2] + 128) // 256).astype(np.uint8)


def test_a_pyramid_of_bytes() -> None:
    """Two levels, from bytes to bytes."""
    first = halved(Image(UChar, "image", [M, N]))
    some = [Condition(size, ">", 0) for size in (M, N)]
    pyramid = pm.compile([first, halved(first)], constraints=some, name="pyramid")
    rng = np.random.default_rng(4)
    for shape in ((1, 1), (2, 5), (33, 64), (101, 77)):
        image = rng.integers(0, 256, shape, dtype=np.uint8)
        one, two = pyramid(image)
        np.testing.assert_array_equal(one, halved_by_numpy(image))
        np.testing.assert_array_equal(two, halved_by_numpy(one))


@pytest.mark.parametrize("fir", ["direct", "blocks", "whole"])
def test_an_autocorrelation(fir: Any) -> None:
    """Normalised, up to as many lags as the call asks for: a filter whose results are counted by a size."""
    x = Vector(Double, "x", [N])
    off = x - x.mean()
    lag, n = Variable(Int, "lag"), Variable(Int, "n")
    pairs = ([lag, n], [upto(L), Interval(Int, 0, N - 1 - lag)])
    sums = Reduction(([lag], [upto(L)]), pairs, Double, "sums")
    sums.defn = [Reduce(sums(lag), off(n) * off(n + lag), Op.Sum)]
    compiled = pm.compile(sums / sums[0], inputs=[x], options=Options(fir=fir), name="autocorrelation")
    rng = np.random.default_rng(5)
    for samples, lags in ((2, 1), (2, 5), (17, 17), (501, 40)):
        given = rng.standard_normal(samples) + 3.0
        z = given - given.mean()
        expected = np.array([z[: max(0, samples - k)] @ z[k:] for k in range(lags)]) / (z @ z)
        np.testing.assert_allclose(compiled(given, L=lags), expected, atol=1e-11)


def interpreted(outputs: list[Function], arrays: dict[str, Values], **params: float) -> list[Any]:
    """What the interpreter makes of a program."""
    pipeline = verify(build(outputs))
    found = interpret(pipeline, arrays, params)
    return [found[name] for name in pipeline.outputs]


def test_mel_features() -> None:
    """Spectra of windowed frames, gathered in bands by a product, as logarithms without their mean."""
    x, bands = Signal(Double, "x", N), Matrix(Double, "bands", [K, 9])
    window = np.hanning(16)
    logs = pm.Log((Abs(pm.stft(x, window, 5)) ** 2) @ bands.T + 1e-6)
    rng = np.random.default_rng(6)
    given, weights = rng.standard_normal(101), rng.random((4, 9))
    (features,) = interpreted([logs - logs.mean(axis=0)], {"x": given, "bands": weights}, N=101, K=4)
    frames = np.fft.rfft(sliding_window_view(given, 16)[::5] * window)
    expected = np.log(np.abs(frames) ** 2 @ weights.T + 1e-6)
    np.testing.assert_allclose(features, expected - expected.mean(axis=0), atol=1e-10)


def test_products_of_signals() -> None:
    """`@` of signals is that of vectors, and of several channels that of matrices."""
    s, t, A = Signal(Double, "s", N), Signal(Double, "t", [M, N]), Matrix(Double, "A", [N, M])
    rng = np.random.default_rng(7)
    arrays = {"s": rng.random(5), "t": rng.random((3, 5)), "A": rng.random((5, 3))}
    found = interpreted([s @ s, t @ s, s @ A, A @ t], arrays, M=3, N=5)
    one, several, matrix = arrays["s"], arrays["t"], arrays["A"]
    for got, expected in zip(found, (one @ one, several @ one, one @ matrix, matrix @ several), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_an_ensemble_of_lorenz_systems() -> None:
    """Steps of fourth order of three states each, with a parameter of its own, then their mean and spread."""
    x, y, z, rho = (Image(Double, name, [N]) for name in ("x", "y", "z", "rho"))
    step = Parameter(Double, "step")

    def slope(rho: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
        return 10.0 * (y - x), x * (rho - z) - y, x * y - (8.0 / 3.0) * z

    def stepped(rho: Any, step: Any, *state: Any) -> tuple[Any, ...]:
        first = slope(rho, *state)
        second = slope(rho, *(u + 0.5 * step * k for u, k in zip(state, first, strict=True)))
        third = slope(rho, *(u + 0.5 * step * k for u, k in zip(state, second, strict=True)))
        fourth = slope(rho, *(u + step * k for u, k in zip(state, third, strict=True)))
        slopes = zip(state, first, second, third, fourth, strict=True)
        return tuple(u + step / 6.0 * (a + 2 * b + 2 * c + d) for u, a, b, c, d in slopes)

    last = pm.iterate(lambda x, y, z: stepped(rho, step, x, y, z), (x, y, z), steps=L)
    mean = last[2].mean()
    rng = np.random.default_rng(8)
    state, parameters = rng.standard_normal((3, 7)), rng.uniform(20, 30, 7)
    arrays = {"x": state[0], "y": state[1], "z": state[2], "rho": parameters}
    program = [*last, mean, Sqrt(((last[2] - mean) ** 2).mean())]
    found = interpreted(program, arrays, N=7, L=20, step=0.01)
    expected = tuple(state)
    for _ in range(20):
        expected = stepped(parameters, 0.01, *expected)
    for got, right in zip(found, (*expected, expected[2].mean(), expected[2].std()), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-10)


def test_a_portfolio_and_its_options() -> None:
    """The risk of returns, prices of options by the normal distribution, and a basket by random paths."""
    prices, z = Matrix(Double, "prices", [M, N]), Matrix(Double, "z", [K, N])
    weights, spot, volatility = (Vector(Double, name, [N]) for name in ("weights", "spot", "volatility"))
    rate, strike = Parameter(Double, "rate"), Parameter(Double, "strike")
    returns = pm.Log(prices[1:, :] / prices[:-1, :])
    centred = returns - returns.mean(axis=0)
    risk = Sqrt(weights @ (centred.T @ centred / (M - 2)) @ weights)
    drift = rate + 0.5 * volatility**2
    high = (pm.Log(spot / strike) + drift) / volatility
    low = high - volatility
    normal = [0.5 * (1 + pm.Erf(each / 2**0.5)) for each in (high, low)]
    calls = pm.elementwise_mul(spot, normal[0]) - strike * pm.Exp(-rate) * normal[1]
    growth = pm.Exp(rate - 0.5 * volatility**2 + pm.elementwise_mul(volatility, z))
    paid = pm.Exp(-rate) * Max(pm.elementwise_mul(spot, growth) @ weights - strike, 0.0)
    rng = np.random.default_rng(9)
    p, given = np.exp(np.cumsum(rng.normal(0, 0.01, (30, 4)), axis=0)), rng.standard_normal((50, 4))
    w, s, v = np.full(4, 0.25), rng.uniform(90, 110, 4), rng.uniform(0.1, 0.4, 4)
    arrays = {"prices": p, "z": given, "weights": w, "spot": s, "volatility": v}
    found = interpreted([risk, calls, paid.mean()], arrays, M=30, N=4, K=50, rate=0.03, strike=100.0)
    d = (np.log(s / 100) + 0.03 + 0.5 * v**2) / v
    cumulative = np.vectorize(NormalDist().cdf)
    basket = s * np.exp(0.03 - 0.5 * v**2 + v * given) @ w
    expected = (
        np.sqrt(w @ np.cov(np.diff(np.log(p), axis=0).T) @ w),
        s * cumulative(d) - 100 * np.exp(-0.03) * cumulative(d - v),
        np.exp(-0.03) * np.maximum(basket - 100, 0).mean(),
    )
    for got, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-11)
