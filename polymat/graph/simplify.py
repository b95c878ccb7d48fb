"""Common stages computed once: behind building, and behind rewrites that make stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Part, Ref, Stage
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Expr, Load, Variable
from polymat.lang.expressiontext import structure
from polymat.lang.indices import index_variable
from polymat.lang.traverse import rebuild, rebuild_indices

ITSELF = "(itself)"  # no stage can have this name


def share_common_stages(pipeline: Pipeline) -> Pipeline:
    """Merge stages with the same definition; outputs stay, each has its own array.

    before:  t(i) = a(i) + 1;  u(j) = a(j) + 1;  y(i) = t(i) * u(i)
    after:   t(i) = a(i) + 1;  y(i) = t(i) * t(i)
    """
    alike: dict[object, list[Stage]] = {}
    keys: dict[str, str] = {}
    instead: dict[str, str] = {}
    kept: list[Stage] = []
    for stage in pipeline.stages:
        renamed = redirect(stage, instead)
        others = alike.setdefault(_outline(renamed), [])
        same = None if stage.name in pipeline.outputs else _same_stage(renamed, others, keys)
        if same is not None:
            instead[stage.name] = same
        else:
            others.append(renamed)
            kept.append(renamed)
    return pipeline.with_stages(tuple(kept))


def _outline(stage: Stage) -> object:
    """What stages with equal definitions have in common, and nearly all others have not."""
    arrays = frozenset(load.source.name for load in stage.loads()) - {stage.name}
    return stage.dtype, str(stage.op), len(stage.dims), len(stage.parts), len(stage.accumulations), arrays


def _same_stage(stage: Stage, others: Sequence[Stage], keys: dict[str, str]) -> str | None:
    """The first of others whose definition is equal; keys: of stages by name, found when they are needed."""
    if not others:
        return None
    for each in (stage, *others):
        if each.name not in keys:
            keys[each.name] = stage_key(each)
    return next((each.name for each in others if keys[each.name] == keys[stage.name]), None)


def redirect(stage: Stage, instead: dict[str, str]) -> Stage:
    """Let a stage read other stages; the stage itself when none of its loads changes."""
    if not any(load.source.name in instead for load in stage.loads()):
        return stage
    refs = {
        load.source.name: Ref(instead[load.source.name], load.dtype, is_input=False)
        for load in stage.loads()
        if load.source.name in instead
    }
    return redirected(stage, refs)


def redirected(stage: Stage, refs: Mapping[str, Ref]) -> Stage:
    """Let a stage read other arrays, by the names of those that it reads."""

    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load) and node.source.name in refs:
            return Load(refs[node.source.name], node.indices, node.dtype, node.at)
        return node

    return map_expressions(stage, lambda expr: rebuild(expr, leaf))


def map_expressions(stage: Stage, change: Callable[[Expr], Expr]) -> Stage:
    """Apply a function to every right-hand side."""
    parts = tuple(replace(part, expr=change(part.expr)) for part in stage.parts)
    accumulations = tuple(
        replace(a, expr=change(a.expr), target=rebuild_indices(a.target, change)) for a in stage.accumulations
    )
    return replace(stage, parts=parts, accumulations=accumulations)


def stage_key(stage: Stage) -> str:
    """Text that is equal for stages with equal definitions, whatever they and their indices are called."""
    parts = [_part_key(stage, part) for part in stage.parts]
    accumulations = [_accumulation_key(stage, a) for a in stage.accumulations]
    domain = stage.domain.renamed(_canonical(stage.dims)).key
    return repr((stage.dtype, str(stage.op), domain, parts, accumulations))


def _canonical(dims: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"0d{k}" for k in range(len(dims)))


def _renaming(dims: tuple[str, ...]) -> dict[str, Affine]:
    return {d: Affine.name(c) for d, c in zip(dims, _canonical(dims), strict=True)}


def _key_text(stage: Stage, expr: Expr, dims: tuple[str, ...]) -> str:
    """The structure of an expression under canonical names of its dimensions and of the stage itself."""
    names = _renaming(dims)

    def leaf(node: Expr) -> Expr:
        match node:
            case Variable(name=name, dtype=dtype) if name in names:
                return index_variable(str(names[name]), dtype)
            case Load(source, indices, dtype):
                ref = replace(source, name=ITSELF) if source.name == stage.name else source
                return Load(ref, tuple(form.substitute(names) for form in indices), dtype)
            case _:
                return node

    return structure(rebuild(expr, leaf))


def _part_key(stage: Stage, part: Part) -> tuple[str, str, bool]:
    domain = part.domain.renamed(_canonical(stage.dims)).key
    return (domain, _key_text(stage, part.expr, stage.dims), part.fills)


def _accumulation_key(stage: Stage, accumulation: Accumulation) -> tuple[str, str, str]:
    names = _renaming(accumulation.dims)
    forms = [form.substitute(names) for form in accumulation.target]
    target = f"{', '.join(map(str, forms))} {[structure(atom.value) for atom in computed_in(forms)]}"
    domain = accumulation.domain.renamed(_canonical(accumulation.dims)).key
    return (domain, target, _key_text(stage, accumulation.expr, accumulation.dims))
