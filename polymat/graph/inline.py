"""Substitute point-wise stages into their readers: a rewrite of the pipeline, before it is partitioned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from math import inf

from polymat.graph.absorbed import is_absorbed, is_load_of
from polymat.graph.accesses import loads_with_domains
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import map_expressions
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine, computed_in
from polymat.lang.computed import affine_value
from polymat.lang.condition import Condition
from polymat.lang.expr import Call, CastExpr, Const, Expr, Load, Parameter, SelectExpr, Variable
from polymat.lang.sharing import computed_once, evaluated
from polymat.lang.traverse import children, comparisons, condition_operands, fold, rebuild, walk
from polymat.poly.access import Access
from polymat.poly.domain import Domain

CHEAP_OPERATIONS = 8
CHEAP_READS = 3
MOST_NODES = 400  # of an expression that inlining makes: deeper ones are hard on the C compiler


def inline_pointwise(
    pipeline: Pipeline,
    is_called: Callable[[Stage, Domain], bool] | None = None,
    kept: Collection[str] = (),
) -> Pipeline:
    """Substitute each point-wise stage whose values are used at one point alone, plain copies, cheap updates.

    What one reader takes at one of its points, however often, is computed there once (`computed_once`).

    A cheap update reads one array of its own rank and otherwise only smaller ones (A + u v^T): computing it
    again moves no more data than reading it back, and it need not be stored.

    is_called: whether a library, or register blocks, compute a sum or a recurrence.  Nothing is put into one
    that they would not compute then: a copy to b(i // 8, i % 8) has no stride, one from another precision is
    no element.  kept: stages that stay as they are.

    before:  t(i) = a(i) + 1;  y(i) = 2 * t(i)
    after:   y(i) = 2 * (a(i) + 1)

    before:  t(i) = a(i) + 1;  y(i) = t(i) * t(i)
    after:   y(i) = s * s, s = a(i) + 1
    """
    found = _inlined(pipeline, is_called, kept)
    while len(found.stages) < len(pipeline.stages):  # what has one reader instead of two may follow
        pipeline, found = found, _inlined(found, is_called, kept)
    return found


def _inlined(
    pipeline: Pipeline, is_called: Callable[[Stage, Domain], bool] | None, kept: Collection[str]
) -> Pipeline:
    """Go through the stages once."""
    stages = {stage.name: stage for stage in pipeline.stages}
    # Producers come first, so what is substituted into a reader reads nothing that is still to be looked at.
    readers: dict[str, list[str]] = {name: [] for name in stages}
    for stage in pipeline.stages:
        for source in dict.fromkeys(load.source.name for load in stage.loads()):
            readers.get(source, []).append(stage.name)
    for name in [stage.name for stage in pipeline.stages if stage.name not in pipeline.outputs]:
        producer, reading = stages[name], [stages[reader] for reader in readers[name]]
        if name in kept or not _is_pointwise(producer) or not _may_inline(producer, reading):
            continue
        changed = {reader.name: substitute(reader, producer) for reader in reading}
        if is_called is not None and any(
            (reader.is_reduction or reader.reads_itself)
            and is_called(reader, pipeline.context)
            and not is_called(changed[reader.name], pipeline.context)
            for reader in reading
        ):
            continue
        stages |= changed
        del stages[name]
    return pipeline.with_stages(tuple(stages.values()))


def _is_pointwise(stage: Stage) -> bool:
    return not stage.is_reduction and len(stage.parts) == 1 and not stage.reads_itself


def _is_copy(stage: Stage) -> bool:
    expr = stage.parts[0].expr
    while isinstance(expr, CastExpr):
        expr = expr.operand
    return isinstance(expr, Load | Const | Parameter)


def into_only_readers(pipeline: Pipeline, inlined: Callable[[Stage, Stage], Stage | None]) -> Pipeline:
    """The pipeline with stages put into the only one that reads each; none where it has an order of its own.

    inlined: the reader with a stage in it, or None.
    """
    if pipeline.states or pipeline.sliced or pipeline.followed or pipeline.waiting is not None:
        return pipeline
    stages = {stage.name: stage for stage in pipeline.stages}
    for name in [stage.name for stage in pipeline.stages if stage.name not in pipeline.outputs]:
        readers = [each for each in stages.values() if any(load.source.name == name for load in each.loads())]
        reader = inlined(stages[name], readers[0]) if len(readers) == 1 else None
        if reader is not None:
            stages[reader.name] = reader
            del stages[name]
    return pipeline if len(stages) == len(pipeline.stages) else pipeline.with_stages(tuple(stages.values()))


def node_count(stage: Stage) -> int:
    """Distinct nodes of all right-hand sides."""
    return sum(1 for _, expr in stage.expressions() for _ in walk(expr))


def _may_inline(producer: Stage, readers: list[Stage]) -> bool:
    if any(_looks_up(producer, reader) for reader in readers):
        return False
    if _is_copy(producer):
        return True
    if computed_once(producer.parts[0].expr) and not all(is_read_freely(producer, each) for each in readers):
        return False
    if node_count(producer) + max((node_count(reader) for reader in readers), default=0) > MOST_NODES:
        return False
    reads = sum(_times_read(producer, reader) for reader in readers)
    if reads > 1 and any(compared_as_equal(producer, reader) for reader in readers):
        return False
    if _is_computed_again(producer, readers):
        return True
    most = CHEAP_READS if _is_cheap(producer) else 1
    once = len(readers) == 1 and _is_used_once(producer, readers[0])
    if reads > most and not once and not is_absorbed(producer, readers):
        return False
    return all(access.is_injective() for reader in readers for access in _accesses(producer, reader))


def _is_computed_again(producer: Stage, readers: Sequence[Stage]) -> bool:
    """Whether computing values wherever they are read takes few operations, and no further pass over memory.

    What several points of a reader read, all planes say, counts for each of them; these are a few, of known
    number.
    """
    if not _is_cheap(producer) or any(reader.is_reduction or reader.reads_itself for reader in readers):
        return False
    total = 0.0
    for reader in readers:
        if _times_read(producer, reader) > CHEAP_READS:
            return False
        loads = [
            node for _, expr in reader.expressions() for node in walk(expr) if is_load_of(node, producer)
        ]
        total += sum(_points_of(load, reader) for load in loads)
    return total * _operations(producer) <= CHEAP_READS * CHEAP_OPERATIONS


def _points_of(load: Load, reader: Stage) -> float:
    """How many points of a reader take the same element; infinite where it is not the same few everywhere."""
    used = {atom for form in load.indices for atom, _ in form.terms}
    count = 1.0
    for dim, (low, high) in zip(reader.dims, reader.box, strict=True):
        if dim not in used:
            extent = high - low + 1
            count *= max(extent.const, 1) if extent.is_constant else inf
    return count


def _looks_up(producer: Stage, reader: Stage) -> bool:
    """Whether a stage is read at computed indices: its values are computed once, wherever they are read."""
    return any(load.source.name == producer.name and computed_in(load.indices) for load in reader.loads())


def compared_as_equal(producer: Stage, reader: Stage) -> bool:
    """Whether a reader asks which of the producer's values equals another, the largest of a row say.

    The values are computed once then: the compiler may round a product and its sum once in one loop and twice
    in another, and nothing would be equal.
    """
    conditions = (node.condition for _, expr in reader.expressions() for node in _selects(expr))
    compared = (each for condition in conditions for each in _equalities(condition))
    return producer.dtype.kind == "f" and any(
        isinstance(node, Load) and node.source.name == producer.name
        for condition in compared
        for operand in condition_operands(condition)
        for node in walk(operand)
    )


def _selects(expr: Expr) -> list[SelectExpr]:
    return [node for node in walk(expr) if isinstance(node, SelectExpr)]


def _equalities(condition: Condition) -> list[Condition]:
    """The comparisons for equality of two values of which neither is the same at all points.

    Whether a value is equal to itself, which asks for NaN, is none of them.
    """
    return [
        each
        for each in comparisons(condition)
        if each.op in ("==", "!=")
        and each.left != each.right
        and not any(isinstance(side, Const | Parameter) for side in (each.left, each.right))
    ]


def _is_cheap(producer: Stage) -> bool:
    """Whether computing it again costs a few operations and no further pass over memory."""
    nodes = list(walk(producer.parts[0].expr))
    if any(isinstance(node, Call) for node in nodes) or len(producer.dims) < 2:
        return False
    loads = [node for node in nodes if isinstance(node, Load)]
    rank = len(producer.dims)
    whole = [load for load in loads if len({n for form in load.indices for n in form.names()}) >= rank]
    return len(whole) <= 1 and _operations(producer) <= CHEAP_OPERATIONS


def _operations(producer: Stage) -> int:
    """Operations of a point."""
    return len([node for node in walk(producer.parts[0].expr) if children(node)])


def _times_read(producer: Stage, reader: Stage) -> int:
    """How often the reader's expressions, with everything shared written out, load the producer."""

    def times(node: Expr, parts: tuple[int, ...]) -> int:
        return sum(parts) + (isinstance(node, Load) and node.source.name == producer.name)

    return sum(fold(expr, times) for _, expr in reader.expressions())


def _is_used_once(producer: Stage, reader: Stage) -> bool:
    """Whether a reader takes each value at one of its points alone, however often there.

    So it is of x(i) * x(i), and of f(0, i) + f(1, i).
    """
    reading = [
        expr for _, expr in reader.expressions() if any(is_load_of(node, producer) for node in walk(expr))
    ]
    if len(reading) != 1 or reader.reads_itself or not is_read_freely(producer, reader):
        return False
    places = {node.indices: None for node in walk(reading[0]) if is_load_of(node, producer)}
    return all(_are_apart(one, other) for one, other in combinations(places, 2))


def is_read_freely(producer: Stage, reader: Stage) -> bool:
    """Whether no index chooses whether a value is read: it would have no name that all places could use."""

    def count(operands: Callable[[Expr], tuple[Expr, ...]]) -> int:
        nodes = (node for _, expr in reader.expressions() for node in walk(expr, operands))
        return sum(is_load_of(node, producer) for node in nodes)

    return count(evaluated) == count(children)


def _are_apart(one: tuple[Affine, ...], other: tuple[Affine, ...]) -> bool:
    """Whether two places are never the same, whatever the indices: one of theirs is another number."""
    return any(
        a.is_constant and b.is_constant and a.const != b.const for a, b in zip(one, other, strict=True)
    )


def _accesses(producer: Stage, reader: Stage) -> list[Access]:
    return [
        Access.of(where, load.indices)
        for domain, expr in reader.expressions()
        for where, load in loads_with_domains(domain, expr)
        if load.source.name == producer.name
    ]


def substitute(reader: Stage, producer: Stage) -> Stage:
    """Replace the reader's loads of the producer by the producer's expression, one for all of a point."""
    values: dict[tuple[Affine, ...], Expr] = {}

    def leaf(node: Expr) -> Expr:
        if not (isinstance(node, Load) and node.source.name == producer.name):
            return node
        if node.indices not in values:
            values[node.indices] = _value_at(producer, node.indices)
        return values[node.indices]

    return map_expressions(reader, lambda expr: rebuild(expr, leaf))


def _value_at(producer: Stage, indices: tuple[Affine, ...]) -> Expr:
    values = dict(zip(producer.dims, indices, strict=True))

    def leaf(node: Expr) -> Expr:
        match node:
            case Load(source, inner):
                return Load(source, tuple(form.substitute(values) for form in inner), node.dtype, node.at)
            case Variable(name=name) if name in values:  # others are sizes, the number of a step say
                value = affine_value(values[name])
                return value if value.dtype == node.dtype else CastExpr(value, node.dtype)
            case _:
                return node

    expr = rebuild(producer.parts[0].expr, leaf)
    return expr if expr.dtype == producer.dtype else CastExpr(expr, producer.dtype)
