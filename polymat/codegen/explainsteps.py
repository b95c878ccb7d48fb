"""What was decided about a pipeline that runs in sections, collected for `Compiled.explain()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from polymat.codegen.c.abi import Signature
from polymat.codegen.explain import make_report, total
from polymat.codegen.memory.storage import buffers
from polymat.codegen.report import GroupReport, Prediction, Report
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import HeldArray, Steps, StepSection, Stepwise
from polymat.model.assumed import assumed_sizes
from polymat.plan.schedule import Schedule


def make_stepwise_report(
    built: Pipeline,
    stepwise: Stepwise[Schedule],
    signature: Signature,
    estimates: Mapping[str, int],
    seconds: Mapping[str, float],
    page: Callable[[Report], str] | None = None,
) -> Report:
    """The reports of all sections as one, with what every section takes in all of its steps."""
    sizes = assumed_sizes(built, estimates)
    parts = [*_parts(built, stepwise, signature, sizes, estimates)]
    groups = tuple(group for part in parts for group in part.groups)
    kept = {name for group in groups for name in group.stages}
    assumed = {name: size for name, size in sizes.items() if name not in estimates}
    return Report(
        name=signature.name,
        groups=groups,
        predicted=total([part.predicted for part in parts]),
        inlined=tuple(stage.name for stage in built.stages if stage.name not in kept),
        inplace=tuple((signature.inputs[i].name, signature.outputs[o].name) for i, o in signature.inplace),
        seconds=dict(seconds),
        notes=tuple(
            dict.fromkeys(
                [*stepwise.whole.notes, *_section_notes(stepwise), *(n for part in parts for n in part.notes)]
            )
        ),
        considered=tuple(each for part in parts for each in part.considered),
        assumed=assumed,
        page=page,
    )


def _parts(
    built: Pipeline,
    stepwise: Stepwise[Schedule],
    signature: Signature,
    sizes: Mapping[str, int],
    estimates: Mapping[str, int],
) -> Iterator[Report]:
    """The report of every section, those of sections within it too, and of all of its steps."""
    held = {each.name: each for each in stepwise.held}
    for section in stepwise.sections:
        level = section.level
        if isinstance(level, Stepwise):
            inner = {**sizes, **({} if section.steps is None else section.steps.at(0, sizes))}
            found = [*_parts(built, level, signature, inner, estimates)]
        else:
            pipeline = level.grouping.pipeline
            arrays = buffers(pipeline, level).values()
            found = [make_report(pipeline, level, signature, arrays, estimates, {})]
        many = 1 if section.steps is None else len(section.steps.numbers(sizes))
        for report in found:
            groups = tuple(_placed(group, section, held) for group in report.groups)
            yield replace(report, groups=groups, predicted=_times(report.predicted, many))


def _times(predicted: Prediction, many: int) -> Prediction:
    """What so many steps take."""
    seconds = None if predicted.seconds is None else many * predicted.seconds
    return Prediction(
        seconds,
        {level: many * each for level, each in predicted.bytes.items()},
        {level: many * each for level, each in predicted.level_seconds.items()},
    )


def _placed(group: GroupReport, section: StepSection[Schedule], held: Mapping[str, HeldArray]) -> GroupReport:
    """The report of a group with where its arrays are for the whole, and how many planes of them."""
    level = section.level
    names = level.whole.outputs if isinstance(level, Stepwise) else level.grouping.pipeline.outputs
    there = {name: held[view.array] for name, view in zip(names, section.outputs, strict=True)}
    storage = {
        name: there[name].place if name in there and place == "output" else place
        for name, place in group.storage.items()
    }
    folds = {
        name: f"{each.planes} of {each.count} steps"
        for name, each in there.items()
        if each.is_folded and name in storage
    }
    when = "" if section.steps is None else f"; {_when(section.steps)}, {section.steps}"
    return replace(group, storage=storage, folds={**group.folds, **folds}, reason=f"{group.reason}{when}")


def _when(steps: Steps) -> str:
    """How often what runs at some steps does."""
    return "all at once" if steps.is_whole else "once a step"


def _taken(steps: Steps, count: int) -> str:
    """What so many stages do at some steps."""
    if steps.is_whole:
        return "take all at once" if count > 1 else "takes all at once"
    return "take steps together" if count > 1 else "takes steps"


def _section_notes(stepwise: Stepwise[Schedule]) -> Iterator[str]:
    for section in stepwise.sections:
        if section.steps is not None:
            level = section.level
            names = level.whole.outputs if isinstance(level, Stepwise) else level.grouping.pipeline.outputs
            names = section.changed or names
            yield f"{', '.join(names)} {_taken(section.steps, len(names))}: {section.steps}"
            if section.together is not None:
                yield str(section.together)
            if isinstance(level, Stepwise):
                yield from level.whole.notes
                yield from _section_notes(level)
