"""The list of passes: each runs alone, each that can be left out leaves the numbers as they are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Double,
    Int,
    LangError,
    Matrix,
    Options,
    Parameter,
    Signal,
    Variable,
    Vector,
    recurrencesteps,
)
from polymat.checked import check
from polymat.codegen.program import Program
from polymat.compilerpass import Pass
from polymat.driver import LEVELS, levels, request_for
from polymat.errors import InternalError
from polymat.graph.pipeline import Pipeline
from polymat.options import SKIPPABLE
from polymat.passes import PASSES, levels_of, position
from polymat.request import Request
from polymat.steps import Job, Level
from tests import eliminations
from tests.decide import recurrences, test_lanedrows, test_lonepoints, test_segmentedsteps, test_skewedsteps
from tests.rewrite import test_sumblocks

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i = Variable(Int, "i")
A, B, C = (Matrix(Double, name, [N, N]) for name in "ABC")
x = Vector(Double, "x", [N])
ORDER = [
    "built",
    "turn",
    "pitch",
    "bands",
    "slices",
    "sections",
    "sums",
    "linear",
    "names",
    "terms",
    "share",
    "extremes",
    "samples",
    "products",
    "cascades",
    "blocks",
    "phases",
]
ORDER += ["transforms", "inline", "inlined_terms", "tables", "abreast", "join", "convert", "parts", "borders"]
ORDER += ["positions", "inlined_turns", "inlined_planes", "waits"]
ORDER += [
    "fusion",
    "tilesize",
    "folds",
    "orders",
    "planes",
    "points",
    "skews",
    "segments",
    "lanes",
    "codegen",
]
ORDER += ["source", "runtime"]


def several() -> pm.Function:
    """A product of three arrays, sums that leave terms out, two stages alike, point-wise ones."""
    i, k = Variable(Int, "i"), Variable(Int, "k")
    whole = pm.Interval(Int, 0, N - 1)
    low = pm.Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "low")
    low.defn = [pm.Reduce(low(i), pm.Select(pm.Condition(k, "<=", i), A(i, k), 0.0), pm.Op.Sum)]
    t, u = (x + 1).named("t"), (x + 1).named("u")
    return (A @ B @ C @ x + low + pm.elementwise_mul(t, u)).named("y")


def arrays(size: int = 9) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return {**{name: rng.random((size, size)) for name in "ABC"}, "x": rng.random(size)}


def test_the_list_is_in_order_and_every_pass_takes_what_the_one_before_gives() -> None:
    assert [each.name for each in PASSES] == ORDER
    for before, after in pairwise(PASSES):
        assert before.gives is after.takes, after.name
    assert all(each.why and "\n" not in each.why for each in PASSES)
    assert LEVELS == ("built", "graph", "fusion", "tilesize", "codegen", "source", "runtime")


def test_those_that_can_be_left_out_are_those_that_options_name() -> None:
    assert {each.name for each in PASSES if each.is_skippable} == {*SKIPPABLE}


def test_levels_come_under_the_names_of_passes_and_of_levels() -> None:
    request = request_for(several(), options=Options(blas="never"))
    names = []
    for name, level in levels(request):
        names.append(name)
        if name == "graph":
            assert isinstance(level, Pipeline)
        if name == "codegen":
            break
    graph, end = ORDER.index("waits") + 1, ORDER.index("codegen") + 1
    assert names == [*ORDER[:graph], "graph", *ORDER[graph:end]]


def test_passes_of_steps_are_those_that_are_about_recurrences() -> None:
    """A search leaves them out of programs that take steps."""
    about = [each.name for each in PASSES if each.run.__module__ == recurrencesteps.__name__]
    assert about == [each.name for each in PASSES if each.of_steps]


@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.name)
def test_every_pass_runs_alone_on_what_the_passes_before_it_left(each: Pass) -> None:
    job = Job(request_for(several(), name="y"))
    before = [level for _, level in levels_of(job, PASSES[: position(each.name)])]
    alone = Job(request_for(several(), name="y"))  # a job that knows nothing of what was decided
    taken = before[-1] if before else alone.request
    given = each.apply(taken, alone)
    check(each.name, given)
    assert isinstance(given, each.gives)
    if each.takes is not each.gives:
        assert str(given) != str(taken)


def several_orders() -> Request:
    """A product of three arrays whose sizes say at the call which order is the quickest."""
    P, Q, R, S = (Parameter(Int, name) for name in "PQRS")
    X, Y, Z = (Matrix(Double, *each) for each in (("X", [P, Q]), ("Y", [Q, R]), ("Z", [R, S])))
    return request_for((X @ Y @ Z).named("y"))


def running_sums() -> Request:
    """A recurrence along the second dimension of which the last elements alone are read."""
    return request_for(recurrences.sums_along_rows().outputs)


def means_of_neighbours() -> Request:
    """Steps of two states, each made in place, of more than a cache holds."""
    sizes = {test_skewedsteps.N: 600, test_skewedsteps.M: 600, test_skewedsteps.T: 100}
    return request_for(test_skewedsteps.means(), name="y", estimates=sizes)


def means_along_a_line() -> Request:
    """Steps of two states along a line that a cache holds."""
    sizes = test_segmentedsteps.SIZES
    return request_for(test_segmentedsteps.means(), name="y", estimates=sizes, options=Options(threads=1))


def chain_of_matrices() -> Request:
    """A table of least costs, each of two earlier ones, that is larger than a few blocks."""
    return request_for(test_sumblocks.chain_order(), name="y", estimates={test_sumblocks.N: 2000})


def rows_that_are_exchanged() -> Request:
    """An elimination with row exchanges that a cache does not hold."""
    output, inputs = eliminations.solving()
    sizes = {eliminations.R: 400, eliminations.M: 400}
    return request_for(output, inputs=inputs, name="y", estimates=sizes)


def points_by_themselves() -> Request:
    """Steps of two states whose points need no others."""
    outputs, inputs = test_lonepoints.iterated(test_lonepoints.grows, pm.Long)
    return request_for(outputs, inputs=inputs)


def rows_of_a_band() -> Request:
    """A factor in a band, row by row."""
    return request_for(test_lanedrows.banded(), name="y", estimates=test_lanedrows.SIZES)


# What a pass behind the rewrites, each of which has a test of its own, does something to.
CHANGED = {
    "folds": running_sums,
    "lanes": rows_of_a_band,
    "linear": rows_that_are_exchanged,
    "orders": several_orders,
    "planes": means_of_neighbours,
    "segments": means_along_a_line,
    "points": points_by_themselves,
    "skews": means_of_neighbours,
    "sums": chain_of_matrices,
    "waits": means_of_neighbours,
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_pass_changes_alone_what_it_is_for(name: str) -> None:
    request, (each,) = CHANGED[name](), PASSES[position(name) : position(name) + 1]
    *_, (_, taken) = levels_of(Job(request), PASSES[: position(name)])
    given = each.apply(taken, Job(request))
    check(name, given)
    assert type(given) is type(taken)
    assert str(given) != str(taken)


@pytest.mark.parametrize("name", SKIPPABLE)
def test_the_numbers_are_right_without_it(name: str) -> None:
    found = pm.compile(several(), name="y", options=Options(skip=(name,), threads=1))
    given = arrays()
    np.testing.assert_allclose(found(**given), found.reference(**given), rtol=1e-12)


@pytest.mark.parametrize("name", ["cascades", "blocks", "phases", "transforms", "samples"])
def test_signals_are_right_without_it(name: str) -> None:
    s = Signal(Double, "s", N)
    y = s.fir(pm.firwin(33, 0.2), mode="causal").fir(pm.firwin(9, 0.4), mode="causal").down(2)
    found = pm.compile(y.named("y"), estimates={N: 4096}, options=Options(skip=(name,), threads=1))
    signal = np.random.default_rng(0).random(400)
    np.testing.assert_allclose(found(signal), found.reference(signal), rtol=1e-9, atol=1e-12)


def test_a_skipped_pass_changes_nothing_and_others_do() -> None:
    def after(name: str, skip: tuple[str, ...]) -> tuple[str, str]:
        found = dict(_until(name, Options(skip=skip)))
        return str(found[ORDER[ORDER.index(name) - 1]]), str(found[name])

    for name in ("terms", "share", "products", "inline"):
        before, changed = after(name, ())
        assert before != changed
        before, same = after(name, (name,))
        assert before == same


def _until(name: str, options: Options) -> list[tuple[str, Level]]:
    found = []
    for each, level in levels(request_for(several(), name="y", options=options)):
        found.append((each, level))
        if each == name:
            break
    return found


def test_without_fusion_every_stage_is_a_group() -> None:
    (*_, (_, fused)) = _until("fusion", Options())
    (*_, (_, apart)) = _until("fusion", Options(skip=("fusion",)))
    assert len(apart.groups) == len(apart.pipeline.stages)  # type: ignore[union-attr]
    assert len(fused.groups) < len(apart.groups)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["built", "codegen", "names", "shear"])
def test_only_what_can_be_left_out_may_be_skipped(name: str) -> None:
    with pytest.raises(LangError) as caught:
        Options(skip=("share", name))
    assert f"Options.skip names '{name}', which is no pass that can be left out" in str(caught.value)
    assert "hint: those that can are terms, share, extremes, samples, products, " in str(caught.value)


def test_an_unsound_level_is_an_error_that_names_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_VERIFY", "1")
    for alike in ("_outline", "stage_key"):
        monkeypatch.setattr(f"polymat.graph.simplify.{alike}", lambda stage: "the same")
    with pytest.raises(InternalError, match=r"after the pass share: "):
        pm.compile(several(), name="y")


def test_nothing_is_checked_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("polymat.checked.check", lambda name, _: asked.append(name))
    monkeypatch.setenv("POLYMAT_VERIFY", "0")
    _until("codegen", Options())
    assert asked == []
    monkeypatch.setenv("POLYMAT_VERIFY", "1")
    (*_, (_, program)) = _until("codegen", Options())
    assert isinstance(program, Program)
    assert {"built", "terms", "share", "products", "inline", "fusion", "tilesize", "codegen"} <= {*asked}
    assert "turn" not in asked  # which changed nothing
