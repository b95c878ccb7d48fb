"""Linear steps in blocks: which steps are linear, and that blocks compute what steps one by one do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Case,
    Clamp,
    Complex,
    Condition,
    Double,
    Float,
    Function,
    Options,
    Select,
)
from polymat.rewrite import stepproducts
from tests.eliminations import (
    COLUMNS,
    PROGRAMS,
    SIZES,
    Described,
    M,
    R,
    found_in,
    i,
    in_blocks,
    interpreted,
    j,
    made,
    solving,
    start,
    steps_of,
)
from tests.tolerance import assert_close


@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_of_linear_steps_are_steps(name: str) -> None:
    for every in (1, 3, 5):
        level, blocked = in_blocks(PROGRAMS[name](), every)
        for rows, more in SIZES[every // 2 :: 3]:
            given = start(rows, more, Double)
            one, other = interpreted(level, given), interpreted(blocked, given)
            scale = max(1.0, float(np.max(np.abs(one), initial=0.0)))
            assert_close(other, one, roundings=64 * (rows + 1), magnitude=scale * 64)


def as_it_was(system: Any) -> Any:
    return system(i, j)


def other_step(value: Callable[..., Any], finished: Callable[..., Any] = as_it_was) -> Described:
    """A step that reads the row that it is about as a function of its own; value: of that, and of others.

    finished: what columns in front become.
    """

    def step(system: Any, k: Any) -> Any:
        head = Function(([j], [COLUMNS]), Double, "head")
        head.defn = [system(k - 1, j)]
        early, late = (Condition(j, op, k) for op in ("<", ">="))
        return made(
            [Case(early, finished(system)), Case(late, value(system, head(j), system(i, k - 1)))], Double
        )

    return steps_of(step)


def _more_rows(system: Any, k: Any) -> Any:
    early, late = (Condition(j, op, k) for op in ("<", ">="))
    above, below = (Condition(i, op, k) for op in ("<", ">="))
    head = Function(([j], [COLUMNS]), Double, "head")
    head.defn = [system(k - 1, j)]
    return made(
        [
            Case(early, system(i, j)),
            Case(late & below, system(i, j)),
            Case(late & above, system(i, j) - system(i, k - 1) * head(j)),
        ],
        Double,
    )


OTHERS = {
    "adds a row or nothing": lambda: other_step(
        lambda w, head, mine: w(i, j) - Select(Condition(mine, "<", 0.5), 0.0, mine * head)
    ),
    "adds to ever more rows": lambda: steps_of(_more_rows),
    "squared": lambda: other_step(lambda w, head, mine: w(i, j) - mine * head * head),
    "two crossing rows": lambda: other_step(lambda w, head, mine: w(i, j) - mine * head - 0.5 * w(0, j)),
    "knows its column": lambda: other_step(lambda w, head, mine: w(i, j) - mine * head * (j + 1)),
    "adds a number": lambda: other_step(lambda w, head, mine: w(i, j) - mine * (head + 1.0)),
    "changes finished columns": lambda: other_step(
        lambda w, head, mine: w(i, j) - mine * head, lambda w: 0.5 * w(i, j)
    ),
    "moves some finished columns": lambda: other_step(
        lambda w, head, mine: w(i, j) - mine * head,
        lambda w: Select(Condition(j, "<", 3), w(i, j), w(R - 1 - i, j)),
    ),
    "moves finished columns by their elements": lambda: other_step(
        lambda w, head, mine: w(i, j) - mine * head,
        lambda w: Select(Condition(w(i, j), "<", 0.0), w(i, j), w(R - 1 - i, j)),
    ),
    "a row for each column": lambda: other_step(
        lambda w, head, mine: w(Clamp(R - 1 - j, 0, R - 1), j) - mine * head
    ),
}


def test_a_step_like_these_is_a_linear_one() -> None:
    assert found_in(other_step(lambda w, head, mine: w(i, j) - mine * head)) is not None


@pytest.mark.parametrize("name", OTHERS)
def test_other_steps_are_no_linear_ones(name: str) -> None:
    assert found_in(OTHERS[name]()) is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("solving", kind) for kind in (Double, Float, Complex)),
        *(("factoring", kind) for kind in (Double, Complex)),
        *((name, Double) for name in ("without moving finished columns", "unmoved", "mixing", "added")),
    ],
    ids=str,
)
def test_compiled_blocks_are_steps(name: str, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepproducts, "EVERY", 3)
    monkeypatch.setattr(stepproducts, "CLEARLY", np.inf)
    output, inputs = PROGRAMS[name](kind)
    run = pm.compile(output, inputs=inputs, options=Options(threads=2, parallel_threshold=0))
    assert "in blocks of 3 steps" in str(run.explain())
    for rows, more in SIZES:
        given = start(rows, more, kind)
        right = run.reference(given)
        scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
        assert_close(run(given), right, roundings=64 * (rows + 1), magnitude=scale * 64)


def test_a_large_system_is_solved_in_blocks_and_may_be_solved_step_by_step() -> None:
    found = {}
    for skip in ((), ("linear",)):
        output, inputs = solving()
        run = pm.compile(
            output, inputs=inputs, estimates={R: 300, M: 200}, options=Options(skip=skip, threads=1)
        )
        assert ("in blocks of" in str(run.explain())) == (skip == ())
        found[skip] = run(start(67, 9, Double))[:, 67:]
    system = start(67, 9, Double)
    right = np.linalg.solve(system[:, :67], system[:, 67:])
    for each in found.values():
        np.testing.assert_allclose(each, right, rtol=1e-9)


def test_small_systems_and_exact_orders_stay_step_by_step() -> None:
    for sizes, options in (({R: 8, M: 2}, Options()), ({R: 300, M: 200}, Options(reassociate=False))):
        output, inputs = solving()
        run = pm.compile(output, inputs=inputs, estimates=sizes, options=options)
        assert "in blocks of" not in str(run.explain())
