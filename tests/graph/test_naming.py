"""Names of stages that were given none: what they are made of, or what makes them."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat.graph.build import build
from polymat.graph.naming import made_by


def test_unnamed_results_of_unnamed_ones_are_named_after_what_makes_them() -> None:
    signal = pm.Signal(pm.Double, "x", 1000)
    first = signal.fir([1.0] * 20, mode="valid").down(2)
    both = first.fir([1.0] * 30, mode="valid") + first.fir([2.0] * 30, mode="valid")
    found = [stage.name for stage in build([pm.Abs(pm.rfft(both)).named("spectrum")]).stages]
    assert {"tmp_constants", "tmp_fir", "tmp_fir_2", "tmp_fir_3", "tmp_down", "tmp_rfft"} < {*found}
    assert len({*found}) == len(found)


@pytest.mark.parametrize(
    ("formula", "made"),
    [
        ("x.fir(670 taps, 'valid').down(5)", "down"),
        ("Exp((A @ B))", "Exp"),
        ("(7239 constants)", "constants"),
        ("(A @ B)", ""),
        ("((unnamed Signal), refilled)", ""),
        ("x[1:]", ""),
        ("", ""),
    ],
)
def test_what_makes_a_result_ends_its_formula(formula: str, made: str) -> None:
    assert made_by(formula) == made
