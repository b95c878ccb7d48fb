"""Sums in circles in blocks of steps: what finished blocks have is summed up at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.factorisations import build_banded, inputs_banded
from benchmarks.polybench import nussinov
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Op, Options, Reduce, Reduction
from polymat.driver import levels, request_for
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL
from polymat.poly.membership import members
from polymat.rewrite import sumblocks
from polymat.rewrite.sumblocks import SumBlocks
from tests.graph.test_toldapart import left_looking, positive

N = pm.Parameter(Int, "N")
i, j, k = (pm.Variable(Int, name) for name in "ijk")
SPANS = [Interval(Int, 0, N - 1), Interval(Int, i, N - 1)]
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 17)


def chain_order(dtype: Any = Double) -> Any:
    """The least number of multiplications of a chain of matrices, whose sides are p."""
    p = pm.Vector(dtype, "p", [N + 1])
    best = Reduction(([i, j], SPANS), ([i, j, k], [*SPANS, Interval(Int, i, j - 1)]), dtype, "best")
    cost = Function(([i, j], SPANS), dtype, "cost")
    best.defn = [Reduce(best(i, j), cost(i, k) + cost(k + 1, j) + p(i) * p(k + 1) * p(j + 1), Op.Min)]
    cost.defn = [Case(Condition(i, "==", j), 0), Case(Condition(j, ">", i), best(i, j))]
    return cost


def chain_by_numpy(p: Any) -> Any:
    count = len(p) - 1
    cost = np.zeros((count, count), p.dtype)
    for low in range(count - 1, -1, -1):
        for high in range(low + 1, count):
            parts = cost[low, low:high] + cost[low + 1 : high + 1, high]
            cost[low, high] = np.min(parts + p[low] * p[low + 1 : high + 1] * p[high + 1])
    return cost


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four steps, whatever they take."""
    monkeypatch.setattr(sumblocks, "STEPS", 4)
    monkeypatch.setattr(sumblocks, "SIDE", 4)
    monkeypatch.setattr(sumblocks, "CLEARLY", 1e9)
    monkeypatch.setattr(sumblocks, "FEWEST", 1)


def sections_of(output: Any, *, reassociates: bool = True) -> tuple[Any, Any]:
    """The pipeline, and its sections with blocks where there are some."""
    pipeline = build([output])
    stepwise = in_sections(pipeline)
    assert isinstance(stepwise, Stepwise)
    return pipeline, SumBlocks(HASWELL, {}, reassociates).decided(stepwise)


def is_blocked(stepwise: Any) -> bool:
    return any(section.changed for section in stepwise.sections)


def values(name: str, size: int) -> tuple[dict[str, Any], dict[str, int]]:
    rng = np.random.default_rng(size)
    if name == "chain":
        return {"p": rng.random(size + 1)}, {"N": size}
    if name == "nussinov":
        return {"seq": rng.integers(0, 4, size).astype(np.int8)}, {"N": size}
    if name == "cholesky":
        return {"A": positive(size)}, {"N": size}
    sizes = {"N": size, "K": int(name)}
    return dict(inputs_banded(sizes, rng)), sizes


PROGRAMS: dict[str, Callable[[], Any]] = {
    "chain": chain_order,
    "nussinov": lambda: nussinov.build().outputs[0],
    "cholesky": lambda: left_looking(i, j),
    **dict.fromkeys(("0", "3", "6", "40"), lambda: build_banded().outputs[0]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_compute_the_same(name: str, small: None) -> None:
    pipeline, stepwise = sections_of(PROGRAMS[name]())
    assert is_blocked(stepwise)
    for size in SIZES:
        arrays, sizes = values(name, size)
        (output,) = pipeline.outputs
        expected = interpret(pipeline, arrays, sizes)[output]
        found = interpret_stepwise(stepwise, arrays, sizes, members)[output]
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=f"{size}")


@pytest.mark.covering
@pytest.mark.parametrize("name", ["chain", "nussinov", "cholesky", "6"])
@pytest.mark.parametrize("threads", [1, 2])
def test_compiled(name: str, threads: int, small: None) -> None:
    compiled = pm.compile(PROGRAMS[name](), name="blocked", options=Options(threads=threads))
    told = str(compiled.explain())
    assert "in blocks of" in told
    assert "takes all at once: " in told
    for size in (*SIZES, 31, 40):
        arrays, sizes = values(name, size)
        given = {key: value for key, value in sizes.items() if key != "N" and name not in ("6",)}
        found = compiled(*arrays.values(), **given)
        expected = compiled.reference(*arrays.values(), **given)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=f"{size}")


def test_single_precision(small: None) -> None:
    compiled = pm.compile(chain_order(Float), name="chain")
    p = np.random.default_rng(0).random(42).astype(np.float32)
    np.testing.assert_array_equal(compiled(p), compiled.reference(p))
    np.testing.assert_allclose(np.triu(compiled(p)), chain_by_numpy(p), rtol=1e-5)


def test_only_what_is_needed_for_long_sums() -> None:
    """Blocks where sums are long, by prediction: in no small tables, nor where terms lie side by side."""
    for size, blocked in ((100, False), (2000, True)):
        request = request_for(chain_order(), estimates={N: size}, options=Options(threads=1))
        assert is_blocked(_sums(request)) == blocked
    described = build_banded()
    request = request_for(described.outputs[0], estimates=dict(zip(described.sizes, (4000, 64), strict=True)))
    assert not is_blocked(_sums(request))


def _sums(request: Any) -> Any:
    found = levels(replace(request, machine=HASWELL))
    return next(level for name, level in found if name == "sums")


def test_sums_stay_in_their_order_without_reassociate(small: None) -> None:
    assert not is_blocked(sections_of(left_looking(i, j), reassociates=False)[1])
    assert is_blocked(sections_of(chain_order(), reassociates=False)[1])  # the order of minima says nothing
    compiled = pm.compile(chain_order(), name="chain", options=Options(skip=("sums",)))
    assert "in blocks of" not in str(compiled.explain())


def test_operands_of_one_result_alone_gain_nothing(small: None) -> None:
    """Forward substitution reads each element of its matrix once."""
    L, b = pm.Matrix(Double, "L", [N, N]), pm.Vector(Double, "b", [N])
    rows = Interval(Int, 0, N - 1)
    total = Reduction(([i], [rows]), ([i, k], [rows, Interval(Int, 0, i - 1)]), Double, "total")
    x = Function(([i], [rows]), Double, "x")
    total.defn = [Reduce(total(i), L(i, k) * x(k), Op.Sum)]
    x.defn = [(b(i) - total(i)) / L(i, i)]
    assert not is_blocked(sections_of(x)[1])


@pytest.mark.parametrize(("ahead", "blocked"), [(0, True), (1, False), (-1, True)])
def test_rows_that_read_later_columns_have_no_square_blocks(ahead: int, blocked: bool, small: None) -> None:
    """What a row reads of the next column of the row before is made by a later block."""
    pipeline, stepwise = sections_of(rows_of_sums(ahead))
    assert is_blocked(stepwise) == blocked
    compiled = pm.compile(rows_of_sums(ahead), name="rows", options=Options(threads=1))
    rng = np.random.default_rng(3)
    for size in SIZES:
        given = 0.1 * rng.random((size, size))
        expected = interpret(pipeline, {"B": given}, {"N": size})["table"]
        found = interpret_stepwise(stepwise, {"B": given}, {"N": size}, members)["table"]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(compiled(given), expected, rtol=1e-12, atol=1e-12)


def rows_of_sums(ahead: int) -> Any:
    """A table whose elements sum up those before them, and read one of the row before."""
    B, square = pm.Matrix(Double, "B", [N, N]), [Interval(Int, 0, N - 1)] * 2
    total = Reduction(([i, j], square), ([i, j, k], [*square, Interval(Int, 0, j - 1)]), Double, "total")
    table = Function(([i, j], square), Double, "table", default=1.0)
    total.defn = [Reduce(total(i, j), table(i, k) * B(k, j), Op.Sum)]
    inside = Condition(i, ">", 0) & Condition(j, ">", 0) & Condition(j, "<", N - 1)
    table.defn = [Case(inside, total(i, j) + 0.5 * table(i - 1, j + ahead))]
    return table
