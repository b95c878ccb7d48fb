"""What was decided and why, for people: `Compiled.explain()`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, prod
from pathlib import Path

from polymat.codegen.productreport import ProductReport, Products
from polymat.codegen.program import Program
from polymat.errors import ArgumentError, ToolchainError
from polymat.graph.arguments import check_known, fixed_sizes
from polymat.graph.pipeline import Pipeline
from polymat.lang.expr import Parameter
from polymat.machine.memory import total_memory
from polymat.model.assumed import assumed_sizes
from polymat.plan.library import FilterPlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.schedule import Considered, Decision, Schedule
from polymat.plan.tile import Plan

MOST_ALTERNATIVES = 12  # groups that were not chosen, in a text
_BEYOND = ", with which the arrays are beyond this machine's memory; give estimates= for predictions"
_SURELY_THERE = 1 << 30  # bytes for which the system is not asked how many it has
NO_ARRAY = "no array: computed with the result"  # in place of where a stage is


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted cost of a call at the `estimates=`.

    seconds: None where no model says it.  bytes: that move out of each level of memory towards the cores,
    with caches that are empty at first.  level_seconds: how long each of them takes by itself.
    """

    seconds: float | None
    bytes: Mapping[str, int]
    level_seconds: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        total = "" if self.seconds is None else f"{self.seconds:.3g} s; "
        parts = [
            f"{level} {count:.4g} bytes"
            + (f" in {self.level_seconds[level]:.3g} s" if level in self.level_seconds else "")
            for level, count in self.bytes.items()
        ]
        return f"{total}from empty caches, with nothing fetched ahead, {', '.join(parts)}"


_PLACES = {NO_ARRAY: f"has {NO_ARRAY}", "kept": "computed by the first call alone, and kept"}


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group: the stages that share an implementation, and what it is.

    kind: the implementation.  order: loops, outermost first.  tile_sizes: by dimension (empty: untiled).
    parallel, vector: dimensions or None.  storage: place of each stage's array.  reason: in words.
    inside: the loops of each stage within a tile.  cost: the terms that the group was chosen by, with the
    equation of its tile sizes where they solve one.  movement: predicted traffic in words.  scores: of every
    loop of each stage as the innermost one.  predicted: seconds and bytes of this group.
    types: the element type of each stage.
    """

    stages: tuple[str, ...]
    kind: str
    order: tuple[str, ...]
    tile_sizes: Mapping[str, int]
    parallel: str | None
    vector: str | None
    storage: Mapping[str, str]
    library_calls: tuple[str, ...]
    reason: str
    inside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cost: str = ""
    movement: str = ""
    scores: Mapping[str, str] = field(default_factory=dict)
    predicted: Prediction | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        way = f"{self.kind} loops {', '.join(self.order)}" if self.order else self.kind
        if self.library_calls and not self.order:
            way = f"library calls: {', '.join(self.library_calls)}"
        lines = [f"{' + '.join(self.stages)}: {way}"]
        tiles = ", ".join(f"{dim} {size}" for dim, size in self.tile_sizes.items())
        lines.append(
            f"  parallel {self.parallel or '-'}, vector {self.vector or '-'}, "
            f"{f'tiles of {tiles}' if tiles else 'untiled'}; {self.reason}"
        )
        lines += [f"  in a tile, {name} loops {', '.join(order)}" for name, order in self.inside.items()]
        lines += [
            f"  {name}{f' ({self.types[name]})' if name in self.types else ''} "
            f"{_PLACES.get(place, f'in the {place}')}"
            for name, place in self.storage.items()
        ]
        lines += [
            f"  {word}: {text}"
            for word, text in (("cost", self.cost), ("from empty caches", self.movement))
            if text
        ]
        lines += [f"  innermost loop of {name}: {text}" for name, text in self.scores.items()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The decisions of one compilation.

    considered: all groups that were priced.  assumed: sizes that the predictions hold for although nobody
    gave them.  partition: what is sure of its cost.  inlined: stages that are computed in others.  inplace:
    (input, output) pairs that may be one array.  seconds: that compiling took, by level.  notes: how filters
    are computed, what else was predicted for them, and why sums are no library calls or transforms.
    beyond_memory: arrays of assumed sizes do not fit into this machine, so that predictions mean nothing.
    products: how products are computed at the sizes that were asked for, if any were; asked: who is asked.
    """

    name: str
    groups: tuple[GroupReport, ...]
    predicted: Prediction
    inlined: tuple[str, ...]
    inplace: tuple[tuple[str, str], ...]
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()
    assumed: Mapping[str, int] = field(default_factory=dict)
    partition: str = ""
    beyond_memory: bool = False
    products: tuple[ProductReport, ...] = ()
    asked: Products | None = None

    def at(self, sizes: Mapping[Parameter, int], threads: int) -> Report:
        """This report with the way that each product takes at some sizes on so many threads.

        Sizes that are not given are those that predictions hold for.
        """
        fixed = fixed_sizes(sizes, "sizes")
        if self.asked is None:
            return self
        check_known(fixed, [size.name for size in self.asked.pipeline.sizes])
        return replace(self, products=self.asked.at(fixed, threads))

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.groups)} group{'s' * (len(self.groups) != 1)}"]
        lines += [str(group) for group in self.groups]
        lines += map(str, self.products)
        if self.inlined:
            lines.append(f"inlined or shared: {', '.join(self.inlined)}")
        lines += [
            f"the output {output} may be given the input {array} (out={array})"
            for array, output in self.inplace
        ]
        lines += self.notes
        lines += [f"partition {self.partition}"] if self.partition else []
        lines += self._alternatives()
        if self.predicted.bytes and not self.beyond_memory:
            lines.append(f"predicted: {self.predicted}")
        if self.assumed:
            sizes = ", ".join(f"{name} {size}" for name, size in self.assumed.items())
            lines.append(f"sizes assumed for want of estimates=: {sizes}{_BEYOND * self.beyond_memory}")
        spent = ", ".join(f"{level} {seconds * 1e3:.1f} ms" for level, seconds in self.seconds.items())
        return "\n".join([*lines, f"compiled in: {spent}"])

    def __repr__(self) -> str:
        return str(self)

    def _alternatives(self) -> list[str]:
        """Groups that were looked at and not chosen: those that could be, then the refused ones."""
        chosen = {group.stages for group in self.groups}
        others = [item for item in self.considered if item.stages not in chosen and len(item.stages) > 1]
        if not others:
            return []
        refused = sum(item.cost == inf for item in others)
        shown = sorted(others, key=lambda item: item.cost == inf)[:MOST_ALTERNATIVES]
        lines = [f"groups considered and not chosen: {len(others)}, of which {refused} refused"]
        lines += [f"  {item}" for item in shown]
        if len(others) > len(shown):
            lines.append(f"  and {len(others) - len(shown)} more")
        return lines

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_escaped(' + '.join(g.stages))}</td><td>{_escaped(g.kind)}</td>"
            f"<td>{_escaped(', '.join(g.order))}</td><td>{_escaped(g.parallel or '')}</td>"
            f"<td>{_escaped(g.vector or '')}</td><td>{_escaped(g.reason)}</td></tr>"
            for g in self.groups
        )
        head = "".join(f"<th>{h}</th>" for h in ("stages", "kind", "loops", "parallel", "vector", "reason"))
        title, text = _escaped(self.name), _escaped(str(self))
        return f"<h3>{title}</h3><table><tr>{head}</tr>{rows}</table><pre>{text}</pre>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as a page of HTML."""
        if not isinstance(path, str | os.PathLike):
            raise ArgumentError(f"save() takes the path of a file, got {path!r:.60}")
        target = Path(path)
        title = _escaped(self.name)
        page = f'<!doctype html><meta charset="utf-8"><title>{title}</title>{self._repr_html_()}\n'
        try:
            target.write_text(page, encoding="utf-8")
        except (OSError, ValueError) as error:  # ValueError: a null character in the path
            raise ToolchainError(f"cannot write the report to {target}: {error}") from error
        return target


def _escaped(text: str) -> str:
    import html  # which notebooks and saved reports alone need

    return html.escape(text, quote=True)


def make_report(
    built: Pipeline,
    schedule: Schedule,
    program: Program,
    estimates: Mapping[str, int],
    seconds: Mapping[str, float],
    products: Products | None = None,
) -> Report:
    """Collect what the levels decided; products: who is asked about products at other sizes."""
    pipeline = schedule.grouping.pipeline
    places = {buffer.name: buffer.place for buffer in program.buffers}
    kept = {stage.name for stage in pipeline.stages}
    signature = program.signature
    decisions = schedule.decisions or (None,) * len(schedule.plans)
    groups = tuple(
        replace(_with(_group(plan, places), plan, decision), types=_types(pipeline, plan))
        for plan, decision in zip(schedule.plans, decisions, strict=True)
    )
    sizes = assumed_sizes(pipeline, estimates)
    assumed = {name: size for name, size in sizes.items() if name not in estimates}
    beyond = bool(assumed) and _is_beyond_memory(pipeline, sizes)
    if beyond:
        groups = tuple(replace(group, cost="", movement="") for group in groups)
    every_call = [group for group in groups if "kept" not in group.storage.values()]
    return Report(
        name=signature.name,
        groups=groups,
        predicted=_total([group.predicted for group in every_call if group.predicted is not None]),
        inlined=tuple(stage.name for stage in built.stages if stage.name not in kept),
        inplace=tuple((signature.inputs[i].name, signature.outputs[o].name) for i, o in signature.inplace),
        seconds=dict(seconds),
        notes=(*pipeline.notes, *schedule.notes),
        considered=schedule.considered,
        partition=schedule.grouping.guarantee,
        assumed=assumed,
        beyond_memory=beyond,
        asked=products,
    )


def _types(pipeline: Pipeline, plan: Plan) -> dict[str, str]:
    return {name: pipeline.stage(name).dtype.dtype for name in plan.group.stages}


def _is_beyond_memory(pipeline: Pipeline, sizes: Mapping[str, int]) -> bool:
    """Whether inputs and outputs of these sizes are more than the machine has room for."""
    outputs = [pipeline.stage(name) for name in pipeline.outputs]
    shapes = [(array.dtype.size, array.extents) for array in pipeline.inputs]
    shapes += [(stage.dtype.size, tuple(high + 1 for _, high in stage.box)) for stage in outputs]
    total: int = sum(
        size * prod(max(form.evaluate(sizes), 0) for form in extents) for size, extents in shapes
    )
    return total > _SURELY_THERE and total > total_memory()


def _with(group: GroupReport, plan: Plan, decision: Decision | None) -> GroupReport:
    """The report of a group with what speaks for it."""
    if decision is None:
        return group
    traffic = decision.movement.traffic
    # A transform and a filter compute in another way than by the sums of the definition: of these only what
    # has to be read and written is the same.
    looped = not isinstance(plan, TransformPlan | FilterPlan)
    shown = traffic if looped else traffic[-1:]
    predicted = Prediction(
        decision.seconds,
        {entry.level: round(entry.bytes) for entry in shown},
        {entry.level: entry.seconds for entry in shown if looped},
    )
    return replace(
        group,
        cost=decision.terms,
        movement=decision.movement.explain() if looped else "",
        scores={name: found.explain() for name, found in decision.scores.items()},
        predicted=predicted,
    )


def _total(groups: Sequence[Prediction]) -> Prediction:
    """What all groups cost, one after the other."""
    levels = dict.fromkeys(level for group in groups for level in group.bytes)
    return Prediction(
        sum(group.seconds or 0.0 for group in groups) if groups else None,
        {level: sum(group.bytes.get(level, 0) for group in groups) for level in levels},
        {
            level: sum(group.level_seconds[level] for group in groups if level in group.level_seconds)
            for level in levels
            if any(level in group.level_seconds for group in groups)
        },
    )


def _group(plan: Plan, places: Mapping[str, str]) -> GroupReport:
    storage = {name: places.get(name, NO_ARRAY) for name in plan.group.stages}
    if isinstance(plan, NestPlan):
        calls = plan.routines
        order, vector = plan.order, plan.vector
        if isinstance(plan, LoopPlan):
            order, vector = plan.shown_order, plan.shown_vector
        return GroupReport(
            plan.group.stages,
            plan.kind,
            order,
            {},
            plan.parallel,
            vector,
            storage,
            calls,
            plan.reason,
        )
    last = plan.loops[plan.members[-1].stage]
    return GroupReport(
        stages=plan.group.stages,
        kind="tiles",
        order=plan.dims,
        tile_sizes=dict(zip(plan.dims, plan.sizes, strict=True)),
        parallel=", ".join(plan.dims) if plan.is_numbered else plan.dims[0],
        vector=last.vector,
        storage=storage,
        library_calls=tuple(name for inner in plan.loops.values() for name in inner.routines),
        reason=plan.why,
        inside={member.stage: plan.loops[member.stage].order for member in plan.members},
    )
