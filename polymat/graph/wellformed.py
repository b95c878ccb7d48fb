"""What every rewrite of a pipeline leaves as it was: names with one meaning, reads of what there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from polymat.errors import InternalError
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import computed_in
from polymat.lang.expr import Expr, Load, Variable
from polymat.lang.traverse import walk


def check_form(pipeline: Pipeline) -> None:
    """Raise an `InternalError` that says what is wrong with a pipeline, if anything is."""
    for fault in _faults(pipeline):
        raise InternalError(f"bug in polymat: {fault}")


def _faults(pipeline: Pipeline) -> Iterator[str]:
    known = {array.name: len(array.extents) for array in pipeline.inputs}
    names = Counter((*known, *(stage.name for stage in pipeline.stages)))
    yield from (f"{name} is the name of {count} arrays" for name, count in names.items() if count > 1)
    stages, sizes = {stage.name for stage in pipeline.stages}, {size.name for size in pipeline.sizes}
    yield from (f"the output {name} is no stage" for name in pipeline.outputs if name not in stages)
    for stage in pipeline.stages:
        own = {each.name: len(each.dims) for each in pipeline.stages if each.name in stage.circle}
        known |= own or {stage.name: len(stage.dims)}  # which may read itself
        yield from (f"{stage.name}: {fault}" for fault in _faults_of(stage, sizes))
        yield from (f"{stage.name} {fault}" for load in stage.loads() for fault in _misread(load, known))


def _faults_of(stage: Stage, sizes: Collection[str]) -> Iterator[str]:
    if (stage.op is None) != (not stage.accumulations):
        yield "a reduction has an operation and sums, a function neither"
    yield from _misnamed("its", stage.dims, len(stage.bounds), stage.domain.dims)
    for part in stage.parts:
        yield from _unknown(part.expr, stage.dims, sizes)
        if part.domain.dims != stage.dims:
            yield f"a part over {_list(part.domain.dims)} of a stage over {_list(stage.dims)}"
    for item in stage.accumulations:
        yield from _misnamed("a sum's", item.dims, len(item.bounds), item.domain.dims)
        for expr in (item.expr, *(atom.value for atom in computed_in(item.target))):
            yield from _unknown(expr, item.dims, sizes)
        if len(item.target) != len(stage.dims):
            yield f"a sum into {len(item.target)} indices of {len(stage.dims)}"


def _misnamed(whose: str, dims: Sequence[str], bounds: int, inside: Sequence[str]) -> Iterator[str]:
    if len({*dims}) < len(dims):
        yield f"{whose} dimensions {_list(dims)} have a name twice"
    if bounds != len(dims) or tuple(inside) != tuple(dims):
        yield f"{whose} dimensions are {_list(dims)}, of its domain {_list(inside)}, with {bounds} intervals"


def _unknown(expr: Expr, dims: Collection[str], sizes: Collection[str]) -> Iterator[str]:
    """Names that are neither dimensions nor sizes, which rewrites write into values as names like these."""
    for node in walk(expr):
        if isinstance(node, Variable) and node.name not in dims and node.name not in sizes:
            yield f"{node.name} is none of its dimensions {_list(dims)}"


def _misread(load: Load, known: dict[str, int]) -> Iterator[str]:
    name = load.source.name
    if name not in known:
        yield f"reads {name}, which does not come before it"
    elif known[name] != len(load.indices):
        yield f"reads {name}, of {known[name]} dimensions, with {len(load.indices)} indices"


def _list(names: Collection[str]) -> str:
    return f"[{', '.join(names)}]"
