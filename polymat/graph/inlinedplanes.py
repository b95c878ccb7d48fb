"""Stages that one reader takes at each of its planes, and at planes that are the same for all of these."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.graph.inline import (
    MOST_NODES,
    compared_as_equal,
    into_only_readers,
    is_read_freely,
    node_count,
    substitute,
)
from polymat.graph.pipeline import Pipeline
from polymat.graph.planesbeside import planes_beside
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load


def inline_planes(pipeline: Pipeline) -> Pipeline:
    """Substitute stages into a reader that runs over its planes side by side, and reads one point of these.

    No value is computed twice then, though one plane, alpha say, is read at all others.

    before:  f(c, i) = x(c, i) * y(i), c = 0 .. 3;  g(c, i) = f(c, i) / f(3, i), c = 0 .. 2
    after:   g(c, i) = x(c, i) * y(i) / s, s = x(3, i) * y(i) for all c
    """
    return into_only_readers(pipeline, _inlined)


def _inlined(producer: Stage, reader: Stage) -> Stage | None:
    """The reader with the producer's values in it; None where some would be computed or rounded twice."""
    if any(each.is_reduction or len(each.parts) != 1 or each.reads_itself for each in (producer, reader)):
        return None
    loads = [load for load in reader.loads() if load.source.name == producer.name]
    computed = any(computed_in(load.indices) for load in (*loads, *producer.loads()))
    if computed or not is_read_freely(producer, reader) or compared_as_equal(producer, reader):
        return None
    if node_count(producer) + node_count(reader) > MOST_NODES or not _is_read_by_planes(loads, reader):
        return None
    found = substitute(reader, producer)
    planes = planes_beside(found)
    return found if planes is not None and planes == planes_beside(reader) else None


def _is_read_by_planes(loads: Sequence[Load], reader: Stage) -> bool:
    """Whether a reader takes one element of each plane at a point, some of these at all its planes.

    Those are none of its own.
    """
    planes = planes_beside(reader)
    if planes is None:
        return False
    own, others = Affine.name(planes.dim), [Affine.name(dim) for dim in reader.dims if dim != planes.dim]
    rows = {tuple(form for form in load.indices if not _is_plane(form, own)) for load in loads}
    places = [[k for k, form in enumerate(load.indices) if _is_plane(form, own)] for load in loads]
    if len(rows) != 1 or any(place != places[0] or len(place) != 1 for place in places):
        return False
    (row,), forms = rows, [load.indices[places[0][0]] for load in loads]
    moved = {form - own for form in forms if not form.is_constant}
    fixed = {form.const for form in forms if form.is_constant}
    if len(moved) != 1 or not all(shift.is_constant for shift in moved) or not fixed:
        return False
    shift = next(iter(moved)).const
    apart = fixed.isdisjoint(plane + shift for plane in planes)
    return apart and sorted(map(str, (form - form.const for form in row))) == sorted(map(str, others))


def _is_plane(form: Affine, own: Affine) -> bool:
    """Whether an index is that of a plane: the reader's, or one number."""
    return form.is_constant or (form - own).is_constant
