"""Arrays of the workspace that share memory."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from polymat.options import Options
from tests.tolerance import assert_close

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
I, J = pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)  # noqa: E741 (the interval of i)


def function(name: str, value: object, dtype: ScalarType = pm.Double) -> pm.Function:
    found = pm.Function(([i, j], [I, J]), dtype, name)
    found.defn = [value]
    return found


def places(source: str) -> dict[str, str]:
    """For each array of the workspace the name of where it begins."""
    lines = [line for line in source.splitlines() if "_pm_workspace + _pm_at_" in line]
    return {line.split("=")[0].split()[-1]: line.split("_pm_at_")[1].rstrip(");") for line in lines}


def chain(count: int) -> tuple[pm.Matrix, list[pm.Function]]:
    A = pm.Matrix(pm.Double, "A", [M, N])
    stages = [function("s0", pm.Sin(A(M - 1 - i, j)))]
    for k in range(1, count):
        stages.append(function(f"s{k}", pm.Sin(stages[-1](M - 1 - i, j) * 0.5)))
    return A, stages


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 5), (64, 33)])
def test_a_chain_lives_in_two_slots(shape: tuple[int, int]) -> None:
    A, stages = chain(6)
    compiled = pm.compile(stages[-1], inputs=[A], name="chain", options=Options.naive(threads=2))
    found = places(compiled.source)
    assert found == {"s0": "s0", "s1": "s1", "s2": "s0", "s3": "s1", "s4": "s0"}
    array = np.random.default_rng(0).random(shape)
    assert_close(compiled(array), compiled.reference(array), roundings=60)


def test_what_is_read_later_keeps_its_place() -> None:
    A, stages = chain(4)
    last = function("last", stages[-1](M - 1 - i, j) + stages[0](i, j))
    compiled = pm.compile(last, inputs=[A], name="late", options=Options.naive(threads=2))
    assert places(compiled.source) == {"s0": "s0", "s1": "s1", "s2": "s2", "s3": "s1"}
    array = np.random.default_rng(0).random((13, 17))
    assert_close(compiled(array), compiled.reference(array), roundings=60)


@pytest.mark.parametrize("shape", [(3, 40), (40, 3), (0, 7), (9, 9)])
def test_a_slot_is_as_large_as_its_largest_array(shape: tuple[int, int]) -> None:
    A = pm.Matrix(pm.Double, "A", [M, N])
    ends = {"by_rows": (i, I), "by_columns": (j, J)}
    tops = {}
    for name, (variable, interval) in ends.items():
        tops[name] = pm.Function(([variable], [interval]), pm.Double, name)
    tops["by_rows"].defn = [pm.Sin(A(i, 0))]
    whole = pm.Function(([j], [J]), pm.Double, "whole")
    whole.defn = [pm.Sin(tops["by_rows"](0) + A(0, j))]
    tops["by_columns"].defn = [pm.Cos(whole(N - 1 - j))]
    result = pm.Function(([i, j], [I, J]), pm.Double, "result")
    result.defn = [tops["by_columns"](j) * A(i, j)]
    constraints = [pm.Condition(M, ">=", 1), pm.Condition(N, ">=", 1)]
    compiled = pm.compile(
        result, inputs=[A], name="sizes", options=Options.naive(threads=2), constraints=constraints
    )
    assert places(compiled.source) == {"by_rows": "by_rows", "whole": "whole", "by_columns": "by_rows"}
    if 0 not in shape:
        array = np.random.default_rng(0).random(shape)
        assert_close(compiled(array), compiled.reference(array), roundings=60)


def test_element_types_do_not_mix() -> None:
    A = pm.Matrix(pm.Double, "A", [M, N])
    a = function("a", pm.Cast(pm.Float, A(M - 1 - i, j)), pm.Float)
    b = function("b", a(M - 1 - i, j) * 2, pm.Float)
    c = function("c", b(M - 1 - i, j) * 2.0)
    d = function("d", c(M - 1 - i, j) * 2.0)
    compiled = pm.compile(d, inputs=[A], name="types", options=Options.naive(threads=1))
    assert places(compiled.source) == {"a": "a", "b": "b", "c": "c"}
