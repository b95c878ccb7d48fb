"""Plans that no loops of a scheme say print which way of ours it is, and are taken back by that."""

from __future__ import annotations

import re
from typing import Any

import pytest

import polymat as pm
from polymat import OptionError, Options
from polymat.codegen.program import Program
from polymat.options import DEFAULTS
from polymat.plan.planscheme import schemes_of
from polymat.plan.schedule import Schedule
from polymat.reporting import told
from tests.decide.eliminations import unscaled_lu
from tests.fixed import WIDE, compiled_levels, own_c

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
x, A = pm.Signal(pm.Double, "x", [N]), pm.Matrix(pm.Double, "A", [M, N])
TAPS = pm.Vector(pm.Double, "h", [16])
FORWARD, BACK = (pm.Vector(pm.Double, name, [3]) for name in ("b", "a"))
PROGRAMS: dict[str, tuple[Any, dict[Any, int]]] = {
    "filter": (x.fir(TAPS).named("y"), {N: 4096}),
    "recursive": (pm.lfilter(FORWARD, BACK, x).named("y"), {N: 4096}),
    "blocked_steps": (unscaled_lu(), {}),
    "blocks": (A.argmax(axis=1).named("y"), {M: 300, N: 400}),
    "rows": (A.argmax(axis=0).named("y"), {M: 300, N: 400}),
}


def written(
    output: Any, estimates: dict[Any, int], options: Options = DEFAULTS
) -> tuple[dict[str, str], str]:
    """The schemes of a program, and its C without comments, which say what a scheme has decided."""
    found = compiled_levels(output, machine=WIDE, estimates=estimates, options=options)
    schedule, program = told(found["tilesize"], found["lanes"]), found["codegen"]
    assert isinstance(program, Program)
    parts = [schedule] if isinstance(schedule, Schedule) else [*schedule.flat()]  # type: ignore[union-attr]
    schemes = [schemes_of(plan) for part in parts for plan in part.plans]
    text = re.sub(r"/\*.*?\*/", "", own_c(program), flags=re.DOTALL)
    return {name: str(scheme) for each in schemes for name, scheme in each.items()}, text


@pytest.mark.parametrize("way", PROGRAMS)
def test_ways_of_ours_are_called_and_taken_back(way: str) -> None:
    schemes, text = written(*PROGRAMS[way])
    called = {name: scheme for name, scheme in schemes.items() if f"Call({way})" in scheme}
    assert len(called) == 1
    assert written(*PROGRAMS[way], Options(scheme=schemes)) == (schemes, text)
    assert written(*PROGRAMS[way], Options(scheme=called))[1] == text


def test_a_way_that_a_stage_does_not_have_is_refused() -> None:
    output, estimates = PROGRAMS["filter"]
    with pytest.raises(OptionError, match=r"\['y'\] does not fit: y is computed by filter"):
        written(output, estimates, Options(scheme={"y": "[Call(recursive)]"}))
    with pytest.raises(OptionError, match=r"\['y'\] does not fit: y is no call of a library"):
        written((A * 2.0).named("y"), {}, Options(scheme={"y": "[Call(filter)]"}))


def test_a_filter_whose_way_is_asked_for_has_it_whatever_is_predicted() -> None:
    """Few taps are quicker in loops, by prediction."""
    short = x.fir(pm.Vector(pm.Double, "h", [16])).named("y")
    (scheme,) = {*written(short, {N: 4096})[0].values()}
    assert written(short, {N: 16}, Options(scheme={"y": scheme}))[0] == {"y": scheme}
