"""Ask for the rows of the next tile while this one is computed.

Hardware prefetch starts anew with every piece of a row, and a store that waits for its line holds up all
stores behind it, and with them the loads that wait for values still on their way to the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c import shorthand
from polymat.codegen.c.ctree import For, If, Literal, Stmt
from polymat.codegen.c.rows import integer_of
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.memory.storage import LINE_BYTES
from polymat.graph.planesbeside import Planes
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine, computed_in
from polymat.plan.loops import LoopPlan

Indices = tuple[Affine, ...]


def with_prefetch(
    bodies: BodyWriter, stage: Stage, body: Sequence[Stmt], outer: str, plan: LoopPlan
) -> tuple[Stmt, ...]:
    """The loops of a stage, in which each row first asks for its arrays' rows further along `outer`.

    A loop over blocks of rows asks for as many.  Only arrays that are no scratchpads and are walked
    contiguously by the stage's last dimension.  plan: how far away these are, and which planes have no
    loop of their own.
    """
    planes, ahead = plan.planes, plan.ahead
    dims = [dim for dim in stage.dims if planes is None or dim != planes.dim]
    *outside, inner = map(bodies.index_name, dims)
    asked = _rows(bodies, stage, outer, planes)
    along = bodies.index_name(outer)

    def request(row: For, name: str, indices: Indices, distance: int) -> For:
        moved = tuple(form.substitute({outer: Affine.name(outer) + distance}) for form in indices)
        address = bodies.address(name, moved, bodies.loop_point(dims))
        asked = shorthand.request(address, write=name == stage.name)
        step = Literal(str(LINE_BYTES // bodies.storage[name].dtype.size))
        return replace(row, step=step, body=(asked,), pragmas=())

    def visit(statement: Stmt, around: Mapping[str, int]) -> tuple[Stmt, ...]:
        match statement:
            case For(variable=variable) if variable == inner:
                known = around.keys() >= set(outside)  # a loop that runs once is written without a variable
                further = range(ahead, ahead + around.get(along, 1))
                rows = [request(statement, *item, row) for item in asked for row in further if known]
                return (*rows, statement)
            case For(variable=variable, step=step, body=inside):
                return (replace(statement, body=each(inside, {**around, variable: integer_of(step) or 1})),)
            case If(_, then, otherwise):
                return (replace(statement, then=each(then, around), otherwise=each(otherwise, around)),)
            case _:
                return (statement,)

    def each(statements: Sequence[Stmt], around: Mapping[str, int]) -> tuple[Stmt, ...]:
        return tuple(made for item in statements for made in visit(item, around))

    return each(body, {}) if asked else tuple(body)


def _rows(bodies: BodyWriter, stage: Stage, outer: str, planes: Planes | None) -> list[tuple[str, Indices]]:
    """For each array the last of the rows that a stage touches at one point of `outer`; its own first.

    As many as the next point has anew: two where it is read at 2 i.  Of the rows beside these along other
    dimensions none: the loops along these come to them, too.
    """
    inner = Affine.name(stage.dims[-1])
    touched = [(stage.name, tuple(map(Affine.name, stage.dims)))]
    touched += [(load.source.name, load.indices) for load in stage.loads() if not computed_in(load.indices)]
    if planes is not None:
        places = [{planes.dim: Affine((), plane)} for plane in planes]
        touched = [(name, _at(indices, place)) for name, indices in touched for place in places]
    last: dict[tuple[str, int, Indices], tuple[tuple[int, ...], Indices]] = {}
    for name, indices in touched:
        if not indices or bodies.storage[name].place == "scratchpad":
            continue
        rows = indices[:-1]
        moving = [k for k, form in enumerate(rows) if form.coefficient(outer) > 0]
        walked = indices[-1] - indices[-1].const == inner
        if not walked or len(moving) != 1 or any(stage.dims[-1] in form.names() for form in rows):
            continue
        walking = [not set(stage.dims).isdisjoint(form.names()) for form in rows]
        form = rows[moving[0]]
        turn = form.const % form.coefficient(outer)
        key = (name, turn, tuple(f - f.const if w else f for f, w in zip(rows, walking, strict=True)))
        consts = (form.const, *(-abs(form.const) for form in rows))
        if key not in last or last[key][0] < consts:
            last[key] = (consts, (*rows, inner))
    return [(name, indices) for (name, *_), (_, indices) in last.items()]


def _at(indices: Indices, place: Mapping[str, Affine]) -> Indices:
    return tuple(form.substitute(place) for form in indices)
