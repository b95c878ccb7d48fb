"""What is computed once, and what is loaded before a Select on data chooses."""

from __future__ import annotations

from typing import Any

import numpy as np

import polymat as pm
from polymat import (
    Case,
    Clamp,
    Condition,
    Function,
    Image,
    Int,
    Interval,
    Options,
    Parameter,
    Select,
    Short,
    Variable,
)
from polymat.graph.build import build
from polymat.lang.sharing import MAX_DEPTH, computed_once, loaded_ahead, written_at_most, written_size

N = Parameter(Int, "N")
i = Variable(Int, "i")
a, b, c = (Image(Short, name, [N + 1]) for name in "abc")


def ahead(value: Any) -> list[str]:
    f = Function(([i], [Interval(Int, 0, N - 1)]), Short, "f")
    f.defn = value
    (stage,) = build([f]).stages
    return [str(load) for load in loaded_ahead(stage.parts[0].expr)]


def test_what_branches_alone_load_is_loaded_before() -> None:
    assert ahead(Select(Condition(a(i), "<", 3), b(i) + 1, c(i + 1))) == ["b(i)", "c(i + 1)"]
    assert ahead(a(i) + Select(Condition(a(i), "<", 3), a(i), 0)) == []
    inner = Select(Condition(b(i), "<", 3), c(i), 0)
    assert ahead(Select(Condition(a(i), "<", 3), inner, 1)) == ["b(i)", "c(i)"]


def test_elements_that_indices_protect_are_not() -> None:
    assert ahead(Select(Condition(i, "<", 3), a(i), b(i))) == []
    assert ahead(Select(Condition(a(i), "<", 3), Select(Condition(i, "<", 3), b(i), 0), c(i))) == ["c(i)"]


def test_computed_places_are_not() -> None:
    assert ahead(Select(Condition(a(i), "<", 3), b(Clamp(a(i), 0, N)), c(i))) == ["c(i)"]


def test_long_sums_get_a_name_for_each_so_many_operations() -> None:
    total: Any = a(0)
    for k in range(1, 3 * MAX_DEPTH):
        total = total + a(k)
    assert len(computed_once(total)) == 2
    assert written_size(total) == 6 * MAX_DEPTH - 1 + 2
    assert written_size(total) <= written_at_most(total) <= 1.02 * written_size(total)


def test_a_bound_of_the_size_is_not_found_where_operations_are_shared() -> None:
    square = (a(0) + 1) * 2
    assert written_at_most(square) >= written_size(square) == 5
    assert written_at_most(square + square) == float("inf")


def test_loads_come_before_the_choice_in_c() -> None:
    """Cases that take turns, too, each with its own."""
    f = Function(([i], [Interval(Int, 0, N - 1)]), Short, "f")
    odd = Condition(i % 2, "==", 1)
    f.defn = [
        Case(~odd, Select(Condition(a(i), "<", 3), b(i) + 1, c(i + 1) + 2)),
        Case(odd, Select(Condition(b(i), "<", 3), a(i), c(i) - 2)),
    ]
    compiled = pm.compile(f, options=Options(threads=1))
    assert "const int16_t _pm_t0_0 = b[" in compiled.source
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 37, 64):
        x, y, z = rng.integers(0, 6, (3, size + 1), np.int16)
        even = np.where(x < 3, y + 1, np.append(z[1:], 0) + 2)[:-1]
        found = compiled(a=x, b=y, c=z)
        assert np.array_equal(found[::2], even[::2])
        assert np.array_equal(found[1::2], np.where(y < 3, x, z - 2)[:-1][1::2])
