"""How many steps follow each other at a time: no step is left out, and threads have room between them."""

from __future__ import annotations

import ctypes
from math import prod

import numpy as np
import pytest

from polymat.codegen.c.formulas import FormulaWriter
from polymat.codegen.c.render import expression, statement_text
from polymat.plan.followingsteps import ALONG_BOTH, ALONG_ROWS, Following, at_once
from polymat.product.formula import Formula, Values
from polymat.product.formulanames import names
from polymat.runtime.libraryfile import build

SMALL: Values = {"unit": 4.0, "piece": 8e3, "room": 6e5, "least": 4e5, "fewest": 2.0, "most": 32.0}


def drawn(rng: np.random.Generator) -> Values:
    """What may be asked: arrays of all sizes, and steps that are not or far behind each other."""
    values = SMALL | {"meeting": float(rng.integers(0, 20000)), "work": float(rng.integers(1, 10**7))}
    for name in ("rows", "lines"):
        values[name] = float(rng.integers(0, 4000))
    for name in ("slope", "tail", "slope_aside", "tail_aside"):
        values[name] = float(rng.integers(0, 5))
    values["row"] = values["lines"] * 16.0
    values["line"] = float(rng.integers(1, 300)) * 8.0
    values["count"] = float(rng.integers(0, 300))
    values["most_threads"] = float(rng.integers(1, 17))
    values["team"] = float(rng.integers(1, int(values["most_threads"]) + 1))
    return values


@pytest.mark.parametrize("decided", [ALONG_ROWS, ALONG_BOTH], ids=["rows", "both"])
def test_rounds_take_every_step_once(decided: Following, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(500):
        values = drawn(rng)
        count, taken = values["count"], decided.taken
        crew = decided.crew.at({**values})
        steps, rounds, width = (
            each.at({**values, "team": crew}) for each in (taken.steps, taken.rounds, taken.width)
        )
        assert 1 <= crew <= values["most_threads"]
        assert 1 <= steps <= max(SMALL["most"], 1)
        assert rounds * steps >= count
        assert (rounds - 1) * steps < max(count, 1)
        along, slope = ("rows", "slope") if decided is ALONG_ROWS else ("lines", "slope_aside")
        lag = steps * max(values[slope], 1)
        if crew > 1:
            assert crew * lag <= values[along]
        if decided is ALONG_BOTH:
            assert width >= steps * values["slope_aside"]
            assert crew == 1 or crew * width <= values["lines"]


def test_larger_arrays_have_fewer_steps_and_small_ones_none() -> None:
    def asked(rows: int, columns: int) -> Values:
        return SMALL | {
            **{"rows": float(rows), "row": 16.0 * columns, "slope": 2.0, "tail": 1.0},
            **{"count": 100.0, "most_threads": 2.0, "team": 1.0, "work": 1e6, "meeting": 1e4},
        }

    steps = [ALONG_ROWS.taken.steps.at(asked(size, size)) for size in (250, 1300, 2800)]
    assert steps == [25.0, 12.0, 4.0]
    follow = [ALONG_ROWS.follow.holds(asked(*shape)) for shape in ((100, 100), (250, 250), (9, 90000))]
    assert follow == [False, True, False]


def test_what_costs_more_than_it_is_worth_is_worth_nothing() -> None:
    values = drawn(np.random.default_rng(1)) | {"rows": 400.0, "count": 50.0, "most_threads": 2.0}
    taken = (ALONG_ROWS.taken.fronts, ALONG_ROWS.taken.rounds)
    blocks = prod(each.at({**values, "team": 2.0}) for each in taken)
    dear = {**values, "meeting": 50 * values["work"] / blocks}
    assert ALONG_ROWS.worth.at({**values, "meeting": 0.0}) == 50 * values["work"]
    assert ALONG_ROWS.worth.at({**dear, "meeting": 2 * dear["meeting"]}) == 0.0


def test_generated_code_decides_alike(seed: int) -> None:
    formulas: list[Formula] = []
    for decided in (ALONG_ROWS, ALONG_BOTH):
        taken = decided.taken
        formulas += [decided.follow, decided.crew, decided.worth]
        formulas += [taken.steps, taken.rounds, taken.width, taken.fronts, taken.sides, at_once]
    given = names(formulas)
    texts = []
    for at, formula in enumerate(formulas):
        writer = FormulaWriter(prefix="_pm_")
        lines = [statement_text(each, "") for each in writer.declared([formula])]
        lines.append(f"return {expression(writer.expr(formula))};")
        texts.append(f"    if (which == {at}) {{ {' '.join(lines)} }}\n")
    arguments = ", ".join(f"double {name}" for name in given)
    text = f"double ask(int which, {arguments})\n{{\n{''.join(texts)}    return -1;\n}}\n"
    built = build(text)
    ask = ctypes.CDLL(str(built.path)).ask
    built.release()
    ask.argtypes, ask.restype = (ctypes.c_int, *[ctypes.c_double] * len(given)), ctypes.c_double
    rng = np.random.default_rng(seed)
    for _ in range(200):
        values = drawn(rng)
        for at, formula in enumerate(formulas):
            found = ask(at, *(values[name] for name in given))
            assert found == pytest.approx(float(formula.at({**values})), rel=1e-12), (at, values)
