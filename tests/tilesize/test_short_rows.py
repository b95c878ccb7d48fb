"""Rows shorter than a vector, and what vectors count by: predicted as what they run at."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Cast, Float, Function, Image, Int, Interval, Options, Parameter, UChar, Variable
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.tilesize.shortloops import computed_bytes

H, W = Parameter(Int, "H"), Parameter(Int, "W")
I, J, C = Variable(Int, "i"), Variable(Int, "j"), Variable(Int, "c")  # noqa: E741


def image_of(expression: Any, dtype: Any = Float, source: Any = Float, channels: int = 3) -> Function:
    image = Image(source, "image", [H + 4, W + 4, channels])
    sides = [Interval(Int, 0, H - 1), Interval(Int, 0, W - 1), Interval(Int, 0, channels - 1)]
    out = Function(([I, J, C], sides), dtype, "out")
    out.defn = [expression(image)]
    return out


def blur(image: Any) -> Any:
    return sum(image(I + a, J + b, C) * 0.04 for a in range(5) for b in range(5))


def seconds(out: Function, *, join: bool) -> float:
    options = Options(threads=1, join=join)
    found = pm.compile(out, name="short_rows", estimates={H: 1000, W: 1000}, options=options)
    predicted: float | None = found.explain().predicted.seconds
    assert predicted is not None
    return predicted


def test_a_stencil_over_short_rows_is_predicted_without_vectors() -> None:
    long, short = (seconds(image_of(blur), join=join) for join in (True, False))
    assert short > 1.5 * long


def test_what_reads_nothing_beside_is_predicted_alike() -> None:
    long, short = (seconds(image_of(lambda image: image(I, J, C) * 2.0), join=join) for join in (True, False))
    assert short == pytest.approx(long, rel=1e-3)  # but for the ends of rows


def test_vectors_count_by_what_is_computed_with() -> None:
    def stage(out: Function) -> Stage:
        found = next(level for name, level in levels(request_for([out], name="y")) if name == "graph")
        assert isinstance(found, Pipeline)
        return found.stage("out")

    assert computed_bytes(stage(image_of(lambda image: image(I, J, C) * 2, UChar, UChar))) == 1
    as_float = image_of(lambda image: Cast(UChar, Cast(Float, image(I, J, C)) * 2.0), UChar, UChar)
    assert computed_bytes(stage(as_float)) == 4
