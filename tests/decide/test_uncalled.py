"""`explain()` tells why sums are no library calls: which stage, where it was written, and the reason."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

import polymat as pm
from polymat import Abs, Double, Function, Int, Matrix, Op, Options, Vector
from polymat.codegen.report import Report
from tests.idiom.recognise import K, L, M, N, i, j, k, point, total, upto

A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
x, y, w = Vector(Double, "x", [K]), Vector(Double, "y", [K]), Vector(Double, "w", [K + L - 1])
MN, SUM = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]


def gemm(value: Any, **other: Any) -> Function:
    return total("R", MN, SUM, value, **other)


def notes(*outputs: Function, **options: Any) -> tuple[str, ...]:
    """What is said beside the groups, which `str` shows as well."""
    chosen = Options(threads=1, fir="direct", reassociate=False, **options)
    report: Report = pm.compile(list(outputs), name="c", options=chosen).explain()
    assert all(note in str(report) for note in report.notes)
    return report.notes


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (gemm(A(i, k) * B(k, j), op=Op.Max), "its values are combined by Op.Max"),
        (gemm(A(i, k) * B(k, j) * x(k)), "3 array elements are multiplied"),
        (total("R", [], SUM, x(k)), "x(k) is summed alone"),
        (
            total("R", [(i, upto(L))], SUM, x(k) * w(i + k)),
            "a correlation of w(i + k) with x(k) (valid), which",
        ),
    ],
)
def test_where_calls_are_wanted_every_sum_has_its_reason(output: Function, reason: str) -> None:
    (note,) = notes(output, blas="always")
    assert re.match(r"R \(\S+recognise.py:\d+\) is no library call: ", note)
    assert reason in note


def test_calls_need_no_reason() -> None:
    assert notes(gemm(A(i, k) * B(k, j)), total("d", [], SUM, x(k) * y(k)), blas="always") == ()


def test_of_several_stages_the_one_is_named() -> None:
    other = total("Q", MN, SUM, Abs(A(i, k)) * B(k, j))
    (note,) = notes(gemm(A(i, k) * B(k, j)), other, point("P", MN, other(i, j) + C(i, j)), blas="always")
    assert note.startswith("Q (")
    assert "Abs(A(i, k)) is no array element" in note


def test_near_misses_are_told_without_being_asked() -> None:
    assert "is divided by A(i, 0)" in notes(gemm(A(i, k) * B(k, j) / A(i, 0)))[0]
    assert notes(gemm(A(i, k) * B(k, j) / A(i, 0)), blas="never") == ()


def test_other_sums_and_other_ways_need_no_reason() -> None:
    """Sums whose elements are used once, products on register blocks, and filters."""
    once = total("R", [(i, upto(M))], SUM, Abs(A(i, k)) * x(k))
    blocks = gemm(A(i, k) * Matrix(Double, "W", [2 * K, 2 * N])(2 * k, 2 * j))
    assert notes(once) == notes(blocks) == ()
    taps = total("R", [(i, upto(L))], SUM, x(k) * w(i + k))
    assert notes(taps) == ()


def test_calls_that_are_wanted_are_not_fused_away() -> None:
    p, q = (total(name, [(i, upto(M))], SUM, A(i, k) * v(k)) for name, v in (("p", x), ("q", y)))
    report: Report = pm.compile([p, q], name="c", options=Options(threads=1, blas="always")).explain()
    assert [group.library_calls for group in report.groups] == [("gemv",), ("gemv",)]
    assert report.notes == ()


def test_sums_with_waves_are_told_once() -> None:
    wave = pm.Exp(-2j * math.pi * i * k / K)
    (note,) = notes(total("F", [(i, upto(K))], SUM, x(k) * y(k) * wave, dtype=pm.Complex), blas="always")
    assert "is no transform of a library: x(k) * y(k) is no array element" in note


def test_a_product_in_a_stage_before_makes_it_a_transform() -> None:
    both = point("P", SUM, x(k) * y(k))
    wave = pm.Exp(-2j * math.pi * i * k / K)
    spectrum = total("F", [(i, upto(K))], SUM, both(k) * wave, dtype=pm.Complex)
    report: Report = pm.compile(spectrum, name="c", options=Options(threads=1, fft="always")).explain()
    assert [group.library_calls for group in report.groups] == [(), ("fft",)]


def test_calls_that_are_wanted_take_several_stages_for_one() -> None:
    """A triangle without its diagonal, whose reader adds that: a routine has them together alone."""
    S, X = Matrix(Double, "S", [M, M]), Matrix(Double, "X", [M, N])
    below = total("B", MN, [(k, pm.Interval(pm.Int, 0, i - 1))], S(i, k) * X(k, j))
    result = point("R", MN, 2.0 * (X(i, j) + below(i, j)))
    report: Report = pm.compile(result, name="c", options=Options(threads=1, blas="always")).explain()
    assert [group.library_calls for group in report.groups] == [("trmm",)]
    assert report.notes == ()


def test_a_matrix_that_is_computed_where_it_is_read_is_no_near_miss() -> None:
    u, v = Vector(Double, "u", [M]), Vector(Double, "v", [K])
    updated = point("P", [(i, upto(M)), *SUM], A(i, k) + u(i) * v(k))
    assert notes(total("R", [(i, upto(M))], SUM, updated(i, k) * x(k))) == ()


h = Vector(Double, "h", [K])
SLIDING = [(i, upto(L))]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (h(k) * Abs(w(i + k)), "Abs(w(i + k)) is no array element: compute it in a stage before"),
        (
            h(k) * (w(i + k) + w(i + K - 1 - k)),
            "2 products are added up in it",
        ),
        (h(k) * w(i + k) * w(i + k), "3 array elements are multiplied"),
        (h(k) * w(i + k) * (k + 1), "its factor k + 1 is computed of indices, no array element"),
        (w(i + k) * w(i + K - 1 - k), "both w(i + k) and w(i + K - k - 1) slide, and taps stay"),
        (
            h(k) * Vector(Double, "v", [L + 2 * K])(i + 2 * k),
            "k moves v(i + 2*k) by 2 elements",
        ),
        (h(k // 2) * w(i + k), "the elements of h((k)//2) are not a constant distance apart"),
    ],
)
def test_why_a_sum_along_an_array_is_no_filter(value: Any, reason: str) -> None:
    (note,) = notes(total("R", SLIDING, SUM, value))
    assert " is no filter: " in note
    assert reason in note


def test_other_ranges_of_taps() -> None:
    taps = [(k, pm.Interval(Int, 0, i))]
    square = total("R", [(i, upto(K))], taps, h(k) * Vector(Double, "v", [2 * K])(i + k))
    assert "neither over all taps nor over those that meet the signal" in notes(square)[0]


def test_without_what_is_named_it_is_a_filter() -> None:
    """And what is advised helps: a stage before stays one."""
    positive = point("P", [(i, upto(K + L - 1))], Abs(w(i)))
    report: Report = pm.compile(
        total("R", SLIDING, SUM, h(k) * positive(i + k)), name="c", options=Options(threads=1, fir="direct")
    ).explain()
    assert [group.kind for group in report.groups] == ["map", "filter"]
    assert report.notes == ()


def test_the_log_tells_as_well(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="polymat.idiom"):
        (note,) = notes(gemm(A(i, k) * B(k, j) / A(i, 0)))
    assert f"c: {note}" in caplog.messages
