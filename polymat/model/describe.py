"""From stages to the nest that the cost models see, with estimates for the sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import ceil, prod

from polymat.dataclass import dataclass
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.affine import Affine, FloorDiv, extremes, without_computed
from polymat.lang.expr import Binary, Call, Expr, Unary
from polymat.lang.traverse import has_loads, loads_in, walk
from polymat.lang.types import ScalarType
from polymat.model.assumed import UNKNOWN_EXTENT
from polymat.model.estimates import once_a_stage
from polymat.model.loopnest import Dim, LoopNest, Statement
from polymat.model.reference import Reference
from polymat.model.segmentrows import segment_rows

Placement = Mapping[str, str | Affine]
Placed = tuple[tuple[str, str | Affine], ...]

COMPLEX_OPERATIONS = 4  # real operations of a complex one: two for an addition, six for a product


@dataclass(frozen=True, slots=True)
class _Piece:
    """One right-hand side of a stage.

    placed: own dimension -> form over the group's dimensions.  moved: where elements are whose dimension is
    that of rows of data.
    """

    stage: Stage
    dims: tuple[str, ...]
    bounds: Bounds
    target: tuple[Affine, ...]
    expr: Expr
    accumulates: bool
    placed: Mapping[str, Affine]
    moved: Mapping[str, Affine] = field(default_factory=dict)


def stage_nest(stage: Stage, estimates: Mapping[str, int], *, live_out: bool = True) -> LoopNest:
    """The nest of one stage: its dimensions, then those that it reduces."""
    return group_nest((stage,), {}, estimates, live_out=(stage.name,) if live_out else ())


def group_nest(
    stages: Sequence[Stage],
    alignment: Mapping[str, Placement],
    estimates: Mapping[str, int],
    *,
    live_out: Collection[str] | None = None,
    dims: Sequence[str] = (),
) -> LoopNest:
    """The nest of stages that share loops.

    alignment: by stage, the group's dimension (or a form over it: `Affine.name("g").scale(2)`) for its own
    dimensions; a reduction's own are those of the stage, or of an accumulation, and the reduced ones.  A
    dimension that is not mentioned gets a loop of its own, `stage.dim`; a stage that is not mentioned keeps
    its names.  live_out: stages needed afterwards, by default all.  dims: the order of the group's
    dimensions, by default that of first use.
    """
    statements = tuple(
        statement
        for stage in stages
        for statement in _statements(stage, alignment.get(stage.name), estimates)
    )
    extents: dict[str, int] = dict.fromkeys(dims, 0)
    for own in (dim for statement in statements for dim in statement.dims):
        extents[own.name] = max(extents.get(own.name, 0), own.extent)
    names = [stage.name for stage in stages]
    alive = tuple(name for name in names if live_out is None or name in live_out)
    return LoopNest(tuple(Dim(name, extent) for name, extent in extents.items()), statements, alive)


def _statements(
    stage: Stage, alignment: Placement | None, estimates: Mapping[str, int]
) -> tuple[Statement, ...]:
    return _statements_at(stage, estimates, None if alignment is None else tuple(alignment.items()))


@once_a_stage
def _statements_at(
    stage: Stage, estimates: Mapping[str, int], alignment: Placed | None
) -> tuple[Statement, ...]:
    placed = None if alignment is None else dict(alignment)
    return tuple(_statement(piece, estimates) for piece in _pieces(stage, placed))


def _pieces(stage: Stage, alignment: Placement | None) -> Iterator[_Piece]:
    identity = tuple(Affine.name(dim) for dim in stage.dims)
    part = _main_part(stage.parts)
    if part is not None and (not stage.is_reduction or has_loads(part.expr)):
        keys = {dim: (dim, *own) for dim, own in _own_names(stage).items()}
        placed = _placed(stage, stage.dims, keys, alignment)
        yield _Piece(stage, stage.dims, stage.bounds, identity, part.expr, False, placed)
    for accumulation in stage.accumulations:
        keys = {own: (dim, own) for own, dim in _stage_dims(stage, accumulation).items()}
        placed = _placed(stage, accumulation.dims, keys, alignment)
        yield _Piece(
            stage,
            accumulation.dims,
            accumulation.bounds,
            accumulation.target,
            accumulation.expr,
            True,
            placed,
        )


def _main_part(parts: Sequence[Part]) -> Part | None:
    """The part that reads most: the inside of a stencil rather than its borders."""
    return max(parts, key=lambda part: len(set(loads_in(part.expr))), default=None)


def _stage_dims(stage: Stage, accumulation: Accumulation) -> dict[str, str]:
    """The stage's dimension for each dimension of an accumulation that is an index of its target."""
    return {
        name: dim
        for dim, form in zip(stage.dims, accumulation.target, strict=True)
        if form == Affine.name(name := next(form.names(), ""))
    }


def _own_names(stage: Stage) -> dict[str, tuple[str, ...]]:
    """The accumulations' names for each dimension of the stage."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(stage.dims, ())
    for accumulation in stage.accumulations:
        for own, dim in _stage_dims(stage, accumulation).items():
            found[dim] = (*found[dim], own)
    return found


def _placed(
    stage: Stage, dims: Sequence[str], known: Mapping[str, tuple[str, ...]], alignment: Placement | None
) -> dict[str, Affine]:
    """A form over the group's dimensions for each own dimension, no two of them the same.

    known: names under which the alignment may list a dimension of the result.
    """
    placed: dict[str, Affine] = {}
    # Dimensions of the result choose first: a reduced dimension may bear the name of one of them.
    for dim in sorted(dims, key=lambda d: d not in known):
        keys = known.get(dim, (dim,))
        if alignment is None:
            form: str | Affine | None = keys[0]
        else:
            form = next((alignment[key] for key in keys if key in alignment), None)
        as_form = Affine.name(form) if isinstance(form, str) else form
        if as_form is None or as_form in placed.values():
            as_form = Affine.name(f"{stage.name}.{dim}")
        placed[dim] = as_form
    return placed


def _statement(piece: _Piece, estimates: Mapping[str, int]) -> Statement:
    extents, share = _extents(piece, estimates)
    if piece.accumulates:
        extents, existing, places = segment_rows(piece.stage, piece.dims, extents)
        share *= existing
        piece = replace(piece, moved=places)
    dims: dict[str, int] = {}
    for own in (*_target_dims(piece), *piece.dims):
        for name, extent in _group_extents(piece.placed[own], extents[own]):
            dims[name] = max(dims.get(name, 0), extent)
    writes = Reference(
        piece.stage.name,
        _indices(piece.target, piece, estimates),
        piece.stage.dtype.size,
        reads=piece.accumulates,
        writes=True,
        parts=_parts(piece.stage.dtype),
    )
    reads = [
        Reference(
            load.source.name,
            _indices(load.indices, piece, estimates),
            load.dtype.size,
            parts=_parts(load.dtype),
        )
        for load in loads_in(piece.expr)
    ]
    merged = LoopNest((), (Statement("", (), (writes, *reads)),)).references()
    sequential = dict.fromkeys(n for own in _sequential(piece) for n in piece.placed[own].names())
    return Statement(
        piece.stage.name,
        tuple(Dim(name, extent) for name, extent in dims.items()),
        merged,
        tuple(sequential),
        _operations(piece),
        share,
    )


def _parts(dtype: ScalarType) -> int:
    return 2 if dtype.kind == "c" else 1


def _operations(piece: _Piece) -> int:
    """Real operations a point."""
    count = sum(isinstance(node, Binary | Call | Unary) for node in walk(piece.expr)) + piece.accumulates
    return count * (COMPLEX_OPERATIONS if piece.stage.dtype.kind == "c" else 1)


def _target_dims(piece: _Piece) -> tuple[str, ...]:
    names = [name for form in piece.target for name in form.names()]
    return tuple(dict.fromkeys(name for name in names if name in piece.dims))


def _indices(forms: Sequence[Affine], piece: _Piece, estimates: Mapping[str, int]) -> tuple[Affine, ...]:
    """Indices over the group's dimensions; what is computed from data counts as what does not move."""
    plain = without_computed(forms)
    own = (_with_sizes(form, piece.dims, estimates).substitute(piece.moved) for form in plain)
    return tuple(form.substitute(piece.placed) for form in own)


def _with_sizes(form: Affine, dims: Sequence[str], estimates: Mapping[str, int]) -> Affine:
    sizes = [name for name in form.names() if name not in dims]
    return form.substitute({name: Affine((), estimates.get(name, UNKNOWN_EXTENT)) for name in sizes})


def _extents(piece: _Piece, estimates: Mapping[str, int]) -> tuple[dict[str, int], float]:
    """The largest extent of each own dimension, and the part of that box that is inside the bounds.

    The part is estimated at the middle of the dimensions outside: exact for boxes and triangles.
    """
    known: dict[str, tuple[Affine, Affine]] = {}
    middle: dict[str, float] = {}
    extents: dict[str, int] = {}
    average: list[float] = []
    for dim, (low, high) in zip(piece.dims, piece.bounds, strict=True):
        low, high = (_with_sizes(form, piece.dims, estimates) for form in (low, high))
        known[dim] = (extremes(low, known)[0], extremes(high, known)[1])
        extents[dim] = max(0, known[dim][1].const - known[dim][0].const + 1)
        first, last = low.evaluate(middle), high.evaluate(middle)
        middle[dim] = (first + last) / 2
        average.append(min(max(0.0, last - first + 1), extents[dim]))
    box = prod(extents.values())
    return extents, prod(average) / box if box else 1.0


def _group_extents(form: Affine, extent: int) -> Iterator[tuple[str, int]]:
    """Iterations of the group's dimensions that an own dimension of this extent needs."""
    for atom, factor in form.terms:
        if isinstance(atom, FloorDiv):
            yield from _group_extents(atom.numerator, extent * atom.divisor)
        elif isinstance(atom, str):
            yield atom, ceil(extent / abs(factor))


def _sequential(piece: _Piece) -> tuple[str, ...]:
    """Own dimensions along which iterations depend on each other."""
    if piece.accumulates:
        plain = {form.terms[0][0] for form in piece.target if form == Affine.name(next(form.names(), ""))}
        return tuple(dim for dim in piece.dims if dim not in plain)
    carried: list[str] = []
    for load in loads_in(piece.expr):
        if load.source.name == piece.stage.name:
            carried += _carrying(piece.dims, load.indices)
    return tuple(dict.fromkeys(carried))


def _carrying(dims: Sequence[str], indices: Sequence[Affine]) -> Sequence[str]:
    """The outermost dimension in which a recurrence looks back; all where the distance is not constant."""
    for dim, form in zip(dims, indices, strict=True):
        distance = form - Affine.name(dim)
        if not distance.is_constant:
            return dims
        if distance.const:
            return (dim,)
    return dims
