"""What a row of look-ups makes of several elements at one place, for all places first.

A row of an image looks up a grid at (x // 8, y // 8, level of the pixel), and what it makes of two rows of
the grid depends on the row of the image and on the place alone.  The grid has fewer places in a row than the
image has pixels, and they are neighbours, for which there are vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Bounds, Part, Ref, Stage
from polymat.lang.affine import Affine, Computed, computed_in, extremes
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load, Unary, Variable
from polymat.lang.expressiontext import number_nodes
from polymat.lang.traverse import children, loads_in, rebuild, walk
from polymat.poly.domain import Domain
from polymat.rewrite.madestages import reads_inside
from polymat.tilesize.stagework import points

LEAST_READS = 2  # at a computed place, of what is read there once instead

Kept = Callable[[Pipeline], frozenset[str]]
Limits = tuple[Affine, Affine]


def share_lookups(pipeline: Pipeline, kept: Kept, sizes: Mapping[str, int]) -> Pipeline:
    """Make a stage of what several look-ups of a row are combined to, where it has fewer points than these.

    Only of one that tiles keep: over all rows it would be larger than what is looked up.

    kept: the stages of a pipeline that are in no array.  sizes: what sizes are about.

    before:  y(i, j) = f(i) * a(i // 8, p) + a(i // 8 + 1, p), p = Clamp(x(i, j), 0, 9)
    after:   t(i, k) = f(i) * a(i // 8, k) + a(i // 8 + 1, k);  y(i, j) = t(i, Clamp(x(i, j), 0, 9))
    """
    for stage in pipeline.stages:
        found = _largest(stage)
        if found is None:
            continue
        made, name = _shared(pipeline, stage, found)
        if not reads_inside(made.stage(name), pipeline):
            continue
        if _saved(found) * points(stage.box, sizes) > points(made.stage(name).box, sizes):
            pipeline = made if name in kept(made) else pipeline
    return pipeline


def _saved(found: Sequence[_Found]) -> int:
    """Look-ups of a point that are not made any more."""
    places = {(load.indices, load.source.name) for each in found for load in _loads(each.node)}
    return len(places) - len({_places(each) for each in found})


@dataclass(frozen=True, slots=True, eq=False)
class _Moving:
    """An index of what is looked up, in place of which the new stage has a dimension.

    place: its position.  dim: that dimension.  at: where the stage is read along it, and between which limits
    that lies.
    """

    place: int
    dim: str
    at: Affine
    limits: Limits


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A node that can be computed for all places, and what of: the array, and the dimensions of the stage.

    value: the node with its dimensions in place of what moves along the row.  order: all dimensions, in the
    order of the array.
    """

    node: Expr
    value: Expr
    moving: tuple[_Moving, ...]
    order: tuple[str, ...]


def _largest(stage: Stage) -> list[_Found] | None:
    """The nodes of one kind that would be read of one stage; None where no row has any."""
    if stage.is_reduction or stage.reads_itself or len(stage.parts) != 1 or len(stage.dims) < 2:
        return None
    (part,) = stage.parts
    if not part.domain.is_box() or not any(computed_in(load.indices) for load in stage.loads()):
        return None
    kinds: dict[object, list[_Found]] = {}
    numbers: dict[str, int] = {}
    for node in _outermost(part.expr, stage):
        found = _found(node, stage)
        if found is not None:
            number = number_nodes(found.value, numbers)[id(found.value)]
            ends = tuple(each.limits[1] - each.limits[1].const for each in found.moving)
            kinds.setdefault((number, found.order, ends), []).append(found)
    return max(kinds.values(), key=len, default=None)


def _outermost(expr: Expr, stage: Stage) -> Iterator[Expr]:
    """The largest nodes that are made of several elements at one computed place, and of what the row is.

    What is made of neighbouring places is left to the reader: each of them is one of the new stage.
    """
    fixed: dict[int, bool] = {}

    def is_fixed(node: Expr) -> bool:
        if id(node) not in fixed:
            fixed[id(node)] = _is_fixed(node, stage) and all(map(is_fixed, _operands(node)))
        return fixed[id(node)]

    def is_whole(node: Expr) -> bool:
        return is_fixed(node) and _is_at_one_place(node, stage)

    for node in walk(expr, lambda node: () if is_whole(node) else children(node)):
        if is_whole(node) and len({load.indices for load in _loads(node)}) >= LEAST_READS:
            yield node


def _is_at_one_place(node: Expr, stage: Stage) -> bool:
    """Whether the elements of a node differ in no index that moves along a row."""
    for forms in zip(*(load.indices for load in _loads(node)), strict=False):
        if len(set(forms)) > 1 and any(_along_row(form, stage).terms for form in forms):
            return False
    return True


def _operands(node: Expr) -> tuple[Expr, ...]:
    """The operands of a node, without the values that places are computed by."""
    return () if isinstance(node, Load) else children(node)


def _loads(node: Expr) -> list[Load]:
    return loads_in(node, _operands)


def _is_fixed(node: Expr, stage: Stage) -> bool:
    """Whether a node by itself is the same at all points of a row that look up the same place."""
    row = stage.dims[-1]
    match node:
        case Const():
            return True
        case Variable(name=name):
            return name in stage.dims and name != row
        case Load(indices=indices):
            computed = computed_in(indices)
            known = bool(computed) and all(each.limits is not None for each in computed)
            return known and all(form.coefficient(row) == 0 for form in indices)
        case Binary("//" | "%", _, right):
            return isinstance(right, Const)
        case Unary() | Binary() | CastExpr():
            return True
        case _:
            return False


def _found(node: Expr, stage: Stage) -> _Found | None:
    """How the node is computed for all places; None where its elements are not those of one array alike."""
    loads = _loads(node)
    if node.dtype.kind != "f" or node.dtype.weak or len({load.source.name for load in loads}) > 1:
        return None
    moving: list[_Moving] = []
    order: dict[str, None] = {}
    for place, forms in enumerate(zip(*(load.indices for load in loads), strict=True)):
        at = _along_row(forms[0], stage) + forms[0].const
        if at.terms or set(forms) == {at}:
            limits = _limits(at, stage)
            if limits is None:
                return None
            moving.append(_Moving(place, f"0d{place}", at, limits))
            order[moving[-1].dim] = None
        names = (name for form in forms for name in (form - at).names())
        order |= dict.fromkeys(name for name in names if name in stage.dims)
    order |= dict.fromkeys(each.name for each in walk(node, _operands) if isinstance(each, Variable))
    return _Found(node, _for_all(node, moving), tuple(moving), tuple(order))


def _along_row(form: Affine, stage: Stage) -> Affine:
    """The terms of an index that differ along a row: what is computed, and divisions of the dimension."""
    row = stage.dims[-1]
    terms = (each for each in form.terms if isinstance(each[0], Computed) or row in Affine((each,)).names())
    return Affine(tuple(terms))


def _limits(form: Affine, stage: Stage) -> Limits | None:
    """Between which limits a form lies; None where it may be negative."""
    known: dict[Computed, Affine] = {}
    bounds = dict(zip(stage.dims, stage.box, strict=True))
    for number, each in enumerate(computed_in([form])):
        if each.limits is None:
            return None
        known[each] = Affine.name(f"0v{number}")
        bounds[f"0v{number}"] = Affine((), each.limits[0]), Affine((), each.limits[1])
    low, high = extremes(form.with_computed(known), bounds)
    return (low, high) if low.is_constant and low.const >= 0 else None


def _for_all(node: Expr, moving: Sequence[_Moving]) -> Expr:
    """The node with dimensions instead of what moves along a row."""

    def leaf(each: Expr) -> Expr:
        if not isinstance(each, Load):
            return each
        indices = list(each.indices)
        for one in moving:
            indices[one.place] = indices[one.place] - one.at + Affine.name(one.dim)
        return Load(each.source, tuple(indices), each.dtype, each.at)

    loads: dict[int, Expr] = {id(each): leaf(each) for each in _loads(node)}
    return rebuild(node, lambda each: each, instead=lambda each: loads.get(id(each)))


def _shared(pipeline: Pipeline, stage: Stage, found: Sequence[_Found]) -> tuple[Pipeline, str]:
    """The pipeline with a stage of what the nodes compute, and the name of that."""
    name = free_name(f"{stage.name}_places", names_taken(pipeline))
    made = _stage(name, stage, found)
    at = {id(each.node): _element(made.ref, each) for each in found}
    (part,) = stage.parts
    expr = rebuild(part.expr, lambda leaf: leaf, instead=lambda node: at.get(id(node)))
    reading = replace(stage, parts=(replace(part, expr=expr),))
    stages: list[Stage] = []
    for each in pipeline.stages:
        stages += [made, reading] if each is stage else [each]
    array = _loads(found[0].node)[0].source.name
    note = f"{name}: what {stage.name} makes of {array} along a row, for all places that it looks up"
    return replace(pipeline, stages=tuple(stages), notes=(*pipeline.notes, note)), name


def _stage(name: str, stage: Stage, found: Sequence[_Found]) -> Stage:
    """The stage of a value, over all places at which it is read."""
    first = found[0]
    own: dict[str, Limits] = dict(zip(stage.dims, stage.box, strict=True))
    names = _names(stage, first)
    for k, one in enumerate(first.moving):
        lows = [each.moving[k].limits[0].const for each in found]
        ends = [each.moving[k].limits[1] for each in found]
        last = max(ends, key=lambda form: form.const)
        own[one.dim] = Affine((), min(lows)), last
    dims = tuple(names.get(dim, dim) for dim in first.order)
    bounds: Bounds = tuple(own[dim] for dim in first.order)
    domain = Domain.box(tuple(stage.domain.params), dims, bounds)
    value = _renamed(first.value, names)
    part = Part(domain, None, value, stage.at)
    return Stage(name, value.dtype, dims, bounds, domain, (part,), None, (), stage.at)


def _names(stage: Stage, found: _Found) -> Mapping[str, str]:
    """Names of the new dimensions that no others have, nor sizes."""
    taken = {*stage.dims, *stage.domain.params}
    names: dict[str, str] = {}
    for one in found.moving:
        names[one.dim] = free_name(f"place{one.place}", taken)
        taken.add(names[one.dim])
    return names


def _renamed(value: Expr, names: Mapping[str, str]) -> Expr:
    forms = {dim: Affine.name(name) for dim, name in names.items()}

    def leaf(node: Expr) -> Expr:
        if not isinstance(node, Load):
            return node
        return Load(node.source, tuple(form.substitute(forms) for form in node.indices), node.dtype, node.at)

    return rebuild(value, leaf)


def _element(ref: Ref, found: _Found) -> Load:
    """Where a node is in the new stage."""
    return Load(ref, _places(found), ref.dtype)


def _places(found: _Found) -> tuple[Affine, ...]:
    places = {one.dim: one.at for one in found.moving}
    return tuple(places.get(dim, Affine.name(dim)) for dim in found.order)
