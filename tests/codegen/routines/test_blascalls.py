"""Random sums near BLAS's routines, computed by the library wherever one fits: against the interpreter."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np

import polymat as pm
from polymat import Options
from polymat.idiom.find import idiom_of
from polymat.idiom.libraryroutines import supported
from tests.idiom.random_sums import RandomSum
from tests.idiom.recognise import SCALARS, pipeline, values_of
from tests.tolerance import assert_close

PROGRAMS = 10
SIZES = ((0, 2, 3, 1), (1, 1, 1, 1), (5, 4, 2, 3), (9, 7, 8, 2))
OPTIONS = Options(blas="always", fft="always", threads=2, parallel_threshold=0, cflags=("-O1",))


def test_random_sums(seed: int) -> None:
    words = (f"calls {seed} {index}" for index in itertools.count())
    for word in itertools.islice(filter(_is_call, words), PROGRAMS):
        _check(word)


def _is_call(word: str) -> bool:
    """Whether a random sum is what some routine computes for which there is code."""
    built = pipeline(RandomSum(random.Random(word)).output())
    idiom = idiom_of([stage.name for stage in built.stages], built).idiom
    return idiom is not None and all(supported(call) for call in idiom.calls)


def _check(word: str) -> None:
    """Compare one random sum at several sizes; a routine computes it."""
    output = RandomSum(random.Random(word)).output()
    built = pipeline(output)
    compiled: Any = pm.compile(output, name="random_sum", options=OPTIONS)
    assert any(group.library_calls for group in compiled.explain().groups)
    scalars = {scalar.name for scalar in built.scalars}
    for sizes in SIZES:
        params = dict(zip("MNKL", sizes, strict=True)) | SCALARS
        values = values_of(built, params)
        given = {array.name: values[array.name] for array in built.inputs}
        extra = {name: params[name] for name in params if name in scalars}
        hidden = {s.name: params[s.name] for s in built.sizes if s.name not in _shown(built)}
        result = compiled(**given, **extra, **hidden)
        expected = compiled.reference(**given, **extra, **hidden)
        magnitude = 1e3 * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        assert_close(result, expected, roundings=500, magnitude=magnitude, name=word)


def _shown(built: Any) -> set[str]:
    """The sizes that a shape shows by itself."""
    return {name for array in built.inputs for extent in array.extents for name in extent.names()}
