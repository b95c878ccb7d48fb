"""Stages of several parts: an interior like that of a stage without a border, and what the border runs in."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from polymat.options import Options
from tests.hosts import compiling_for
from tests.tolerance import assert_close

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
EDGES = (0, 1, 2, 3, 4, 7, 8, 9, 20)
STEPS = 4


def framed(before: Any, name: str, kind: str, variables: list[Any], sizes: list[Any]) -> pm.Function:
    """A mean of neighbours inside, and on the border what was there before."""
    spans = [pm.Interval(pm.Int, 0, size - 1) for size in sizes]
    found = pm.Function((variables, spans), pm.Double, name)
    beside = [[v + step if v is w else v for v in variables] for w in variables for step in (-1, 1)]
    mean = (before(*variables) + sum(before(*place) for place in beside)) / (1.0 + len(beside))
    ends = list(zip(variables, sizes, strict=True))
    inside, border = pm.Condition(i, ">=", 1), pm.Condition(i, "==", 0)
    for v, size in ends:
        inside = inside & pm.Condition(v, ">=", 1) & pm.Condition(v, "<=", size - 2)
        border = border | pm.Condition(v, "==", 0) | pm.Condition(v, "==", size - 1)
    here = before(*variables)
    match kind:
        case "case":
            found.defn = [pm.Case(inside, mean), pm.Case(border, here)]
        case "default":
            found.defn, found.default = [pm.Case(inside, mean)], here
        case _:
            found.defn = [pm.Select(inside, mean, here)]
    return found


def chain(kind: str, variables: list[Any], sizes: list[Any], steps: int = STEPS) -> Any:
    before: Any = pm.Image(pm.Double, "given", sizes)
    for step in range(steps):
        before = framed(before, f"step{step}", kind, variables, sizes)
    return before


def compared(compiled: pm.Compiled, shapes: Any) -> None:
    for shape in shapes:
        given = np.random.default_rng(sum(shape)).random(shape)
        assert_close(compiled(given), compiled.reference(given), roundings=10 * STEPS, magnitude=1.0)


@pytest.mark.parametrize(("kind", "tiles"), [("case", ()), ("case", (3,)), ("select", (1,))])
def test_planes(kind: str, tiles: tuple[int, ...]) -> None:
    options = Options(parallel_threshold=0, threads=3, tile_sizes=tiles)
    compiled = pm.compile(chain(kind, [i, j], [N, M]), options=options)
    compared(compiled, [(rows, columns) for rows in EDGES for columns in (1, 2, 6, 19)])


def test_wide_vectors() -> None:
    with compiling_for(replace(GENERIC, vector_bits=512, vector_registers=32)):
        compiled = pm.compile(
            chain("default", [i, j], [N, M]), options=Options(parallel_threshold=0, threads=2)
        )
    assert "i += 2" in compiled.source
    compared(compiled, [(rows, columns) for rows in EDGES for columns in (1, 8, 19, 41)])


def test_cubes() -> None:
    compiled = pm.compile(
        chain("case", [i, j, k], [N, N, M], 2), options=Options(parallel_threshold=0, threads=2)
    )
    compared(compiled, [(edge, edge, last) for edge in EDGES[:7] for last in (1, 2, 9)])


def test_a_border_by_select_is_the_same_code_as_by_cases() -> None:
    def loops(kind: str) -> str:
        text = pm.compile(chain(kind, [i, j], [N, M], 2)).source
        return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).split("_pm_signature")[0]

    assert loops("select") == loops("case")


def test_rows_of_the_interior_run_side_by_side_without_a_branch() -> None:
    with compiling_for(GENERIC):
        source = pm.compile(chain("case", [i, j], [N, M])).source
    nest = source[source.index("_pm_nest_step1(") :]
    body = nest[: nest.index("\n}")]
    inner = body[body.index("i += 2") : body.index("i++")]
    assert inner.count("step1[") == 2
    assert "?" not in body
    assert "if (" not in inner
    assert {*re.findall(r"step\d\[\([^&]* & (\d+)\)", source)} == {
        "3"
    }  # rings of four rows, whatever follows
