"""Arrays that depend on no argument: computed by the first call, there for all others."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    Variable,
)
from polymat.graph.build import build
from polymat.graph.constant import kept_stages
from tests.tolerance import assert_close

N = Parameter(Int, "N")
i, j, k = (Variable(Int, name) for name in "ijk")
LENGTH = 130


def upto(length: Any) -> Interval:
    return Interval(Int, 0, length - 1)


def constants(name: str = "table") -> Reduction:
    """Sums of cosines: 130 sums of 130 terms."""
    table = Reduction(([i], [upto(LENGTH)]), ([i, k], [upto(LENGTH), upto(LENGTH)]), Double, name)
    table.defn = [Reduce(table(i), pm.Cos(0.01 * i * k), Op.Sum)]
    return table


def product(table: Function) -> tuple[Function, Matrix]:
    a = Matrix(Double, "A", [N, LENGTH])
    y = Function(([i, j], [upto(N), upto(LENGTH)]), Double, "y")
    y.defn = [a(i, j) * table(j)]
    return y, a


def test_the_first_call_computes_them() -> None:
    y, a = product(constants())
    compiled = pm.compile(y, inputs=[a])
    assert "_pm_kept_give" in compiled.source
    assert "table (float64) computed by the first call alone" in str(compiled.explain())
    for rows in (3, 0, 1, 5):
        given = np.random.default_rng(rows).uniform(-1, 1, (rows, LENGTH))
        assert_close(compiled(given), compiled.reference(given), roundings=200, magnitude=LENGTH)


def test_sections_keep_arrays_of_their_own() -> None:
    """What is read before steps begin, and what is read behind them, are no arrays of one block."""
    before, behind = constants("before"), constants("behind")
    behind.defn = [Reduce(behind(i), pm.Sin(0.02 * i * k), Op.Sum)]
    T, t = Parameter(Int, "T"), Variable(Int, "t")
    a = pm.Vector(Double, "a", [LENGTH])
    start, end = (Function(([i], [upto(LENGTH)]), Double, name) for name in ("start", "end"))
    u, v = (Function(([t, i], [Interval(Int, 0, T), upto(LENGTH)]), Double, name) for name in "uv")
    start.defn = [a(i) * before(i)]
    for one, other in ((u, v), (v, u)):
        later = Case(Condition(t, ">=", 1), other(t - 1, LENGTH - 1 - i) / 2)
        one.defn = [Case(Condition(t, "==", 0), start(i)), later]
    end.defn = [u(T, i) + behind(i)]
    compiled = pm.compile(end, inputs=[a], options=Options(skip=("bands",)))
    assert compiled.source.count("= _pm_kept_give(") == 2
    given = np.random.default_rng(0).uniform(-1, 1, LENGTH)
    for steps in (2, 0, 3):
        actual, expected = compiled(given, T=steps), compiled.reference(given, T=steps)
        assert_close(actual, expected, roundings=200, magnitude=LENGTH)


def test_calls_at_the_same_time() -> None:
    y, a = product(constants())
    given = np.random.default_rng(0).uniform(-1, 1, (7, LENGTH))
    expected = pm.compile(y, inputs=[a], options=Options(keep=False), name="other")(given)
    for attempt in range(5):
        compiled = pm.compile(y, inputs=[a], name=f"attempt{attempt}", options=Options(threads=1))
        results: list[Any] = [None] * 8
        barrier = threading.Barrier(len(results))

        def run(n: int, call: Any = compiled, found: Any = results, start: Any = barrier) -> None:
            start.wait()
            found[n] = call(given)

        threads = [threading.Thread(target=run, args=(n,)) for n in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(np.allclose(result, expected, rtol=1e-12) for result in results)


def test_switched_off() -> None:
    y, a = product(constants())
    for options in (Options(keep=False), Options.naive(), Options.paper()):
        assert "_pm_kept" not in pm.compile(y, inputs=[a], options=options).source


def test_what_is_kept() -> None:
    table = constants()
    y, a = product(table)
    assert kept_stages(build([y], inputs=[a])) == {"table"}
    assert kept_stages(build([y, table], inputs=[a])) == frozenset(), "outputs are the caller's"
    scale = Parameter(Double, "scale")
    scaled = Reduction(([i], [upto(LENGTH)]), ([i, k], [upto(LENGTH), upto(LENGTH)]), Double, "scaled")
    scaled.defn = [Reduce(scaled(i), pm.Cos(scale * i * k), Op.Sum)]
    assert kept_stages(build([product(scaled)[0]])) == frozenset(), "the scale is an argument"
    few = Reduction(([i], [upto(LENGTH)]), ([i, k], [upto(LENGTH), upto(3)]), Double, "few")
    few.defn = [Reduce(few(i), pm.Cos(0.01 * i * k), Op.Sum)]
    assert kept_stages(build([product(few)[0]])) == frozenset(), "390 terms are soon added again"


def _cut(table: Function) -> Any:
    """Terms that a Case keeps below N alone."""
    return Case(Condition(k, "<", N), Reduce(table(i), pm.Sqrt(k + 1.0 + i), Op.Sum))


def _moved(table: Function) -> Any:
    """Terms of another function, read from N on."""
    source = Function(([k], [upto(2 * LENGTH)]), Double, "source")
    source.defn = [pm.Sqrt(k + 1.0)]
    return Reduce(table(i), source(k + N) * (i + 1), Op.Sum)


def _of_parts(table: Function) -> Any:
    """Terms of another function, which is another one from N on."""
    source = Function(([k], [upto(LENGTH)]), Double, "source")
    source.defn = [Case(Condition(k, "<", N), 1.0), Case(Condition(k, ">=", N), 2.0)]
    return Reduce(table(i), source(k) * (i + 1), Op.Sum)


@pytest.mark.parametrize("entry", [_cut, _moved, _of_parts])
def test_sums_that_depend_on_a_size_inside_are_computed_anew(entry: Any) -> None:
    """Their intervals are numbers, and every call has other terms."""
    table = Reduction(([i], [upto(LENGTH)]), ([i, k], [upto(LENGTH), upto(LENGTH)]), Double, "table")
    table.defn = [entry(table)]
    y, a = product(table)
    compiled = pm.compile(y, inputs=[a], constraints=[Condition(N, "<=", LENGTH)], estimates={N: 5})
    for rows in (3, 7, 0, 1, LENGTH):
        given = np.random.default_rng(rows).uniform(-1, 1, (rows, LENGTH))
        assert_close(compiled(given), compiled.reference(given), roundings=400, magnitude=4e4)
