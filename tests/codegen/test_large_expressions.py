"""Expressions that are deep, wide or shared, and long chains of stages: small code in a short time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Int, Interval, Op, Parameter, Reduce, Reduction, Select, Variable, Vector

Step = Callable[[Any, int], Any]
N = Parameter(Int, "N")
i = Variable(Int, "i")
whole = Interval(Int, 0, N - 1)
x = Vector(pm.Double, "x", [N])
FAST = pm.Options(cflags=("-O1",), fuse=False)
DATA = np.linspace(0.1, 0.9, 7)


def function(name: str, value: Any) -> pm.Function:
    f = pm.Function(([i], [whole]), pm.Double, name)
    f.defn = [value]
    return f


def repeated(step: Step, times: int) -> Any:
    value: Any = x(i)
    for k in range(times):
        value = step(value, k)
    return value


SHARED: dict[str, tuple[Step, Step]] = {
    "sum": (lambda e, _: e + e, lambda v, _: v + v),
    "product": (lambda e, _: e * e * 0.1 + e * 0.5, lambda v, _: v * v * 0.1 + v * 0.5),
    "monomial": (lambda e, _: e * e * 0.5, lambda v, _: v * v * 0.5),
    "minimum": (lambda e, _: pm.Min(e, e * 0.5) + e, lambda v, _: np.minimum(v, v * 0.5) + v),
    "branches": (
        lambda e, _: Select(Condition(x(i), ">", 0.7), e * 0.5, e + e),
        lambda v, _: np.where(DATA > 0.7, v * 0.5, v + v),
    ),
    "conditions": (
        lambda e, _: Select(Condition(e, ">", 0.7), e * e * 0.5, e + 0.1) * 0.9,
        lambda v, _: np.where(v > 0.7, v * v * 0.5, v + 0.1) * 0.9,
    ),
    "functions": (lambda e, _: pm.Sin(e) * pm.Cos(e) + e, lambda v, _: np.sin(v) * np.cos(v) + v),
}


@pytest.mark.parametrize("form", SHARED)
def test_a_value_used_twice_sixty_times(form: str) -> None:
    """Written out it would be 2**60 operations."""
    step, twin = SHARED[form]
    compiled = pm.compile(function("f", repeated(step, 60)), options=FAST)
    wanted: Any = DATA
    for k in range(60):
        wanted = twin(wanted, k)
    np.testing.assert_allclose(compiled(DATA), wanted, rtol=1e-12)
    np.testing.assert_allclose(compiled.reference(DATA), wanted, rtol=1e-12)
    assert len(compiled.source) < 40_000
    assert len(str(compiled.explain())) < 10_000


def test_absolute_values_inside_each_other() -> None:
    """Of integers, where C has no function for every type: the operand is written once."""
    v = Vector(Int, "v", [N])
    value: Any = v(i)
    for _ in range(30):
        value = pm.Abs(value - 3)
    f = pm.Function(([i], [whole]), Int, "f")
    f.defn = [value]
    compiled = pm.compile(f, options=FAST)
    data = np.arange(-5, 5, dtype=np.int32)
    np.testing.assert_array_equal(compiled(data), compiled.reference(data))
    assert len(compiled.source) < 40_000


def test_equal_stages_of_shared_values_are_recognised() -> None:
    """The comparison of definitions, too, takes each value once."""
    first, second = (function(name, repeated(lambda e, _: e + e, 60)) for name in "fg")
    result = function("h", first(i) - second(i))
    compiled = pm.compile(result, options=pm.Options(inline=False, cflags=("-O1",)))
    assert np.all(compiled(DATA) == 0)
    assert "g(i)" not in compiled.source


def test_stages_read_twice_by_the_next() -> None:
    """Inlining must not double the text at every stage."""
    f = function("f0", x(i) + 1)
    for k in range(1, 40):
        f = function(f"f{k}", f(i) * 0.5 + f(i) * f(i) * 0.01)
    compiled = pm.compile(f, options=FAST)
    np.testing.assert_allclose(compiled(DATA), compiled.reference(DATA), rtol=1e-12)
    assert len(compiled.source) < 200_000


DEEP: dict[str, tuple[Step, int]] = {
    "left": (lambda e, k: e + x(i) * float(k % 7), 2000),
    "right": (lambda e, k: x(i) * float(k % 7) + e, 2000),
    "parentheses": (lambda e, _: (e + 1.0) * 0.5, 2000),
    "functions": (lambda e, _: pm.Cos(e), 1000),
    "casts": (lambda e, _: pm.Cast(pm.Double, pm.Cast(pm.Float, e)), 1000),
    "minima": (lambda e, k: pm.Min(e, x(i) + float(k)), 200),
}


@pytest.mark.parametrize("form", DEEP)
def test_deep_expressions(form: str) -> None:
    step, depth = DEEP[form]
    options = pm.Options() if form == "minima" else FAST  # gcc -O1 takes seconds for nested conditionals
    compiled = pm.compile(function("f", repeated(step, depth)), options=options)
    np.testing.assert_allclose(compiled(DATA), compiled.reference(DATA), rtol=1e-9)


@pytest.mark.turns(2)
def test_a_sum_of_five_thousand_terms() -> None:
    total: Any = 0
    for k in range(5000):
        total = total + x(k % 11) * float(k)
    compiled = pm.compile(function("f", total), constraints=[Condition(N, ">=", 11)], options=FAST)
    data = np.arange(11.0)
    wanted = sum(data[k % 11] * k for k in range(5000))
    np.testing.assert_allclose(compiled(data), np.full(11, wanted), rtol=1e-11)


@pytest.mark.turns(2)
def test_a_chain_of_two_hundred_stages() -> None:
    f = function("s0", x(i) + 1)
    for k in range(1, 200):
        f = function(f"s{k}", f(i) * 0.5 + f(N - 1 - i) * 0.25 + 1)
    compiled = pm.compile(f, options=FAST)
    np.testing.assert_allclose(compiled(DATA), compiled.reference(DATA), rtol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_ranks(rank: int) -> None:
    extents = [Parameter(Int, f"N{k}") for k in range(rank)]
    variables = [Variable(Int, f"i{k}") for k in range(rank)]
    intervals = [Interval(Int, 0, extent - 1) for extent in extents]
    a, c = pm.Image(pm.Double, "a", extents), Parameter(pm.Double, "c")
    f = pm.Function((variables, intervals), pm.Double, "f")
    f.defn = [a(*variables) * c + sum((k + 1) * v for k, v in enumerate(variables))]
    r = Reduction((variables[::2], intervals[::2]), (variables, intervals), pm.Double, "r")
    r.defn = [Reduce(r(*variables[::2]), f(*variables), Op.Sum)]
    compiled = pm.compile([f, r], name="ranks", options=FAST)
    data = np.random.default_rng(0).normal(size=tuple(range(2, 2 + rank)))
    index = np.indices(data.shape)
    wanted = data * 0.5 + sum((k + 1) * index[k] for k in range(rank))
    found, total = compiled(data, c=0.5)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_allclose(total, wanted.sum(axis=tuple(range(1, rank, 2))), rtol=1e-12)


@pytest.mark.turns(2)
def test_ten_thousand_additions() -> None:
    """Numbers that are all different: gcc would keep each in a register."""
    value = repeated(lambda e, k: e + x(i) * float(k), 10_000)
    compiled = pm.compile(function("f", value), options=FAST)
    np.testing.assert_allclose(compiled(DATA), DATA * (1 + sum(range(10_000))), rtol=1e-12)
    assert len(compiled.source) < 400_000, "one loop, not four of them"
