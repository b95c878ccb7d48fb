"""Why sums that libraries were asked for, or that look like products of matrices, are no calls, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polymat.decide.callplans import CallPlanner
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.idiom.find import Found
from polymat.idiom.unfiltered import is_sliding
from polymat.lang.expr import Binary, Expr
from polymat.lang.reduction import Op
from polymat.lang.traverse import loads_in, walk
from polymat.options import Options
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan


def uncalled(
    pipeline: Pipeline, plans: Sequence[Plan], calls: CallPlanner, options: Options
) -> tuple[str, ...]:
    """A sentence for each sum that no routine computes although one was wanted: where it is, and why.

    With `blas="always"` that is every sum which is no call; with "auto", those in loops that use their
    elements as products of matrices do, but are none.
    """
    if options.blas == "never":
        return ()
    found = ((name, plan) for each in plans for name, plan in _sums(each, pipeline))
    notes = [_note(pipeline.stage(name), plan, pipeline, calls, options) for name, plan in found]
    return tuple(note for note in notes if note)


def _sums(plan: Plan, pipeline: Pipeline) -> Iterator[tuple[str, NestPlan]]:
    """The stages of a group that sum up, each with what computes it."""
    names = [member.stage for member in plan.members] or plan.group.stages
    return ((name, plan.part(name)) for name in names if pipeline.stage(name).is_reduction)


def _note(stage: Stage, plan: NestPlan, pipeline: Pipeline, calls: CallPlanner, options: Options) -> str:
    if plan.library:
        return ""
    wanted = options.blas == "always"
    near = not plan.by_blocks and (looks_like_product(stage) or is_sliding(stage))
    if not wanted and not near:
        return ""
    found = calls.find((stage.name,))
    if found.is_transform_like or ((found.idiom or found.filter) and not wanted):
        return ""  # the rewriting tells of transforms; the costs of calls that are not worth it
    what = "filter" if found.no_filter and not found.idiom else "library call"
    return f"{pipeline.located(stage)} is no {what}: {_reason(found)}"


def _reason(found: Found) -> str:
    if found.idiom is not None:
        return f"{found.idiom} is not called in this group"
    if found.filter is not None:
        return f"a {found.filter}, which libraries have not"
    return found.no_filter or found.reason


def looks_like_product(stage: Stage) -> bool:
    """Whether elements are multiplied and added up, each of them for several indices of the others."""
    if not stage.is_reduction or stage.operation is not Op.Sum:
        return False
    return any(_reuses(item.expr, item.dims) for item in stage.accumulations)


def _reuses(expr: Expr, dims: Sequence[str]) -> bool:
    products = (node for node in walk(expr) if isinstance(node, Binary) and node.op == "*")
    multiplied = any(_moving(node.left, dims) and _moving(node.right, dims) for node in products)
    return multiplied and all(len(names) < len(dims) for names in _moving(expr, dims))


def _moving(expr: Expr, dims: Sequence[str]) -> list[set[str]]:
    """The indices in each element of an expression that moves with one."""
    loads = loads_in(expr)
    names = ({n for form in load.indices for n in form.names() if n in dims} for load in loads)
    return [each for each in names if each]
