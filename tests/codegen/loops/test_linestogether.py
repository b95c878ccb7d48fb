"""Lines of two points side by side in one loop, and which steps in three dimensions have their rows so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.linestogether import REST, lines_together
from polymat.machine.known import HASWELL
from tests.hosts import compiling_for

T, N, M = (pm.Parameter(pm.Int, name) for name in "TNM")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
SMALL = {T: 60, N: 40, M: 40}  # beyond the second level of HASWELL, within the third
LARGE = {T: 60, N: 160, M: 160}


def row(*body: Stmt) -> For:
    """The loop along a line."""
    return For("k", Literal("0"), CBinary("<", Id("k"), Id("n")), Literal("1"), body, (VECTORS,))


def place(name: str, line: Any) -> Subscript:
    return Subscript(Id(name), CBinary("+", CBinary("*", line, Id("n")), Id("k")))


def lines(*rows: Stmt) -> For:
    return For("j", Id("low"), CBinary("<", Id("j"), Id("high")), Literal("1"), rows)


def loops_of(statements: Any) -> Iterator[For]:
    for statement in statements:
        if isinstance(statement, For | Block):
            if isinstance(statement, For):
                yield statement
            yield from loops_of(statement.body)


def test_two_lines_have_locals_of_their_own() -> None:
    value = CBinary("*", place("x", Id("j")), place("x", CBinary("+", Id("j"), Literal("1"))))
    body = (Declare("const double", "v", value), Assign(place("z", Id("j")), "=", Id("v")))
    (made,) = lines_together((lines(row(*body)),), "j", 2)
    both, _, single, _ = loops_of((made,))
    assert both.step == Literal("2")
    assert single.start == Id(REST)
    (inside,) = both.body
    assert isinstance(inside, For)
    assert [each.name for each in inside.body if isinstance(each, Declare)] == ["v", "v_1"]
    targets = [each.target for each in inside.body if isinstance(each, Assign)]
    assert targets == [place("z", Id("j")), place("z", CBinary("+", Id("j"), Literal("1")))]


def test_lines_that_share_nothing_stay_alone() -> None:
    copied = (lines(row(Assign(place("z", Id("j")), "=", place("x", Id("j"))))),)
    assert lines_together(copied, "j", 2) == copied
    several = (lines(row(), row()),)
    assert lines_together(several, "j", 2) == several
    value = CBinary("*", place("x", Id("j")), place("x", Id("j")))
    others = (lines(row(Assign(place("z", Id("j")), "=", value))),)
    assert lines_together(others, "i", 2) == others


def spread(kind: Any = pm.Double) -> pm.Function:
    """Seven points of a field, of which the border stays."""
    rows, columns = pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, M - 1)
    start = pm.Image(kind, "x", [N, M, M])

    def inside(index: Any, size: Any) -> Any:
        return pm.Condition(index, ">=", 1) & pm.Condition(index, "<=", size - 2)

    def step(u: Any, v: Any) -> tuple[pm.Function, pm.Function]:
        def one(name: str, old: Any, of: Any) -> pm.Function:
            after = pm.Function(([i, j, k], [rows, columns, columns]), kind, name, default=old(i, j, k))
            around = of(i + 1, j, k) + of(i - 1, j, k) + of(i, j + 1, k) + of(i, j - 1, k)
            along = 0.25 * of(i, j, k + 1) - 0.5 * of(i, j, k - 1)
            where = inside(i, N) & inside(j, M) & inside(k, M)
            after.defn = [pm.Case(where, 0.125 * around + along + of(i, j, k) / 4.0)]
            return after

        after = one("v_after", v, u)
        return one("u_after", u, after), after

    last: pm.Function = pm.iterate(step, (start, pm.Image(kind, "y", [N, M, M])), steps=T)[0]
    return last


def compiled(bits: int, estimates: dict[pm.Parameter, int], kind: Any = pm.Double, threads: int = 1) -> Any:
    machine = replace(HASWELL, vector_bits=bits, cores=threads)
    options = pm.Options(threads=threads, cflags=("-O1",))
    with compiling_for(machine):
        return pm.compile(spread(kind), options=options, estimates=estimates)


@pytest.mark.turns(2)
def test_which_rows_lie_side_by_side() -> None:
    """Two lines of two planes in caches; planes where lines come from memory, or are shifted at once."""
    near, far, wide = compiled(256, SMALL), compiled(256, LARGE), compiled(512, SMALL)
    assert all("_pm_rows_s" in run.source for run in (near, far, wide))
    assert REST in near.source
    assert REST not in far.source
    assert REST not in wide.source
    assert "U(i, 2), U(j, 2)" in str(near.explain())


@pytest.mark.parametrize(("kind", "threads"), [(pm.Float, 2), (pm.Double, 1)], ids=str)
def test_elements_are_those_of_steps_one_by_one(kind: Any, threads: int) -> None:
    run = compiled(256, SMALL, kind, threads)
    assert REST in run.source
    rng = np.random.default_rng(threads)
    for rows, columns in ((1, 2), (2, 3), (3, 1), (5, 6), (40, 41), (67, 45), (90, 38)):
        arrays = [rng.standard_normal((rows, columns, columns)).astype(kind.dtype) for _ in range(2)]
        for steps in (0, 1, 7) if rows < 50 else (2,):  # the interpreter orders all elements of all steps
            found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
            allowed = 64 * (steps + 1) * np.finfo(kind.dtype).eps * np.abs(expected).max(initial=1.0)
            np.testing.assert_allclose(found, expected, rtol=0, atol=allowed, err_msg=f"{rows}, {columns}")
