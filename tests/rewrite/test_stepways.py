"""In which way steps of recurrences run, by planted predictions; compiled bands are in `test_timebands`."""

from __future__ import annotations

from typing import Any

import polymat as pm
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.rewrite.stepways import Followed, StepWays
from tests.graph.test_banded import means


def stages(pipeline: Pipeline) -> list[str]:
    return [stage.name for stage in pipeline.stages]


def test_steps_follow_each_other_where_that_is_quickest() -> None:
    def taken(steps: int, seconds: float, four: float) -> Pipeline:
        """Of steps that take 1 s one by one, and in bands of four so much each."""
        ways = StepWays(
            lambda each: 1.0 if len(each.stages) == 1 else 9.0 if len(each.stages) > 4 else 4 * four,
            lambda section, stepwise: Followed(steps, seconds),
        )
        return ways.decided(build([means()]))

    assert taken(8, 0.9, 0.1).followed == ("u",)  # bands are not tried
    assert taken(4, 0.5, 0.45).followed == ("u",)
    assert taken(8, 1.2, 0.9).followed == ("u",)  # predictions err by more
    assert taken(8, 1.3, 0.9).followed == ()
    banded = taken(4, 0.5, 0.3)
    assert banded.followed == ()
    assert "u_4" in stages(banded)


def test_one_function_runs_step_by_step_where_that_is_quicker() -> None:
    pipeline = build([means()])

    def taken(whole: float, **asked: Any) -> Pipeline:
        ways = StepWays(lambda each: float(len(each.stages)), whole=lambda _: whole, **asked)
        return ways.decided(pipeline)

    apart = taken(0.5)
    assert apart is not pipeline
    assert apart.stages[0].circle == ("u",)
    assert apart.followed == ()
    assert taken(1e6) is pipeline
    assert taken(0.5, looped={"u": pipeline.stage("u").dims}) is pipeline
    asked = taken(0.5, looped={"u": pipeline.stage("u").dims[1:]})
    assert asked.stages[0].circle == ("u",)


def test_stages_whose_loops_the_user_says_are_in_no_bands() -> None:
    pipeline = build([means()])
    dims = pipeline.stage("u").dims

    def taken(stage: str, looped: tuple[str, ...]) -> Pipeline:
        return StepWays(lambda each: 1.0, looped={stage: looped}).decided(pipeline)

    assert taken("u", dims) is pipeline
    assert taken("u", dims[1:]) is pipeline
    assert "u_8" in stages(taken("v", dims))


def test_steps_that_need_no_others_are_left_to_points() -> None:
    """And take neither bands nor each other's place, unless the nest of loops is predicted to be quicker."""
    N, T = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "T")
    x, i = pm.Vector(pm.Double, "x", [N]), pm.Variable(pm.Int, "i")

    def halved(state: Any) -> pm.Function:
        after = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "after")
        after.defn = [0.5 * state(i)]
        return after

    pipeline = build([pm.iterate(halved, x, steps=T)])
    quicker, slower = (lambda each, at=at: at if isinstance(each, Stepwise) else 1.0 for at in (0.9, 1.1))
    ways = [StepWays(lambda each: 1.0, points=points).decided(pipeline) for points in (quicker, slower, None)]
    assert [any("in bands of" in note for note in found.notes) for found in ways] == [False, True, True]
    assert all(stage.circle for stage in ways[0].stages if stage.reads_itself)
