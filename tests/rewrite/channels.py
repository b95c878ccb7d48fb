"""Images with channels last: what the tests of them share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import polymat as pm
from polymat import Int, Interval, Options, Parameter, Variable
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from tests.tolerance import assert_close

H, W, N = Parameter(Int, "H"), Parameter(Int, "W"), Parameter(Int, "N")
I, J, C = Variable(Int, "i"), Variable(Int, "j"), Variable(Int, "c")  # noqa: E741
A, B = Variable(Int, "a"), Variable(Int, "b")
LONG = ("i", "j_c")
WIDTHS = (1, 2, 3, 7, 33)


def interval(low: Any, high: Any) -> Interval:
    return Interval(Int, low, high)


def over(channels: int, margin: int = 0) -> Any:
    rows, columns = interval(0, H - 1), interval(margin, W - 1 - margin)
    return [I, J, C], [rows, columns, interval(0, channels - 1)]


def graph(output: Any, options: Options | None = None, **description: Any) -> Pipeline:
    outputs = output if isinstance(output, list) else [output]
    built = levels(request_for(outputs, name="y", options=options or Options(), **description))
    found = next(level for name, level in built if name == "graph")
    assert isinstance(found, Pipeline)
    return found


def dims(output: Any, stage: str = "out", **description: Any) -> tuple[str, ...]:
    return graph(output, **description).stage(stage).dims


def data(shape: tuple[int, ...], seed: int = 0) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def check(output: Any, *shapes: tuple[int, ...], roundings: int = 60, **description: Any) -> None:
    """Compare every call with the interpreter; the fresh results, and those in a given array."""
    compiled = pm.compile(output, name="channels", **description)
    for shape in shapes:
        given = data(shape)
        expected = compiled.reference(given)
        assert_close(compiled(given), expected, roundings=roundings, magnitude=100.0)
        out = np.full(expected.shape, 7.0)
        compiled(given, out=out)
        written = out != 7.0
        assert_close(out[written], expected[written], roundings=roundings, magnitude=100.0)
