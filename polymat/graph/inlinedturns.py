"""Stages whose points take turns along their rows, in the one reader that takes each of them at one point."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from polymat.graph.inline import MOST_NODES, into_only_readers, is_read_freely, node_count, substitute
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Part, Stage
from polymat.lang.affine import Affine, FloorDiv, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import Load, Variable
from polymat.lang.types import STORED, Long
from polymat.poly.residues import remainder, taking_turns

PERIODS = (2, 4)  # points that take turns; of more, blocks of vectors do not fit the registers
MOST_INLINED = 8  # stages, each of which is a row of values in the first-level cache


def inline_turns(pipeline: Pipeline) -> Pipeline:
    """Substitute stages of even and odd points, as an image of twice the size has them, into their reader.

    Code generation spreads their values out, a part of a row at a time, so that they need no array.

    before:  f(i) = x(i // 2) where i is even, x(i // 2 + 1) where it is odd;  g(i) = y(i) - f(i)
    after:   g(i) = y(i) - x(i // 2) where i is even, y(i) - x(i // 2 + 1) where it is odd
    """
    counts = Counter[str]()

    def inlined(producer: Stage, reader: Stage) -> Stage | None:
        found = _inlined(producer, reader) if counts[reader.name] < MOST_INLINED else None
        counts[reader.name] += found is not None
        return found

    return into_only_readers(pipeline, inlined)


def _inlined(producer: Stage, reader: Stage) -> Stage | None:
    """The reader with the producer's values in it; None where loops would have no rows to spread out."""
    turns = _turns(producer)
    if not turns or reader.is_reduction or reader.reads_itself or not is_read_freely(producer, reader):
        return None
    shift = _shift(producer, reader)
    if shift is None or not _has_other_rows(reader, len(turns)):
        return None
    parts: list[Part] = []
    for part in reader.parts:
        found = _parts(part, reader, turns, producer, shift)
        if found is None:
            return None
        parts += found
    return replace(reader, parts=tuple(parts))


def _turns(producer: Stage) -> tuple[Part, ...]:
    """The parts of a stage that take turns along its rows, by remainder; none of any other stage.

    Each reads elements of one type at half the place, or a quarter of it.  No row holds values of a type that
    nothing is computed in, which are rounded point by point.
    """
    count, dim = len(producer.parts), producer.dims[-1] if producer.dims else ""
    if count not in PERIODS or producer.is_reduction or producer.reads_itself:
        return ()
    if producer.dtype.kind != "f" or producer.dtype in STORED:
        return ()
    loads = producer.loads()
    if not all(load.dtype == producer.dtype and _is_divided(load, dim, count) for load in loads):
        return ()
    rests = {remainder(part.domain, dim): part for part in producer.parts}
    if {*rests} != {(count, rest) for rest in range(count)}:
        return ()
    turns = tuple(rests[count, rest] for rest in range(count))
    whole = taking_turns([part.domain for part in turns], dim)
    return turns if whole is not None and whole.equals(producer.domain) else ()


def _is_divided(load: Load, dim: str, divisor: int) -> bool:
    """Whether an element is one of a row that is read at dim // divisor."""
    if not load.indices or computed_in(load.indices):
        return False
    *rows, (last) = load.indices
    moving = [(atom, factor) for atom, factor in last.terms if not isinstance(atom, str) or atom == dim]
    match moving:
        case [(FloorDiv(numerator, divisor=by), 1)]:
            along = (numerator - Affine.name(dim)).is_constant and by == divisor
            return along and not any(dim in form.names() for form in rows)
        case _:
            return False


def _shift(producer: Stage, reader: Stage) -> int | None:
    """How far ahead along rows a reader takes the one element that it takes at each point, if it does so."""
    places = {load.indices for load in reader.loads() if load.source.name == producer.name}
    if len(places) != 1 or not reader.dims or reader.dtype != producer.dtype:
        return None
    (place,) = places
    if computed_in(place) or len(place) != len(reader.dims):
        return None
    moved = [form - Affine.name(dim) for form, dim in zip(place, reader.dims, strict=True)]
    return moved[-1].const if all(form.is_constant for form in moved) else None


def _has_other_rows(reader: Stage, count: int) -> bool:
    """Whether a reader also reads rows point by point, and all that it reads has its type."""
    inner = Affine.name(reader.dims[-1])
    loads = reader.loads()
    plain = [load for load in loads if load.indices and (load.indices[-1] - inner).is_constant]
    alike = all(load.dtype == reader.dtype and not computed_in(load.indices) for load in loads)
    return alike and len({load.source.name for load in plain}) > 1 and len(reader.parts) in (1, count)


def _parts(
    part: Part, reader: Stage, turns: tuple[Part, ...], producer: Stage, shift: int
) -> list[Part] | None:
    """A part of a reader at each turn, or at its own; None where it takes other turns or is too long."""
    dim, count = reader.dims[-1], len(turns)
    own = remainder(part.domain, dim)
    if own is not None and own[0] != count:
        return None
    place = Variable(Long, dim) % count
    made: list[Part] = []
    for rest in range(count) if own is None else (own[1],):
        domain = part.domain if own is not None else part.domain.where(Condition(place, "==", rest))
        turn = replace(producer, parts=(turns[(rest + shift) % count],))
        piece = replace(reader, parts=(replace(part, domain=domain, condition=None, fills=False),))
        if node_count(turn) + node_count(piece) > MOST_NODES:
            return None
        made += substitute(piece, turn).parts
    return made
