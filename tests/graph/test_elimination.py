"""Which recurrences have products that may wait for the end of a block of steps, and which results wait."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from benchmarks.polybench import floyd_warshall, seidel_2d
from polymat.driver import levels, request_for
from polymat.graph.elimination import Elimination, Trailing, find_elimination
from polymat.graph.pipeline import Pipeline
from tests.decide import eliminations, recurrences


def graph(outputs: Any) -> Pipeline:
    found = dict(levels_until_graph(outputs))["graph"]
    assert isinstance(found, Pipeline)
    return found


def levels_until_graph(outputs: Any) -> Any:
    for name, level in levels(request_for(outputs)):
        yield name, level
        if name == "graph":
            return


def found(outputs: Any) -> Elimination | None:
    pipeline = graph(outputs)
    return find_elimination(pipeline.stages[0], pipeline)


@pytest.mark.parametrize(
    ("name", "left", "right", "trailing"),
    [
        (
            "unscaled_lu",
            "W(k - 1, i, k - 1) / W(k - 1, k - 1, k - 1)",
            "W(k - 1, k - 1, j)",
            Trailing((0, 0)),
        ),
        ("schur", "W(k, i, k - 1)", "W(k - 1, k - 1, j)", Trailing((0, 0))),
        ("ldlt", "W(k, i, k - 1) * W(k - 1, k - 1, k - 1)", "W(k, j, k - 1)", Trailing((0, 0), (True, 0))),
        ("upper_cholesky", "W(k, k - 1, i)", "W(k, k - 1, j)", Trailing((0, 0), (False, 0))),
        ("forward_solve", "L(i, k - 1)", "X(k, k - 1, j)", Trailing((0, None))),
        ("right_solve", "X(k, i, k - 1)", "U(k - 1, j)", Trailing((None, 0))),
    ],
)
def test_operands_and_what_waits(name: str, left: str, right: str, trailing: Trailing) -> None:
    made = found(eliminations.LEGAL[name]())
    assert made is not None
    assert (made.first, str(made.scale), str(made.left), str(made.right)) == (1, "-1", left, right)
    assert made.trailing == trailing


@pytest.mark.parametrize("name", eliminations.REFUSED)
def test_operands_that_change_within_a_block_are_refused(name: str) -> None:
    assert found(eliminations.REFUSED[name]()) is None


@pytest.mark.parametrize(
    "describe",
    [floyd_warshall.build, seidel_2d.build, recurrences.two_arrays, recurrences.sums_along_rows],
)
def test_other_recurrences_are_refused(describe: Any) -> None:
    assert found(list(describe().outputs)) is None


def test_sizes_that_are_numbers_are_found_alike() -> None:
    made = found(eliminations.unscaled_lu(size=100))
    assert made is not None
    assert made.trailing == Trailing((0, 0))


def test_names_do_not_matter() -> None:
    a, b, c = (pm.Variable(pm.Int, name) for name in ("j", "k", "i"))
    n = eliminations.N
    A = pm.Matrix(pm.Double, "i2", [n, n])
    W = pm.Function(([a, b, c], [pm.Interval(pm.Int, 0, n), *[eliminations.upto(n)] * 2]), pm.Double, "k2")
    after = pm.Condition(b, ">=", a) & pm.Condition(c, ">=", a)
    before = pm.Condition(b, "<", a) | pm.Condition(c, "<", a)
    later = pm.Condition(a, ">=", 1)
    W.defn = [
        pm.Case(pm.Condition(a, "==", 0), A(b, c)),
        pm.Case(later & before, W(a - 1, b, c)),
        pm.Case(later & after, W(a - 1, b, c) - W(a - 1, b, a - 1) * W(a - 1, a - 1, c)),
    ]
    out = pm.Function(([b, c], [eliminations.upto(n)] * 2), pm.Double, "out")
    out.defn = [W(n, b, c)]
    made = found(out)
    assert made is not None
    assert made.trailing == Trailing((0, 0))


def test_all_results_of_a_plain_sum_wait() -> None:
    made = found(eliminations.summed())
    assert made is not None
    assert (str(made.scale), str(made.left), str(made.right)) == ("2.0", "A(i, k - 1)", "B(k - 1, j)")
    assert made.trailing == Trailing((None, None))
