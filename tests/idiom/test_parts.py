"""From how many points on transforms are computed in parts, by what was measured."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest

import polymat as pm
from polymat import Complex, Double, Exp, Float
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.parts import USUAL, least_of
from polymat.machine.grid import Grid
from polymat.machine.known import ZEN5
from tests.hosts import CompileFor, StatedLibraries
from tests.idiom.recognise import N, j, k, total, upto

LENGTHS = tuple(2**n for n in range(12, 21))


def model(shares: Sequence[float], sides: Sequence[float] = (), dtype: str = "complex128") -> LibraryModel:
    """One plan takes 1 ns a point; in parts that times a share for each of LENGTHS; sides: of 32, 64, .."""
    levels = (1, *LENGTHS)
    grids = {
        ("fft", dtype): Grid((levels,), tuple(n * 1e-9 for n in levels)),
        ("fft_parts", dtype): Grid(
            (levels,), tuple(n * 1e-9 * s for n, s in zip(levels, (1, *shares), strict=True))
        ),
    }
    if sides:
        levels = (1, *(32 << n for n in range(len(sides))))
        grids |= {
            ("fft_square", dtype): Grid((levels,), tuple(n * n * 1e-9 for n in levels)),
            ("fft_square_parts", dtype): Grid(
                (levels,), tuple(n * n * 1e-9 * s for n, s in zip(levels, (1, *sides), strict=True))
            ),
        }
    return LibraryModel("", "", "", grids)


@pytest.mark.parametrize(
    ("shares", "line", "shared"),
    [
        ([0.9] * 9, 1 << 12, 1 << 12),
        ([1.1] * 9, math.inf, 1 << 12),
        ([2.0] * 9, math.inf, math.inf),
        ([2.0, 2.0, 1.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 1 << 15, 1 << 14),
        ([0.5, 0.5, 0.5, 1.2, 0.5, 0.5, 0.5, 0.5, 0.5], 1 << 16, 1 << 12),  # from there on it always pays
    ],
)
def test_where_parts_begin_to_pay(shares: list[float], line: float, shared: float) -> None:
    least = least_of(model(shares), Complex)
    assert (least.line, least.shared) == (line, shared)
    assert (least.pairs, least.axes, least.apart) == (1 << 16, 1 << 14, 1 << 17)  # not measured


def test_several_axes_and_pairs() -> None:
    least = least_of(model([0.9] * 9, [3.0, 1.5, 0.5]), Complex)
    assert (least.axes, least.axes_shared) == (128**2, 64**2)
    real = least_of(model([1.5, 0.9] + [0.9] * 7, dtype="float64"), Double)
    assert real.pairs == 1 << 12  # pairs of 2^13 values
    squares = least_of(model([0.9] * 9, [3.0, 1.5, 0.5], "float64"), Double)
    assert (squares.real_axes, squares.real_axes_shared, squares.axes) == (128**2, 64**2, 1 << 14)
    assert least_of(model([0.9] * 9), Float) == USUAL["float32"]
    assert least_of(None, Double) == USUAL["float64"]


def test_the_report_and_the_code_say_both(compile_for: CompileFor) -> None:
    shares = [2.0, 2.0, 1.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    compile_for(ZEN5, StatedLibraries({"fft": model(shares)}))
    weight = Exp(-2j * math.pi * j * k / N)
    z = pm.Vector(Complex, "z", [N])
    F = total("F", [(j, upto(N))], [(k, upto(N))], z(k) * weight, dtype=Complex)
    compiled = pm.compile(F, estimates={N: 1 << 18}, options=pm.Options(threads=1))
    (group,) = compiled.explain().groups
    assert "0.000262 s as one plan and 0.000157 s in parts" in group.reason
    assert group.predicted is not None
    assert group.predicted.seconds == pytest.approx(1.57e-4, rel=0.3)
    defined = dict(re.findall(r"^#define (\w+) ([\d.]+)$", compiled.source, re.MULTILINE))
    assert {name: float(defined[name]) for name in ("LINE", "PAIRS", "AXES", "APART")} == {
        "LINE": 32768.0,
        "PAIRS": 65536.0,
        "AXES": 16384.0,
        "APART": 131072.0,
    }
