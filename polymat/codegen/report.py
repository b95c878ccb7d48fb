"""What was decided and why, for people: `Compiled.explain()`."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from polymat.codegen.program import Program
from polymat.codegen.storage import Buffer
from polymat.errors import ArgumentError, ToolchainError
from polymat.graph.pipeline import Pipeline
from polymat.tilesize.schedule import NestPlan, Plan, Schedule


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group: the stages that share an implementation, and what it is.

    kind: the implementation.  order: loops, outermost first.  tile_sizes: by dimension (empty: untiled).
    parallel, vector: dimensions or None.  storage: place of each stage's array.  reason: in words.
    inside: the loops of each stage within a tile.
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

    def __str__(self) -> str:
        lines = [f"{' + '.join(self.stages)}: {self.kind} loops {', '.join(self.order) or '(none)'}"]
        tiles = ", ".join(f"{dim} {size}" for dim, size in self.tile_sizes.items())
        lines.append(
            f"  parallel {self.parallel or '-'}, vector {self.vector or '-'}, "
            f"{f'tiles of {tiles}' if tiles else 'untiled'}; {self.reason}"
        )
        lines += [f"  in a tile, {name} loops {', '.join(order)}" for name, order in self.inside.items()]
        lines += [f"  {name} in the {place}" for name, place in self.storage.items()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a call should cost at the `estimates=`: None where no model says it yet.

    bytes: per memory level; "memory" counts every input and output element once.
    """

    seconds: float | None
    bytes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """The decisions of one compilation."""

    name: str
    groups: tuple[GroupReport, ...]
    predicted: Prediction
    inlined: tuple[str, ...]
    inplace: tuple[tuple[str, str], ...]
    seconds: Mapping[str, float]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.groups)} group{'s' * (len(self.groups) != 1)}"]
        lines += [str(group) for group in self.groups]
        if self.inlined:
            lines.append(f"inlined or shared: {', '.join(self.inlined)}")
        lines += [
            f"the output {output} may be given the input {array} (out={array})"
            for array, output in self.inplace
        ]
        if self.predicted.bytes:
            lines.append(f"predicted bytes: {dict(self.predicted.bytes)}")
        spent = ", ".join(f"{level} {seconds * 1e3:.1f} ms" for level, seconds in self.seconds.items())
        return "\n".join([*lines, f"compiled in: {spent}"])

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
    return html.escape(text, quote=True)


def make_report(
    built: Pipeline,
    schedule: Schedule,
    program: Program,
    estimates: Mapping[str, int],
    seconds: Mapping[str, float],
) -> Report:
    """Collect what the levels decided."""
    pipeline = schedule.grouping.pipeline
    places = {buffer.name: buffer.place for buffer in program.buffers}
    kept = {stage.name for stage in pipeline.stages}
    signature = program.signature
    return Report(
        name=signature.name,
        groups=tuple(_group(plan, places) for plan in schedule.plans),
        predicted=Prediction(None, _traffic(program.buffers, estimates)),
        inlined=tuple(stage.name for stage in built.stages if stage.name not in kept),
        inplace=tuple((signature.inputs[i].name, signature.outputs[o].name) for i, o in signature.inplace),
        seconds=dict(seconds),
    )


def _group(plan: Plan, places: Mapping[str, str]) -> GroupReport:
    storage = {name: places[name] for name in plan.group.stages}
    if isinstance(plan, NestPlan):
        reason, vector = plan.reason, plan.vector
        return GroupReport(
            plan.group.stages, plan.kind, plan.order, {}, plan.parallel, vector, storage, (), reason
        )
    last = plan.loops[plan.members[-1].stage]
    return GroupReport(
        stages=plan.group.stages,
        kind="tiles",
        order=plan.dims,
        tile_sizes=dict(zip(plan.dims, plan.sizes, strict=True)),
        parallel=plan.dims[0],
        vector=last.vector,
        storage=storage,
        library_calls=(),
        reason=plan.reason,
        inside={member.stage: plan.loops[member.stage].order for member in plan.members},
    )


def _traffic(buffers: tuple[Buffer, ...], estimates: Mapping[str, int]) -> dict[str, int]:
    """Bytes of all inputs and outputs, when the estimates name every size."""
    total = 0
    for buffer in buffers:
        if buffer.place == "workspace":
            continue
        count = buffer.dtype.size
        for extent in buffer.extents:
            if any(name not in estimates for name in extent.names()):
                return {}
            count *= max(int(extent.evaluate(estimates)), 0)
        total += count
    return {"memory": total}
