"""Where numbers go wrong: the first pass, or the first group, whose code disagrees with the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from polymat.checked import check
from polymat.codegen.c.abi import Signature
from polymat.codegen.memory.storage import output_buffer
from polymat.codegen.program import CSource, Program
from polymat.codegen.signature import make_signature
from polymat.dataclass import dataclass
from polymat.graph.group import Group, Grouping, separate
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import without_unread
from polymat.graph.stepwise import Stepwise, section_text
from polymat.loading import loaded
from polymat.passes import PASSES, position
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.schedule import Schedule
from polymat.poly.membership import members
from polymat.request import Request
from polymat.runtime.diagnose import Bound, bind
from polymat.runtime.libraryfile import Built
from polymat.steps import Job, Level
from polymat.tilesize.plain import plan_stage

Values = npt.NDArray[Any]
_RIGHT = ""  # in place of what is wrong


@dataclass(frozen=True, slots=True)
class Verdict:
    """The pass at fault, None where all agree, and what was seen of it in words."""

    at_fault: str | None
    text: str


def bisect(request: Request, arguments: Mapping[str, Any], *, tolerance: float | None = None) -> Verdict:
    """Interpret the pipeline after each pass; then run its code, with ever more groups in plain loops.

    arguments: of a call, by name.  tolerance: of the largest element of a result; None for half its digits.
    """
    job = Job(request)
    built = PASSES[0].apply(request, job)
    call = _Call.of(built, request, arguments, tolerance)
    level: Level = built
    for each in PASSES[1 : position("codegen")]:
        before = level
        try:
            level = each.apply(before, job)
            if level is not before:
                check(each.name, level)
        except Exception as error:  # whatever it is: without the pass it would not be
            return Verdict(each.name, f"{each.name} fails with {type(error).__name__}: {error}")
        fault = call.fault_of(level) if level is not before else _RIGHT
        if fault:
            return Verdict(each.name, f"{each.name}: interpreted after it, {fault}")
    code = _Code(job, call, arguments)
    if isinstance(level, Stepwise):
        return code.search_sections(level)
    assert isinstance(level, Schedule)
    return code.search(level)


def plain_signature(built: Pipeline, name: str) -> Signature:
    """The arguments of a pipeline that nothing was decided about yet."""
    storage = {name: output_buffer(built.stage(name), built) for name in built.outputs}
    return make_signature(built, name, storage, ())


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """Arguments, and what the interpreter makes of them; name: of the pipeline.

    bound: with the sizes.  expected: every output as it was built.
    """

    bound: Bound
    expected: Mapping[str, Values]
    tolerance: float | None

    @staticmethod
    def of(built: Pipeline, request: Request, arguments: Mapping[str, Any], tolerance: float | None) -> _Call:
        """Check the arguments as a call would."""
        bound = bind(plain_signature(built, request.name), (), arguments)
        values = interpret(built, bound.inputs, {**bound.scalars, **bound.sizes})
        return _Call(bound, {name: values[name] for name in built.outputs}, tolerance)

    @property
    def parameters(self) -> dict[str, Any]:
        """Sizes and scalars by name."""
        return {**self.bound.scalars, **self.bound.sizes}

    def interpreted(self, level: Pipeline | Stepwise[Pipeline]) -> dict[str, Values]:
        """Every stage of a pipeline, whose inputs may lie or count otherwise than the caller's."""
        pipeline, given = (level.whole if isinstance(level, Stepwise) else level), {}
        for array in pipeline.inputs:
            values = self.bound.inputs[array.name]
            sizes = self.parameters | array.tight(self.parameters)
            extents = [int(extent.evaluate(sizes)) for extent in array.extents]
            given[array.name] = np.reshape(values.T if array.turned else values, extents)
        if isinstance(level, Stepwise):
            return interpret_stepwise(level, given, self.parameters, members)
        return interpret(pipeline, given, self.parameters, members)

    def fault_of(self, level: Level) -> str:
        """Interpret what is a pipeline, or several, and say what is wrong; nothing where it is right."""
        flat = level.flat() if isinstance(level, Stepwise) else iter([level])
        if not all(isinstance(each, Pipeline) for each in flat):
            return _RIGHT
        try:
            values = self.interpreted(cast("Pipeline | Stepwise[Pipeline]", level))
        except Exception as error:
            return f"it fails with {type(error).__name__}: {error}"
        return self.difference({name: values[name] for name in self.expected}, self.expected)

    def difference(self, found: Mapping[str, Values], expected: Mapping[str, Values]) -> str:
        """The first element that is not as expected, in words."""
        return first_difference(found, expected, self.tolerance)


@dataclass(frozen=True, slots=True, eq=False)
class _Code:
    """The search among the groups of a schedule."""

    job: Job
    call: _Call
    arguments: Mapping[str, Any]

    def search_sections(self, stepwise: Stepwise[Schedule]) -> Verdict:
        """Find the first section without whose plans the code is right."""
        fault = self._fault(stepwise)
        if not fault:
            return Verdict(None, "the code of all sections agrees with the interpreter")
        for number, section in enumerate(stepwise.sections):
            levels = [each.level for each in stepwise.sections]
            level = section.level
            plain = level.map(_plain) if isinstance(level, Stepwise) else _plain(level)
            levels[number] = plain
            if not self._fault(stepwise.with_levels(levels)):
                where = f"section {number + 1}, {section_text(section)}"
                return Verdict("tilesize", f"tilesize, {where}: {fault}; in plain loops it is right")
        return Verdict("codegen", f"codegen: {fault}; also where one section after the other is plain loops")

    def search(self, schedule: Schedule) -> Verdict:
        """Find the first group whose code is wrong."""
        fault, count = self._fault(schedule), len(schedule.plans)
        if not fault:
            return Verdict(None, f"the code of {schedule.summary} agrees with the interpreter")
        first = replace(schedule, others=())
        if schedule.others and not self._fault(first):
            return Verdict("orders", f"orders: {fault}; without other orders of products it is right")
        if schedule.folds and not self._fault(_with_all_elements(first)):
            return Verdict("folds", f"folds: {fault}; with all elements of recurrences kept it is right")
        if self._fault(_plain_from(first, 0)):
            return self._stage(schedule.grouping.pipeline, fault)
        right, wrong = 0, count  # with all groups from there on in plain loops
        while wrong - right > 1:
            middle = (right + wrong) // 2
            if self._fault(_plain_from(first, middle)):
                wrong = middle
            else:
                right = middle
        where = f"group {right + 1} of {count}, {schedule.plans[right]}"
        return Verdict("tilesize", f"tilesize, {where}: {fault}; in plain loops it is right")

    def _stage(self, pipeline: Pipeline, fault: str) -> Verdict:
        """Find the first stage whose plain loops are wrong."""
        values = self.call.interpreted(pipeline)
        for stage in pipeline.stages:
            if any(low.evaluate(self.call.parameters) < 0 for low, _ in stage.box):
                continue  # it cannot be an output
            alone = without_unread(replace(pipeline, outputs=(stage.name,), trim=False))
            wrong = self._fault(_plain_from(Schedule(separate(alone), ()), 0), values)
            if wrong:
                return Verdict("codegen", f"codegen, {stage.name} in plain loops: {wrong}")
        return Verdict("codegen", f"codegen: {fault}; every stage by itself is right in plain loops")

    def _fault(
        self, schedule: Schedule | Stepwise[Schedule], expected: Mapping[str, Values] | None = None
    ) -> str:
        """Run the code of a schedule and say what is wrong; nothing where it is right."""
        pipeline = _whole(schedule)
        try:
            found = self._run(schedule)
        except Exception as error:
            return f"it fails with {type(error).__name__}: {error}"
        wanted = {name: (expected or self.call.expected)[name] for name in pipeline.outputs}
        if pipeline.trim:
            wanted = {name: self._trimmed(pipeline, name, each) for name, each in wanted.items()}
        return self.call.difference(found, wanted)

    def _run(self, schedule: Schedule | Stepwise[Schedule]) -> dict[str, Values]:
        program, source, library = _made(schedule, self.job)
        check("codegen", program)
        results = loaded(self.job.request, program, source.text, library)(**self.arguments)
        outputs = _whole(schedule).outputs
        return dict(zip(outputs, results if len(outputs) > 1 else (results,), strict=True))

    def _trimmed(self, pipeline: Pipeline, name: str, values: Values) -> Values:
        low = [max(int(low.evaluate(self.call.parameters)), 0) for low, _ in pipeline.stage(name).box]
        return values[tuple(slice(first, None) for first in low)]


def _whole(schedule: Schedule | Stepwise[Schedule]) -> Pipeline:
    return schedule.whole if isinstance(schedule, Stepwise) else schedule.grouping.pipeline


def _plain(schedule: Schedule) -> Schedule:
    """The schedule with all stages in plain loops."""
    return _plain_from(replace(schedule, others=()), 0)


def _plain_from(schedule: Schedule, first: int) -> Schedule:
    """The schedule with every stage of the groups from the first one on by itself, in plain loops.

    So are outputs that stages of these groups were computed in.
    """
    pipeline, plans = schedule.grouping.pipeline, [*schedule.plans[:first]]
    groups = [*schedule.grouping.groups[:first]]
    for group in schedule.grouping.groups[first:]:
        inside = [schedule.in_outputs[name] for name in group.stages if name in schedule.in_outputs]
        for name in (*group.stages, *inside):
            groups.append(Group((name,)))
            plans.append(plan_stage(groups[-1], pipeline.stage(name), pipeline.context))
    grouping = Grouping(pipeline, tuple(groups))
    return _with_all_elements(replace(schedule, grouping=grouping, plans=tuple(plans), telling=tuple))


def _with_all_elements(schedule: Schedule) -> Schedule:
    """The schedule with all elements of recurrences kept: how few are enough follows from the plans.

    Eliminations in blocks of steps have one place for all steps, or no code.
    """
    blocked = {plan.group.stages[-1] for plan in schedule.plans if isinstance(plan, EliminationPlan)}
    folds = {name: places for name, places in schedule.folds.items() if name in blocked}
    inside = {name: output for name, output in schedule.in_outputs.items() if name in blocked}
    return replace(schedule, folds=folds, in_outputs=inside)


def _made(schedule: Schedule | Stepwise[Schedule], job: Job) -> tuple[Program, CSource, Built]:
    program = PASSES[position("codegen")].apply(schedule, job)
    source = PASSES[position("source")].apply(program, job)
    return program, source, PASSES[position("runtime")].apply(source, job)


def first_difference(
    found: Mapping[str, Values], expected: Mapping[str, Values], tolerance: float | None = None
) -> str:
    """The first element of results that is not as expected, in words; nothing where all are right.

    tolerance: of the largest element; None for half of the digits, since sums are added in other orders.
    """
    texts = (_difference(name, found[name], expected[name], tolerance) for name in found)
    return next(filter(None, texts), _RIGHT)


def _difference(name: str, found: Values, expected: Values, tolerance: float | None) -> str:
    """The first element of a result that is not as expected; the interpreter rounds in another order."""
    if found.size != expected.size:
        return f"{name} has {found.size} elements, not {expected.size}"
    found = found.reshape(expected.shape)
    with np.errstate(all="ignore"):
        alike = (found == expected) | ((found != found) & (expected != expected))
        if expected.dtype.kind in "fc":
            share = float(np.finfo(expected.dtype).eps) ** 0.5 if tolerance is None else tolerance
            finite = np.abs(expected[np.isfinite(expected)])
            alike |= np.abs(found - expected) <= share * finite.max(initial=0.0)
    wrong = np.argwhere(~alike)
    if not len(wrong):
        return _RIGHT
    first = tuple(int(index) for index in wrong[0])
    element = f"{name}({', '.join(map(str, first))})"
    count = f"{len(wrong)} of {found.size} elements differ"
    return f"{element} is {found[first]}, not {expected[first]} ({count})"
