"""Random sums near Fourier transforms: what is matched, and what takes its place, against the interpreter."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from polymat import Complex, Conj, Cos, Double, Exp, Function, Int, Interval, Matrix, Options, Sin, Vector
from polymat.graph.build import build
from polymat.graph.evaluate import Evaluator
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.verifypipeline import verify
from polymat.idiom.find import idiom_of
from polymat.machine.known import GENERIC
from polymat.rewrite.plaintransforms import plain_transforms
from polymat.runtime.host import InstalledLibraries
from tests.graph.products import points_of
from tests.idiom.carry_out_signals import transform
from tests.idiom.recognise import SCALARS, M, N, alpha, i, j, k, total, upto, values_of
from tests.tolerance import assert_close

BATCH = 160
FORCED = Options(fft="always")
x, z = Vector(Double, "x", [2 * N + 2]), Vector(Complex, "z", [2 * N + 2])
X, Z = Matrix(Double, "X", [M, 2 * N + 2]), Matrix(Complex, "Z", [M, 2 * N + 2])


@pytest.mark.parametrize("number", range(2))
def test_random_waves(seed: int, number: int) -> None:
    found: Counter[str] = Counter()
    for index in range(number * BATCH, (number + 1) * BATCH):
        found += _check(f"{seed} {index}")
    assert found["matched"] > BATCH // 16
    assert found["replaced"] > BATCH // 40


def _check(word: str) -> Counter[str]:
    """Compare one random sum at several sizes; how much of it was recognised."""
    built = verify(build([_output(random.Random(word))]))
    found = idiom_of(["F"], built).transform
    plain = plain_transforms(built, FORCED, {}, GENERIC, InstalledLibraries())
    for m, n in ((1, 1), (2, 2), (1, 3), (2, 6), (3, 7)):
        params = {"M": m, "N": n, **SCALARS}
        values = values_of(built, params)
        arrays = {array.name: values[array.name] for array in built.inputs}
        results = [_computed(plain, arrays, params)]
        results += [] if found is None else [transform(found, values, params)]
        for result in results:
            name = f"{word}: {found or plain.notes} at {params}"
            assert_close(result, values["F"], roundings=2000, magnitude=50.0, name=name)
    return Counter({"matched": int(found is not None), "replaced": int(len(plain.stages) > 1)})


def _computed(plain: Pipeline, arrays: dict[str, Any], params: dict[str, Any]) -> Any:
    """The last of some stages: sums by the interpreter, which goes by conditions, others by their domains."""
    known = dict(arrays)
    for stage in plain.stages:
        if stage.is_reduction:
            alone = replace(plain, stages=(stage,), outputs=(stage.name,))
            known[stage.name] = interpret(alone, arrays, params)[stage.name]
            continue
        shape = [int(extent.evaluate(params)) for extent in stage.extents]
        result = np.full(shape, np.nan, stage.dtype.dtype)
        evaluator = Evaluator(known, {name: (0,) * each.ndim for name, each in known.items()}, params)
        for part in stage.parts:
            points = points_of(part.domain, {n: int(params[n]) for n in part.domain.params})
            count = len(next(iter(points.values())))
            if count:
                result[tuple(points.values())] = evaluator.value(part.expr, points, count)
        known[stage.name] = result
    return known["F"]


def _output(rng: random.Random) -> Function:
    """A sum over k of a source, weights near those of a transform, factors, and perhaps a start."""
    batched, is_complex = rng.random() < 0.3, rng.random() < 0.6
    place, low = _place(rng), rng.choice([0, 0, 0, 0, 1])
    source: Any = (Z if is_complex else X)(i, place) if batched else (z if is_complex else x)(place)
    value = source * _weights(rng, low, is_complex=is_complex) * rng.choice([1, 1, 1, -0.5, alpha])
    if is_complex and rng.random() < 0.2:
        value = Conj(value)
    outer = rng.choice([upto(N)] * 4 + [Interval(Int, 0, N // 2), Interval(Int, 1, N)])
    result = [(i, upto(M))] * batched + [(j, outer)]
    summed = [(k, Interval(Int, low, N - 1 + rng.choice([low, low, low, 0])))]
    dtype = Complex if is_complex or rng.random() < 0.5 else Double
    init = rng.choice([None, None, None, 1.5, x(j)])
    return total("F", result, summed, value, dtype=dtype, init=init)


def _place(rng: random.Random) -> Any:
    return rng.choice([k, k, k, 2 * k, k + 1, N - k, 2 * N + 1 - 2 * k, k, k, k + j])


def _weights(rng: random.Random, low: int, *, is_complex: bool) -> Any:
    """One wave or a sum of two."""
    phase = _phase(rng, low)
    kinds = (
        ["exp", "back", "cos", "sin", "pair", "conj", "twice"] if is_complex else ["cos", "sin", "cos", "sum"]
    )
    match rng.choice(kinds):
        case "exp":
            return Exp(-1j * phase)
        case "back":
            return Exp(1j * phase)
        case "cos":
            return Cos(phase)
        case "sin":
            return Sin(phase)
        case "pair":
            return Cos(phase) + rng.choice([1, -1, -1, 2]) * 1j * Sin(rng.choice([1, -1]) * phase)
        case "conj":
            return Conj(Exp(1j * phase))
        case "twice":
            return Exp(-1j * phase) * Exp(rng.choice([0, 1]) * 1j * phase)
        case _:
            return Cos(phase) + rng.choice([0, 1, 0.5]) * Sin(phase)


def _phase(rng: random.Random, low: int) -> Any:
    """Near 2 pi j k / N."""
    output = rng.choice([*[j] * 6, -j, N - j, j + 1, N + j, 2 * j])
    summed = rng.choice([k - low] * 8 + [k, k + N, 2 * k + 1, N - k])
    length = rng.choice([N] * 6 + [N + 1, 2 * N])
    turn = rng.choice([2.0] * 6 + [1.0, 4.0]) * math.pi
    match rng.randrange(4):
        case 0:
            return turn * output * summed / length
        case 1:
            return turn / length * output * summed
        case 2:
            return turn * ((output * summed) % (length * rng.choice([1, 1, 2]))) / length
        case _:
            return summed * (turn / length) * output + rng.choice([0.0, 0.0, 0.0, 2 * math.pi, 0.5])
