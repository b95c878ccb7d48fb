"""Expressions that several sums or results compute at the same points, once for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from polymat.dataclass import dataclass
from polymat.graph.inline import CHEAP_OPERATIONS, MOST_NODES
from polymat.graph.operations import expression_operations
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Variable
from polymat.lang.expressiontext import number_nodes
from polymat.lang.indices import index_variable
from polymat.lang.table import Lookup
from polymat.lang.traverse import rebuild, walk
from polymat.model.confidence import CLEARLY
from polymat.poly.domain import Domain
from polymat.rewrite.madestages import reads_inside

MOST_TRIED = 4  # expressions, for each of which the pipeline is decided once more

Predict = Callable[[Pipeline], tuple[float, frozenset[str]]]  # seconds, and the stages that live in tiles
Called = Callable[[Stage, Pipeline], bool]


def share_expressions(pipeline: Pipeline, predict: Predict, is_called: Called) -> Pipeline:
    """Make a stage of an expensive expression that several stages compute, where that is predicted to pay.

    Only of one that tiles keep: an array over all points of a sum may be larger than all that the user has.

    predict: the seconds of a pipeline, and which of its stages are in no array.  is_called: whether a
    library, or register blocks, compute a stage.

    before:  f(i) = min over j of sqrt(d(i, j));  g(i) = sum over j of sqrt(d(i, j))
    after:   t(i, j) = sqrt(d(i, j));  f(i) = min over j of t(i, j);  g(i) = sum over j of t(i, j)
    """
    search = _Search(is_called)
    found = search.largest(pipeline)
    if found is None:
        return pipeline
    seconds, _ = predict(pipeline)
    for _ in range(MOST_TRIED):
        if found is None:
            break
        made, name = _shared(pipeline, found)
        then, in_tiles = predict(made)
        if name in in_tiles and then < CLEARLY * seconds:
            pipeline, seconds = made, then
        search.tried.add(found.key)
        found = search.largest(pipeline)
    return pipeline


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """A right-hand side over a box.

    expr: with the dimensions under names by their positions.  numbers: of its nodes by identity, equal for
    nodes of all items that are built alike.
    """

    stage: Stage
    dims: tuple[str, ...]
    box: Bounds
    expr: Expr
    numbers: Mapping[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class _CommonPart:
    """An expression, and the items that compute it."""

    number: int
    node: Expr
    items: tuple[_Item, ...]

    @property
    def key(self) -> tuple[int, Bounds]:
        """What it is told by in any pipeline of a search."""
        return self.number, self.items[0].box


@dataclass(slots=True)
class _Search:
    """What expressions were looked at already, and the numbers of all their nodes."""

    is_called: Called
    tried: set[tuple[int, Bounds]] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)

    def largest(self, pipeline: Pipeline) -> _CommonPart | None:
        """The most expensive expression that several stages compute and that was not tried yet."""
        by_box: dict[Bounds, list[_Item]] = {}
        for item in self._items(pipeline):
            by_box.setdefault(item.box, []).append(item)
        common = [each for items in by_box.values() for each in self._common(items)]
        common.sort(key=lambda each: -expression_operations(each.node))
        free = (each for each in (self._uncalled(found, pipeline) for found in common) if each is not None)
        return next((found for found in free if reads_inside(_stage(found, "_pm"), pipeline)), None)

    def _items(self, pipeline: Pipeline) -> Iterator[_Item]:
        wholes = [(stage, part) for stage in pipeline.stages if (part := _whole(stage)) is not None]
        often = Counter(_box(stage, part) for stage, part in wholes)
        for stage, part in wholes:
            box = _box(stage, part)
            if often[box] > 1:
                dims = part.dims if isinstance(part, Accumulation) else stage.dims
                expr = _renamed(part.expr, dims, _positions(dims))
                numbers = number_nodes(expr, self.numbers)
                if len(numbers) <= MOST_NODES:
                    yield _Item(stage, dims, box, expr, numbers)

    def _common(self, items: Sequence[_Item]) -> Iterator[_CommonPart]:
        users: dict[int, list[_Item]] = {}
        for item in items:
            for number in set(item.numbers.values()):
                users.setdefault(number, []).append(item)
        for item in items:
            for node in walk(item.expr):
                number = item.numbers[id(node)]
                using = users.get(number, [])
                if len(using) < 2 or using[0] is not item or (number, item.box) in self.tried:
                    continue
                if _is_worth(node, item):
                    yield _CommonPart(number, node, tuple(using))

    def _uncalled(self, found: _CommonPart, pipeline: Pipeline) -> _CommonPart | None:
        """What is left of it where no library, and no register blocks, compute the whole stage."""
        items = tuple(item for item in found.items if not self.is_called(item.stage, pipeline))
        return replace(found, items=items) if len(items) > 1 else None


def _whole(stage: Stage) -> Part | Accumulation | None:
    """The only right-hand side of a stage, of a sum what it adds up, if that is over a box."""
    if stage.reads_itself:
        return None
    if stage.is_reduction:
        if len(stage.accumulations) != 1 or not stage.accumulations[0].is_aligned:
            return None
        return stage.accumulations[0] if stage.accumulations[0].domain.is_box() else None
    return stage.parts[0] if len(stage.parts) == 1 and stage.parts[0].domain.is_box() else None


def _box(stage: Stage, part: Part | Accumulation) -> Bounds:
    return part.box if isinstance(part, Accumulation) else stage.box


def _is_worth(node: Expr, item: _Item) -> bool:
    """Whether an expression is expensive, runs along all dimensions, and can be computed at any point."""
    if node.dtype.kind != "f" or node.dtype.weak or not all(_is_index(low) for low, _ in item.box):
        return False
    if len(item.dims) < 2 or expression_operations(node) <= CHEAP_OPERATIONS:
        return False
    nodes = list(walk(node))
    names = {
        name for each in nodes if isinstance(each, Load) for form in each.indices for name in form.names()
    }
    return names.issuperset(_positions(item.dims)) and not any(_may_fail(each) for each in nodes)


def _is_index(low: Affine) -> bool:
    return low.is_constant and low.const >= 0


def _may_fail(node: Expr) -> bool:
    """Whether a node must not be computed at points where it was not asked for."""
    if isinstance(node, Binary) and node.dtype.kind != "f" and node.op in ("//", "%", "/"):
        return not isinstance(node.right, Const)
    return isinstance(node, Lookup)


def _shared(pipeline: Pipeline, found: _CommonPart) -> tuple[Pipeline, str]:
    """The pipeline with a stage of an expression, which the others read, and the name of that."""
    name = free_name(f"{found.items[0].stage.name}_shared", names_taken(pipeline))
    made = _stage(found, name)
    users = {item.stage.name: item for item in found.items}
    stages: list[Stage] = []
    for stage in pipeline.stages:
        if stage is found.items[0].stage:
            stages.append(made)
        item = users.get(stage.name)
        stages.append(stage if item is None else _reading(item, found.number, made))
    note = f"{name}: computed once for {' and '.join(users)}"
    return replace(pipeline, stages=tuple(stages), notes=(*pipeline.notes, note)), name


def _stage(found: _CommonPart, name: str) -> Stage:
    item = found.items[0]
    domain = Domain.box(tuple(item.stage.domain.params), item.dims, item.box)
    value = _renamed(found.node, _positions(item.dims), item.dims)
    part = Part(domain, None, value, item.stage.at)
    return Stage(name, value.dtype, item.dims, item.box, domain, (part,), None, (), item.stage.at)


def _reading(item: _Item, number: int, made: Stage) -> Stage:
    """A stage that reads an expression instead of computing it."""
    dims = _positions(item.dims)
    element = Load(made.ref, tuple(map(Affine.name, dims)), made.dtype)

    def instead(node: Expr) -> Expr | None:
        return element if item.numbers.get(id(node)) == number else None

    expr = rebuild(item.expr, lambda leaf: leaf, instead=instead)
    expr = _renamed(expr, dims, item.dims)
    stage = item.stage
    if stage.is_reduction:
        return replace(stage, accumulations=(replace(stage.accumulations[0], expr=expr),))
    return replace(stage, parts=(replace(stage.parts[0], expr=expr),))


def _positions(dims: Sequence[str]) -> tuple[str, ...]:
    """Names of dimensions by their positions, which no user can give."""
    return tuple(f"0d{k}" for k in range(len(dims)))


def _renamed(expr: Expr, dims: Sequence[str], names: Sequence[str]) -> Expr:
    """An expression with other names of its dimensions."""
    known = dict(zip(dims, names, strict=True))
    forms = {dim: Affine.name(name) for dim, name in known.items()}

    def leaf(node: Expr) -> Expr:
        match node:
            case Variable(name=name, dtype=dtype) if name in known:
                return index_variable(known[name], dtype)
            case Load(source, indices, dtype):
                return Load(source, tuple(form.substitute(forms) for form in indices), dtype, node.at)
            case _:
                return node

    return rebuild(expr, leaf)
