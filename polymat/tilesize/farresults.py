"""Rows of results that sums pass over several times, and the level of the caches that has them meanwhile.

before:  for b: row(b) = 0;  for b: row(b) += x(0, b) * y(0, b) + ... + x(3, b) * y(3, b), rows of 64 KiB
after:   the zeros have left the first level when the second loop adds to them
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.graph.aligned import Member
from polymat.graph.stage import Accumulation, Stage, loads_of
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.plan.loops import LoopPlan
from polymat.tilesize.plain import own_names
from polymat.tilesize.shortloops import loop_lengths, row_terms
from polymat.tilesize.stagework import points
from polymat.tilesize.traffic import nearest_level


def results_again(
    stage: Stage,
    loops: LoopPlan,
    machine: Machine,
    estimates: Mapping[str, int],
    member: Member | None = None,
    sizes: Sequence[int] = (),
) -> dict[int, float]:
    """The bytes of results that each level of memory but the first gives and takes while sums pass over them.

    Of rows of a few terms, which are priced by what they load.  member, sizes: of a stage in tiles.
    """
    terms = row_terms(stage, loops)
    if terms is None:
        return {}
    row = stage.dims[-1]
    length = loop_lengths(stage, estimates)[row]
    if member is not None and row in member.dims:
        level = member.dims.index(row)
        length = min(length, member.points(level, sizes[level]))
    found: dict[int, float] = {}
    for item, count in zip(stage.accumulations, terms, strict=True):
        far = nearest_level(machine, length * _pass_bytes(stage, item, loops.addends, loops.unroll))
        moved = 2.0 * stage.dtype.size * points(item.box, estimates) / count * passes(count, loops.addends)
        found[far] = found.get(far, 0.0) + moved
    found.pop(1, None)
    return found


def passes(terms: int, addends: int) -> int:
    """How often a row of results is gone over to add so many terms, of which so many are added at a time."""
    return terms // addends + terms % addends


@remembered
def _pass_bytes(stage: Stage, item: Accumulation, addends: int, rows: int) -> float:
    """Bytes of a point that one pass touches: of so many rows of results, and of all addends of these."""
    row, reduced = own_names(stage, item)[stage.dims[-1]], item.reduced_dims[-1:]
    total = float(rows * stage.dtype.size)
    for load in {(each.source.name, each.indices): each for each in loads_of(item)}.values():
        names = {name for form in load.indices for name in form.names()}
        if row in names:
            total += load.dtype.size * (addends if names.intersection(reduced) else 1)
    return total
