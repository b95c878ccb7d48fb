"""States of a step whose old plane the new one may take the place of, as far as predictions go.

What is written there is proved on exact relations once plans are known (`polymat.codegen.planes`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from polymat.graph.pipeline import Pipeline
from polymat.graph.recurrence import leaves_steps_out
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.memo import remembered
from polymat.model.extents import extent
from polymat.plan.tile import Plan


@remembered
def kept_in_place(pipeline: Pipeline) -> tuple[tuple[Stage, str], ...]:
    """The stages of a step that may be written over their own state before, each by itself.

    before:  ex reads ex_1 at its own point;  hz reads ex and hz_1 at its own point
    after:   (ex, ex_1), (hz, hz_1)
    """
    found: list[tuple[Stage, str]] = []
    for name, old in pipeline.states.items():
        stage = pipeline.stage(name)
        behind = pipeline.stages[pipeline.stages.index(stage) + 1 :]
        if _reads_own_point(stage, old) and not any(_reads(other, old) for other in behind):
            found.append((stage, old))
    return tuple(found)


def unchanged_parts(pipeline: Pipeline, plan: Plan) -> Mapping[str, frozenset[int]]:
    """The parts of stages, by number, that say that points of a state stay as they are: nobody computes them.

    before:  a(i, j) = a_1(i, j) - q(i) * r(j) where k <= j, else a_1(i, j), in the place of a_1
    after:   columns from k on
    """
    apart = {stage.name for stage in planes_apart(pipeline, plan)}
    found = {}
    for stage, old in kept_in_place(pipeline):
        own = tuple(map(Affine.name, stage.dims))
        parts = (
            number
            for number, part in enumerate(stage.parts)
            if isinstance(part.expr, Load) and part.expr.source.name == old and part.expr.indices == own
        )
        if stage.name not in apart:
            found[stage.name] = frozenset(parts)
    return found


def planes_apart(pipeline: Pipeline, plan: Plan) -> tuple[Stage, ...]:
    """The stages of `kept_in_place` that a plan does not write over their own state.

    Tiles go on with what was before the step beside those that are done.
    """
    if not plan.members or not pipeline.states:
        return ()
    members = {member.stage: member for member in plan.members}
    return tuple(
        stage
        for stage, old in kept_in_place(pipeline)
        if stage.name in members
        and (members[stage.name].copied or _read_by_others(pipeline, stage.name, old, members.keys()))
    )


def _read_by_others(pipeline: Pipeline, stage: str, old: str, names: Collection[str]) -> bool:
    return any(_reads(pipeline.stage(name), old) for name in names if name != stage)


def _reads(stage: Stage, array: str) -> bool:
    return any(load.source.name == array for load in stage.loads())


def _reads_own_point(stage: Stage, array: str) -> bool:
    """Whether a stage that is no sum reads an array where it is itself computed alone."""
    own = tuple(map(Affine.name, stage.dims))
    alike = all(load.indices == own for load in stage.loads() if load.source.name == array)
    return alike and not stage.is_reduction


def kept_share(pipeline: Pipeline, stage: Stage, estimates: Mapping[str, int]) -> float:
    """The share of the planes of a recurrence that are needed at a time; of any other stage all.

    before:  path(k, i, j) reads path(k - 1, ...), and others read path(N - 1, ...)
    after:   two planes of N
    """
    is_kept_whole = not stage.reads_itself or bool(stage.circle) or not stage.dims
    if is_kept_whole or not leaves_steps_out(pipeline, stage):
        return 1.0
    apart = [Affine.name(stage.dims[0]) - load.indices[0] for load in stage.loads() if _is_of(load, stage)]
    if not all(form.is_constant and form.const >= 0 for form in apart):
        return 1.0
    planes = max(form.const for form in apart) + 1
    low, high = stage.box[0]
    return min(1.0, planes / max(1.0, extent(high - low + 1, estimates))) if planes > 1 else 1.0


def _is_of(load: Load, stage: Stage) -> bool:
    return bool(load.source.name == stage.name)
