"""Random eliminations in blocks of steps: what the interpreter makes of them step by step."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Clamp, Complex, Condition, Double, Float, Function, Select
from polymat.rewrite import stepproducts
from tests.eliminations import (
    COLUMNS,
    PROGRAMS,
    ArrayOf,
    Described,
    R,
    i,
    in_blocks,
    interpreted,
    j,
    made,
    pivot_of,
    start,
    steps_of,
)
from tests.tolerance import assert_close

KINDS = (Double, Float, Complex)
BLOCKS = (1, 3, 7)


def elimination(rng: random.Random, kind: Any) -> Described:
    """Steps that exchange rows or do not, and take multiples of one from those below, or from all others.

    The row of the pivot is divided by it first or stays as it is, finished columns keep zeros, multiples, or
    what they were, and rows may be scaled together beside that.
    """
    exchanges, all_rows, divided, adds = (rng.random() < 0.5 for _ in range(4))
    finished = rng.choice(("kept", "multiples", "zeros"))

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        pivot = pivot_of(system, column, kind) if exchanges else None
        chosen = column if pivot is None else Clamp(pivot(), column, R - 1)

        def moved(at: Any) -> Any:
            if pivot is None:
                return system(i, at)
            return Select(Condition(i, "==", pivot()), system(column, at), system(i, at))

        head = Function(([j], [COLUMNS]), kind, "head")
        head.defn = [system(chosen, j) / system(chosen, column) if divided else system(chosen, j)]
        multiple = moved(column) if divided else moved(column) / system(chosen, column)
        changed = -multiple * head(j) + moved(j) if adds else moved(j) - multiple * head(j)
        below, own, above = (Condition(i, op, column) for op in (">", "==", "<"))
        late, here, early = (Condition(j, op, column) for op in (">", "==", "<"))
        left = {"kept": moved(column), "multiples": multiple, "zeros": 0 * multiple}[finished]
        return made(
            [
                Case(early, system(i, j)),
                Case((here | late) & own, head(j)),
                Case(here & below, left),
                Case(late & below, changed),
                Case(here & above, left if all_rows else system(i, j)),
                Case(late & above, changed if all_rows else system(i, j)),
            ],
            kind,
        )

    return steps_of(step, kind)


def sizes(rng: random.Random, every: int) -> list[tuple[int, int]]:
    """Rows and further columns: none, one, primes, and what is left of blocks."""
    rows = [0, 1, 2, every - 1, every, every + 1, 2 * every + rng.choice((-1, 0, 1)), rng.choice((5, 11, 13))]
    return [(count, rng.choice((0, 1, 2, 5))) for count in dict.fromkeys(rows) if count >= 0]


def regular(rows: int, more: int, kind: Any) -> ArrayOf:
    """A matrix that is eliminated without exchanges as well, and does not grow much."""
    system = start(rows, more, kind)
    system[:, :rows] += 2 * max(rows, 1) * np.eye(rows, dtype=system.dtype)
    return system


def assert_alike(found: ArrayOf, right: ArrayOf, rows: int) -> None:
    magnitude = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    assert_close(found, right, roundings=64 * (rows + 1), magnitude=magnitude)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("seed", range(12))
def test_random_eliminations_in_blocks(seed: int) -> None:
    rng = random.Random(seed)
    kind, every = KINDS[seed % 3], BLOCKS[seed // 3 % 3]
    level, blocked = in_blocks(elimination(rng, kind), every)
    for rows, more in sizes(rng, every):
        given = regular(rows, more, kind)
        assert_alike(interpreted(blocked, given), interpreted(level, given), rows)


@pytest.mark.parametrize("seed", [1, 5])
def test_random_eliminations_compiled_in_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepproducts, "EVERY", 5)
    monkeypatch.setattr(stepproducts, "CLEARLY", np.inf)
    found = []
    for skip in ((), ("linear",)):
        output, inputs = elimination(random.Random(seed), KINDS[seed % 3])
        run = pm.compile(output, inputs=inputs, options=pm.Options(skip=skip, threads=1))
        assert ("in blocks of 5 steps" in str(run.explain())) == (not skip)
        found.append(run)
    for rows, more in sizes(random.Random(seed), 5):
        given = regular(rows, more, KINDS[seed % 3])
        right = found[0].reference(given)
        for run in found:
            assert_alike(run(given), right, rows)


@pytest.mark.parametrize("rows", [1, 2, 7, 13])
def test_the_diagonal_of_factors_is_the_determinant(rows: int) -> None:
    _, blocked = in_blocks(PROGRAMS["factoring"](), 3)
    given = start(rows, 1, Double)
    found, right = np.prod(np.diag(interpreted(blocked, given)[:, :rows])), np.linalg.det(given[:, :rows])
    np.testing.assert_allclose(abs(found), abs(right), rtol=1e-10)


@pytest.mark.parametrize("more", [1, 2, 5])
def test_solutions_for_several_right_hand_sides(more: int) -> None:
    _, blocked = in_blocks(PROGRAMS["solving"](), 3)
    given = start(11, more, Double)
    right = np.linalg.solve(given[:, :11], given[:, 11:])
    np.testing.assert_allclose(interpreted(blocked, given)[:, 11:], right, rtol=1e-9)
