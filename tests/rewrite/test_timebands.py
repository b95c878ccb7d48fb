"""When recurrences run in bands, by planted predictions, and what their code computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat import Options
from polymat.decide.unused import check_effects
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.machine.known import SAPPHIRE_RAPIDS
from polymat.rewrite import timebands
from polymat.rewrite.stepways import StepWays
from tests.fixed import compiled_levels
from tests.graph.test_banded import POINTS, TIMES, T, fields, i, last, means, t, x, y


def stages(pipeline: Pipeline) -> list[str]:
    return [stage.name for stage in pipeline.stages]


def test_the_quickest_size_is_taken_where_it_is_clearly_quicker() -> None:
    pipeline = build([means()])
    assert StepWays(lambda each: float(len(each.stages))).decided(pipeline) is pipeline
    found = StepWays(lambda each: 1.0).decided(pipeline)
    assert "u_8" in stages(found)
    assert found.notes[-1] == "u in bands of 8 steps: 0.125 s a step, 1 s one by one"
    fours = StepWays(lambda each: 9.0 if len(each.stages) > 4 else 1.0).decided(pipeline)
    assert "u_4" in stages(fours)
    assert "u_8" not in stages(fours)


def test_bands_are_as_long_as_the_user_says_whatever_is_predicted() -> None:
    pipeline = build([means()])
    found = StepWays(lambda each: float(len(each.stages)), bands=3).decided(pipeline)
    assert "u_3" in stages(found)
    assert "u_4" not in stages(found)
    assert found.notes[-1] == "u in bands of 3 steps, as Options.bands says"


def test_bands_without_effect_are_an_error() -> None:
    with pytest.raises(pm.OptionError, match=r"Options\.bands=4 has no effect: no recurrence steps"):
        pm.compile(x + y, options=Options(bands=4))
    looped = {"u": "[R(t), R(i)]"}
    with pytest.raises(pm.OptionError, match=r"Options\.bands=4 has no effect"):
        pm.compile(means(), inputs=[x, y], options=Options(bands=4, scheme=looped))
    others: tuple[tuple[dict[str, Any], str], ...] = (
        ({"bands": 1}, "a band of one"),
        ({"bands": 4, "skip": ("bands",)}, "skip leaves"),
        ({"bands": 4, "fuse": False}, "fuse=False leaves"),
        ({"bands": 4, "tile": False}, "tile=False leaves"),
        ({"bands": 4, "cost": "paper"}, "cost='paper' leaves"),
    )
    for options, why in others:
        with pytest.raises(pm.OptionError, match=f"Options.bands={options['bands']} has no effect: {why}"):
            pm.compile(means(), inputs=[x, y], options=Options(**options))


def test_bands_are_as_long_as_recurrences_read_back() -> None:
    """Each state needs the third one before it."""
    u = pm.Function(([t, i], [TIMES, POINTS]), pm.Double, "u")
    u.defn = [
        pm.Case(pm.Condition(t, "<=", 2), x(i)),
        pm.Case(pm.Condition(t, ">=", 3), u(t - 3, i) / 2 + y(i)),
    ]
    asked: Any = {"inputs": [x, y], "constraints": [pm.Condition(T, ">=", 2)]}
    with pytest.raises(pm.OptionError, match="reading at most 2 steps back"):
        pm.compile(last(u), **asked, options=Options(bands=2))
    found = pm.compile(last(u), **asked, options=Options(bands=3))
    assert "u in bands of 3 steps" in str(found.explain())


@pytest.mark.parametrize("options", [{"bands": 4, "fuse": False}, {"blocks": "model"}, {"tile_sizes": (4,)}])
def test_options_without_effect_where_no_plan_is_left_are_errors(options: dict[str, Any]) -> None:
    """Of sizes without points."""
    with pytest.raises(pm.OptionError, match="has no effect"):
        check_effects([], Options(**options), {}, SAPPHIRE_RAPIDS, "empty")


@pytest.mark.parametrize("bands", [2, 5])
def test_bands_that_the_user_says_compute_the_same(bands: int) -> None:
    run = pm.compile(means(), inputs=[x, y], options=Options(bands=bands, threads=1))
    assert f"in bands of {bands} steps, as Options.bands says" in str(run.explain())
    arrays = np.random.default_rng(1).random((2, 57))
    for steps in (0, 1, bands - 1, bands, bands + 1, 3 * bands, 23):
        found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_bands_of_many_stages_are_not_tried() -> None:
    sizes = []

    def predict(each: Pipeline) -> float:
        sizes.append(len(each.stages))
        return 1.0

    StepWays(predict).decided(build([fields()]))
    assert max(sizes) <= timebands.MOST_STAGES


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_bands(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timebands, "CLEARLY", 1e9)
    options = Options(threads=threads, parallel_threshold=0 if threads > 1 else None, skip=("skews",))
    make = fields if threads == 1 else means
    run = pm.compile(make(), inputs=[x, y], name="bands", options=options)
    assert " in bands of " in str(run.explain())
    rng = np.random.default_rng(threads)
    for steps in (0, 1, 3, 4, 8, 9, 23):
        for points in (1, 2, 17, 200):
            arrays = rng.random(points), rng.random(points)
            found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def bordered() -> pm.Function:
    """Two states that read each other's neighbours, with borders that stay."""
    N, M, T = (pm.Parameter(pm.Int, name) for name in "NMT")
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    starts = tuple(pm.Matrix(pm.Double, name, [N, M]) for name in "AB")
    spans = [pm.Interval(pm.Int, 0, size - 1) for size in (N, M)]
    inner = pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", N - 2)
    inner &= pm.Condition(j, ">=", 1) & pm.Condition(j, "<=", M - 2)

    def mean(name: str, old: Any, of: Any) -> pm.Function:
        after = pm.Function(([i, j], spans), pm.Double, name, default=old(i, j))
        near = of(i, j) + of(i, j - 1) + of(i, j + 1) + of(i + 1, j) + of(i - 1, j)
        after.defn = [pm.Case(inner, 0.2 * near)]
        return after

    def step(A: Any, B: Any) -> tuple[pm.Function, pm.Function]:
        after = mean("B_after", B, A)
        return mean("A_after", A, after), after

    last: pm.Function = pm.iterate(step, starts, steps=T)[0]
    return last


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_bands_with_borders(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timebands, "CLEARLY", 1e9)
    monkeypatch.setattr(timebands, "SIZES", (4,))
    options = Options(threads=threads, parallel_threshold=0 if threads > 1 else None, skip=("skews",))
    run = pm.compile(bordered(), name="bordered", options=options)
    assert run.source.count("of the same form, with other arrays: ") == 1
    rng = np.random.default_rng(threads)
    for steps in (0, 3, 4, 13):
        for shape in ((1, 1), (2, 7), (3, 3), (17, 1), (31, 64)):
            arrays = rng.random(shape), rng.random(shape)
            np.testing.assert_array_equal(run(*arrays, T=steps), run.reference(*arrays, T=steps))


def test_a_longer_band_is_tried_where_it_could_do() -> None:
    def tried(four: float) -> int:
        sizes: list[int] = []

        def predict(each: Pipeline) -> float:
            sizes.append(len(each.stages))
            return 1.0 if len(each.stages) == 1 else four * len(each.stages)

        StepWays(predict).decided(build([means()]))
        return max(sizes)

    assert tried(0.9) == 4  # eight steps would save 0.1 and a sixth of that
    assert tried(0.81) == 8


def test_numbers_of_steps_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that adds them is computed in the next step of its band, which alone reads it."""
    monkeypatch.setattr(timebands, "CLEARLY", 1e9)
    N, T, i = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "T"), pm.Variable(pm.Int, "i")
    u, v = (pm.Vector(pm.Double, name, [N]) for name in "uv")

    def step(state: Any, number: Any) -> pm.Function:
        after = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "after")
        after.defn = [0.5 * state(i) + v(i) * number]
        return after

    run = pm.compile(
        pm.iterate(step, u, steps=T), inputs=[u, v], options=Options(skip=("skews", "slices", "points"))
    )
    assert " in bands of " in str(run.explain())
    state, factor = np.arange(7.0), np.ones(7)
    for steps in range(17):
        state = state if steps == 0 else 0.5 * state + factor * steps
        np.testing.assert_allclose(run(np.arange(7.0), factor, T=steps), state, rtol=1e-13)


@pytest.mark.turns(2)
def test_sixteen_threads_take_no_bands_over_forty_planes() -> None:
    """Each would begin its part anew: thirty planes of the first of sixteen stages before its own."""

    def in_a_band(name: str, extent: int) -> bool:
        described = next(iter(find_kernel(name).builds.values()))()
        found = compiled_levels(
            list(described.outputs),
            inputs=list(described.inputs),
            machine=replace(SAPPHIRE_RAPIDS, cores=16),
            options=Options(threads=16),
            estimates={size: {"T": 96, "N": extent}[size.name] for size in described.sizes},
        )
        return "band" in str(found["tilesize"])

    assert not in_a_band("heat-3d", 40)
    assert in_a_band("jacobi-2d", 250)
