"""The predicted time of a transform is one, whoever asks: the plan of a call, or a filter by transforms."""

from __future__ import annotations

from math import log2, pi
from typing import Any

import pytest

from polymat import Complex, Double, Exp, Matrix
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.librarytransforms import AWKWARD, FFT_SHARE, line_seconds, transform_seconds
from polymat.idiom.profit import CALL_SECONDS
from polymat.idiom.transform import Transform
from polymat.lang.types import ScalarType
from polymat.machine.grid import Grid
from polymat.machine.known import GENERIC
from polymat.rewrite.transformtime import Transforms
from tests.hosts import StatedLibraries
from tests.idiom.recognise import M, N, i, j, k, l, recognised, total, upto

X, Z = Matrix(Double, "X", [M, N]), Matrix(Complex, "Z", [M, N])
SPEEDS = LibraryModel(
    "", "", "", {("fft", d): Grid(((1, 4096),), (1e-9, 1e-5)) for d in ("complex128", "float64")}
)


def rows_of(source: Any) -> Transform:
    """The transform of each row."""
    value = source(i, k) * Exp(-2j * pi * j * k / N)
    rows = total("y", [(i, upto(M)), (j, upto(N))], [(k, upto(N))], value, dtype=Complex)
    found = recognised(rows).transform
    assert found is not None
    return found


@pytest.mark.parametrize("speeds", [None, SPEEDS])
@pytest.mark.parametrize("length", [1, 64, 720, 4096, 1009])
@pytest.mark.parametrize(("source", "dtype"), [(X, Double), (Z, Complex)])
def test_plans_and_filters_agree(
    source: Any, dtype: ScalarType, length: int, speeds: LibraryModel | None
) -> None:
    libraries = StatedLibraries({} if speeds is None else {"fft": speeds})
    one = transform_seconds(rows_of(source), GENERIC, {"M": 1, "N": length}, 1, speeds)
    assert one == Transforms(GENERIC, libraries).seconds(dtype, length)
    assert transform_seconds(rows_of(source), GENERIC, {"M": 6, "N": length}, 2, speeds) == pytest.approx(
        3 * one
    )


def test_what_was_not_measured() -> None:
    """Half the operations where one side is real, and many more where the length has a large factor."""
    flops = 5.0 * 1024 * log2(1024)
    seconds = flops / (GENERIC.peak_flops(8, 1) * FFT_SHARE)
    assert line_seconds(Complex, 1024, GENERIC, None) == pytest.approx(seconds + CALL_SECONDS)
    assert line_seconds(Double, 1024, GENERIC, None) == pytest.approx(seconds / 2 + CALL_SECONDS)
    smooth, prime = (line_seconds(Complex, n, GENERIC, None) - CALL_SECONDS for n in (1008, 1009))
    assert prime == pytest.approx(AWKWARD * smooth, rel=1e-2)


def test_several_axes() -> None:
    """Each axis as often as there are lines along it."""
    waves = Exp(-2j * pi * j * k / N) * Exp(-2j * pi * i * l / M)
    inside = [(l, upto(M)), (k, upto(N))]
    found = recognised(
        total("y", [(i, upto(M)), (j, upto(N))], inside, Z(l, k) * waves, dtype=Complex)
    ).transform
    assert found is not None
    assert len(found.axes) == 2
    short, long = (line_seconds(Complex, n, GENERIC, None) for n in (8, 32))
    seconds = transform_seconds(found, GENERIC, {"M": 8, "N": 32}, 1)
    assert seconds == pytest.approx(32 * short + 8 * long)
