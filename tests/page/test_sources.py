"""Which lines and which C belong to a group."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat.page.sources import group_c, put_into, user_lines
from tests.page.pages import subject_of


def test_stages_without_arrays_belong_to_their_readers() -> None:
    N = pm.Parameter(pm.Int, "N")
    x = pm.Vector(pm.Double, "x", [N])
    i = pm.Variable(pm.Int, "i")
    every = pm.Interval(pm.Int, 0, N - 1)
    one = pm.Function(([i], [every]), pm.Double, "one")
    one.defn = [x(i) + 1]
    two = pm.Function(([i], [every]), pm.Double, "two")
    two.defn = [2 * one(i)]
    three = pm.Function(([i], [every]), pm.Double, "three")
    three.defn = [pm.Exp(x(i))]
    subject = subject_of([two, three])
    pipeline = subject.schedule.grouping.pipeline
    kept = [stage.name for stage in pipeline.stages]
    assert put_into(subject.built, kept, ["two"]) == ("one",)
    assert put_into(subject.built, kept, ["three"]) == ()
    assert put_into(subject.built, [*kept, "one"], ["two"]) == ()
    lines = user_lines((subject.built, pipeline), ("one", "two"))
    assert [line for _, line in lines if "defn" in line] == [
        "one.defn = [x(i) + 1]",
        "two.defn = [2 * one(i)]",
    ]
    assert all(place.startswith("test_sources.py:") for place, _ in lines)


def test_each_function_belongs_to_one_group() -> None:
    N = pm.Parameter(pm.Int, "N")
    A, B = (pm.Matrix(pm.Double, name, [N, N]) for name in "AB")
    subject = subject_of(((A @ B) @ (B @ A)).named("D"), inputs=[A, B], options=pm.Options(fuse=False))
    texts = [group_c(subject.program, number) for number in range(len(subject.schedule.plans))]
    assert len(texts) == 3
    assert all(text.count("static void _pm_nest_") == 1 for text in texts)
    assert len(set(texts)) == 3
    assert group_c(subject.program, 3) == ""


def test_a_page_has_room_for_so_much_c(monkeypatch: pytest.MonkeyPatch) -> None:
    N = pm.Parameter(pm.Int, "N")
    A = pm.Matrix(pm.Double, "A", [N, N])
    program = subject_of((A @ A).named("B")).program
    whole = group_c(program, 0)
    monkeypatch.setattr("polymat.page.sources.ALL_LETTERS", 200)
    shown, told = group_c(program, 0).rstrip("\n").rsplit("\n", 1)
    assert whole.startswith(shown)
    assert len(shown) <= 200
    assert told == f"/* and {len(whole) - len(shown)} letters more: see .source */"
