"""Rows that are read at j // k beside rows that are read at j."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.loops.dividedfirst import COUNT, SHORT
from polymat.machine.known import GENERIC, HASWELL
from polymat.machine.model import Machine
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
WIDE = replace(GENERIC, vector_bits=512, vector_registers=32)
SPREAD = "_pm_spread0"


def compiled_sum(value: Any, kind: Any, start: int = 1, machine: Machine = WIDE) -> pm.Compiled:
    fine, coarse = pm.Image(kind, "fine", [R, C]), pm.Image(kind, "coarse", [R, C // 2 + 2])
    spans = [pm.Interval(pm.Int, 1, R - 2), pm.Interval(pm.Int, start, C - 2)]
    found = pm.Function(([i, j], spans), kind, "found")
    found.defn = [value(fine, coarse)]
    with compiling_for(machine):
        return pm.compile(found, inputs=[fine, coarse], trim=True)


def beside(fine: Any, coarse: Any) -> Any:
    up = (coarse(i, (j + 1) // 2) + coarse(i, (j + 2) // 2)) / 2.0
    return fine(i, j - 1) + (1.0 - fine(i, j + 1)) * up


def several(fine: Any, coarse: Any) -> Any:
    return (
        coarse(i, j // 2) * fine(i, j)
        + coarse(i - 1, (j + 1) // 2) * fine(i, j + 1)
        - coarse(i, (j + 3) // 2)
    )


@pytest.mark.covering
@pytest.mark.parametrize("kind", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize("value", [beside, several])
@pytest.mark.parametrize("start", [1, 2])
def test_rows_of_every_length(value: Any, kind: Any, start: int) -> None:
    compiled = compiled_sum(value, kind, start)
    assert f"{SPREAD}[{COUNT}]" in compiled.source
    for columns in (4, 5, 17, 18, 19, 33, 64, 1022, 1025, 1026, 1027, 2051):
        rng = np.random.default_rng(columns)
        fine = rng.random((4, columns)).astype(kind.dtype)
        coarse = rng.random((4, columns // 2 + 2)).astype(kind.dtype)
        assert_close(compiled(fine, coarse), compiled.reference(fine, coarse), roundings=8, magnitude=4.0)


@pytest.mark.parametrize("kind", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize("value", [beside, several])
@pytest.mark.parametrize("start", [1, 2])
def test_parts_are_short_where_the_compiler_makes_the_vectors(value: Any, kind: Any, start: int) -> None:
    compiled = compiled_sum(value, kind, start, HASWELL)
    assert f"{SPREAD}[{SHORT}]" in compiled.source
    for columns in (3, 4, 5, 17, SHORT - 1, SHORT, SHORT + 1, SHORT + 2, SHORT + 3, 2 * SHORT + 1, 211, 1027):
        rng = np.random.default_rng(columns)
        fine = rng.random((5, columns)).astype(kind.dtype)
        coarse = rng.random((5, columns // 2 + 2)).astype(kind.dtype)
        assert_close(compiled(fine, coarse), compiled.reference(fine, coarse), roundings=8, magnitude=4.0)


def longer(fine: Any, coarse: Any) -> Any:
    near = pm.Cast(pm.Double, coarse(i, j // 2)) * 0.1 + pm.Cast(pm.Double, fine(i, j))
    return pm.Cast(pm.Float, near * 1e9 + near * near)


def counted(fine: Any, coarse: Any) -> Any:
    steps = pm.Cast(pm.Int, coarse(i, j // 2) * 100.0) * 1000001
    return fine(i, j) + pm.Cast(pm.Float, steps % 7) - pm.Cast(pm.Float, steps % 11)


@pytest.mark.parametrize("value", [longer, counted])
def test_what_is_computed_as_another_type_is_not_rounded_to_that_of_the_row(value: Any) -> None:
    compiled = compiled_sum(value, pm.Float)
    coarse = np.random.default_rng(5).random((4, 47), dtype=np.float32)
    fine = np.repeat(-0.1 * coarse.astype(np.float64), 2, axis=1)[:, :90].astype(np.float32)
    np.testing.assert_allclose(compiled(fine, coarse), compiled.reference(fine, coarse), atol=1e-6)


def test_rows_that_are_read_at_half_the_place_alone_stay_in_blocks() -> None:
    def alone(_: Any, coarse: Any) -> Any:
        return coarse(i, j // 2) + coarse(i - 1, j // 2)

    assert SPREAD not in compiled_sum(alone, pm.Float).source


def test_every_other_element_beside_them_keeps_the_loop_as_it_is() -> None:
    def mixed(fine: Any, coarse: Any) -> Any:
        return coarse(i, j // 2) + fine(i, C - 1 - j)

    compiled = compiled_sum(mixed, pm.Float)
    assert SPREAD not in compiled.source
    rng = np.random.default_rng(3)
    fine, coarse = rng.random((4, 50), dtype=np.float32), rng.random((4, 27), dtype=np.float32)
    assert_close(compiled(fine, coarse), compiled.reference(fine, coarse), roundings=4, magnitude=2.0)
