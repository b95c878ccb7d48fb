"""When recurrences run slice by slice, what goes into a slice, and what their code computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Options, Reduce, Reduction
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.sections import in_sections
from polymat.graph.slices import slices_of
from polymat.graph.stepwise import Stepwise
from polymat.graph.verifypipeline import verify
from polymat.machine.known import ZEN3
from polymat.rewrite import sliced
from polymat.rewrite.sliced import Prices, in_slices

T, Z, N = (pm.Parameter(Int, name) for name in "TZN")
t, z, i, j, k = (pm.Variable(Int, name) for name in "tzijk")
TIMES, SLICES, POINTS = (Interval(Int, 0, end) for end in (T, Z - 1, N - 1))
x = pm.Matrix(Double, "x", [Z, N])
SIZES = {"T": 10, "Z": 6, "N": 100}


def over_time(read: Any) -> Function:
    """Start as x, then as what reads the step before."""
    u = Function(([t, z, i], [TIMES, SLICES, POINTS]), Double, "u")
    u.defn = [Case(Condition(t, "==", 0), x(z, i)), Case(Condition(t, ">=", 1), read(u))]
    return u


def last_of(u: Function) -> Function:
    last = Function(([z, i], [SLICES, POINTS]), Double, "last")
    last.defn = [u(T, z, i)]
    return last


def built(*outputs: Any) -> Pipeline:
    return verify(build(list(outputs), constraints=[Condition(N, ">=", 1)]))


def groups(pipeline: Pipeline) -> list[dict[str, int]]:
    return [dict(group) for group in slices_of(pipeline, ("u",))]


def means(u: Any) -> Any:
    return (u(t - 1, z, i) + u(t - 1, z, N - 1 - i)) / 2


def test_slices_are_along_what_no_read_crosses() -> None:
    assert groups(built(last_of(over_time(means)))) == [{"u": 1, "last": 0}]
    crossing = over_time(lambda u: u(t - 1, Z - 1 - z, i))
    turned = Function(([i, z], [POINTS, SLICES]), Double, "turned")
    turned.defn = [crossing(T, z, i)]
    assert groups(built(turned)) == [{"u": 2, "turned": 0}]
    assert groups(built(last_of(crossing))) == []  # its slices are no planes of the result
    assert groups(built(last_of(over_time(lambda u: u(t - 1, Z - 1 - z, N - 1 - i))))) == []


def test_a_read_that_differs_in_its_form_alone_is_in_its_slice() -> None:
    """Where z is 0, the slice that is read is 0 as well: isl says so."""
    u = Function(([t, z, i], [TIMES, SLICES, POINTS]), Double, "u")
    later = Condition(t, ">=", 1)
    u.defn = [
        Case(Condition(t, "==", 0), x(z, i)),
        Case(later & Condition(z, "==", 0), u(t - 1, 2 * z, N - 1 - i)),
        Case(later & Condition(z, ">=", 1), u(t - 1, z, N - 1 - i)),
    ]
    assert groups(built(last_of(u))) == [{"u": 1, "last": 0}]


def test_recurrences_of_which_all_steps_are_read_stay() -> None:
    u = over_time(means)
    total = Reduction(([z], [SLICES]), ([z, t], [SLICES, TIMES]), Double, "total")
    total.defn = [Reduce(total(z), u(t, z, N - 1), Op.Sum)]
    assert groups(built(u)) == []
    assert groups(built(total)) == [{"u": 1, "total": 0}]
    over_slices = Reduction(([t], [TIMES]), ([t, z], [TIMES, SLICES]), Double, "over_slices")
    over_slices.defn = [Reduce(over_slices(t), u(t, z, N - 1), Op.Sum)]
    assert groups(built(over_slices)) == []


def test_what_needs_other_slices_in_between_stays_outside() -> None:
    last = last_of(over_time(means))
    crossed = Function(([z, i], [SLICES, POINTS]), Double, "crossed")
    crossed.defn = [last(Z - 1 - z, i)]
    both = Function(([z, i], [SLICES, POINTS]), Double, "both")
    both.defn = [last(z, i) + crossed(z, i)]
    assert groups(built(both)) == [{"u": 1, "last": 0}]


def priced(pipeline: Pipeline, predict: Any, threads: int = 1) -> Pipeline:
    return in_slices(pipeline, Prices(predict, ZEN3, Options(threads=threads)), SIZES)


def test_slices_are_taken_where_they_are_clearly_quicker() -> None:
    pipeline = built(last_of(over_time(means)))
    taken = priced(pipeline, lambda each: 1e-2 if each.alone else 1.0)
    assert taken.sliced == ((("u", 1), ("last", 0)),)
    assert taken.notes[-1] == "u slice by slice along z: 0.06 s, 1 s step by step"
    assert priced(pipeline, lambda each: 0.15 if each.alone else 1.0) is pipeline
    two = priced(pipeline, lambda each: 0.15 if each.alone else 1.0, threads=2)
    assert two.notes[-1] == "u slice by slice along z: 0.45 s, 1 s step by step"


def test_slices_that_leave_a_cache_share_the_memory() -> None:
    """Threads whose slices come from memory are no quicker than one where that gives them no more."""
    pipeline = built(last_of(over_time(means)))
    machine = replace(ZEN3, memory_bandwidth_total=ZEN3.memory_bandwidth)

    def note(points: int) -> str:
        prices = Prices(lambda each: 0.1 if each.alone else 1.0, machine, Options(threads=2))
        return in_slices(pipeline, prices, {**SIZES, "N": points}).notes[-1]

    assert note(100).endswith("0.3 s, 1 s step by step")
    assert note(10_000_000).endswith("0.6 s, 1 s step by step")


def test_a_slice_keeps_its_own_states() -> None:
    u = Function(([t, z, i], [TIMES, SLICES, POINTS]), Double, "u")
    v = Function(([t, z, i], [TIMES, SLICES, POINTS]), Double, "v")
    for one, other in ((u, v), (v, u)):
        later = Case(Condition(t, ">=", 1), other(t - 1, z, N - 1 - i) / 2)
        one.defn = [Case(Condition(t, "==", 0), x(z, i)), later]
    pipeline = built(last_of(u))
    (group,) = slices_of(pipeline, ("u", "v"))
    stepwise = in_sections(replace(pipeline, sliced=(group,)))
    assert isinstance(stepwise, Stepwise)
    assert {held.name for held in stepwise.held} == {"x", "last"}
    (section,) = stepwise.sections
    assert str(section.inputs[0]) == "x at z"
    assert isinstance(section.level, Stepwise)
    held = {each.name: each for each in section.level.held}
    assert [str(extent) for extent in held["u"].extents] == ["N"]
    assert str(held["u"].planes) == "2"
    assert all(each.alone for each in section.level.flat())


def eliminated(dtype: Any = Double) -> Function:
    """LU of many matrices, right-looking."""
    A = pm.Image(dtype, "A", [Z, N, N])
    w = Function(([k, z, i, j], [Interval(Int, 0, N), SLICES, POINTS, POINTS]), dtype, "w")
    first, later = Condition(k, "==", 0), Condition(k, ">=", 1)
    below, p = Condition(i, ">=", k), k - 1
    done = Condition(i, "<=", p) | (below & Condition(j, "<=", k - 2))
    column, rest = below & Condition(j, "==", p), below & Condition(j, ">=", k)
    w.defn = [
        Case(first, A(z, i, j)),
        Case(later & done, w(p, z, i, j)),
        Case(later & column, w(p, z, i, j) / w(p, z, p, p)),
        Case(later & rest, w(p, z, i, j) - w(k, z, i, p) * w(p, z, p, j)),
    ]
    out = Function(([z, i, j], [SLICES, POINTS, POINTS]), dtype, "out")
    out.defn = [w(N, z, i, j)]
    return out


@pytest.mark.parametrize("threads", [1, 2])
def test_eliminations_of_many_matrices(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliced, "CLEARLY", 1e9)
    options = Options(threads=threads, parallel_threshold=0)
    run = pm.compile(eliminated(), name="many", options=options)
    assert "slice by slice along z" in str(run.explain())
    rng = np.random.default_rng(threads)
    for count in (0, 1, 2, 3, 7):
        for rows in (1, 2, 9, 33):
            a = rng.random((count, rows, rows)) + rows * np.eye(rows)
            np.testing.assert_allclose(run(a), run.reference(a), rtol=1e-11, atol=1e-11)


def counted_labels() -> Function:
    """Two states over time that add, at each step, what labels say."""
    label = pm.Matrix(Int, "label", [Z, N], values=(0, 3))
    u, v = (Function(([t, z, i], [TIMES, SLICES, POINTS]), Double, name) for name in "uv")
    for one, other in ((u, v), (v, u)):
        later = Case(Condition(t, ">=", 1), other(t - 1, z, N - 1 - i) / 2 + label(z, i))
        one.defn = [Case(Condition(t, "==", 0), x(z, i)), later]
    return last_of(u)


def test_a_slice_knows_the_limits_of_its_inputs() -> None:
    pipeline = built(counted_labels())
    (group,) = slices_of(pipeline, ("u", "v"))
    stepwise = in_sections(replace(pipeline, sliced=(group,)))
    assert isinstance(stepwise, Stepwise)
    (section,) = stepwise.sections
    views = [str(view) for view in section.inputs]
    assert isinstance(section.level, Stepwise)
    label = section.level.whole.inputs[views.index("label at z")]
    assert label.values is not None
    assert [str(limit) for limit in label.values] == ["0", "3"]
    assert label.checked, "the call has looked at all of them"


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_of_inputs_whose_elements_have_limits(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliced, "CLEARLY", 1e9)
    options = Options(threads=threads, parallel_threshold=0, skip=("bands",))
    run = pm.compile(counted_labels(), name="labels", options=options)
    assert "slice by slice along z" in str(run.explain())
    rng = np.random.default_rng(threads)
    for count, points in ((0, 3), (1, 1), (2, 7), (5, 40)):
        labels = rng.integers(0, 4, (count, points), dtype=np.int32)
        given: dict[str, Any] = {"label": labels, "x": rng.standard_normal((count, points)), "T": 3}
        np.testing.assert_allclose(run(**given), run.reference(**given), rtol=1e-12)
    labels[-1, -1] = 4
    with pytest.raises(pm.ArgumentError, match="label"):
        run(**given)
