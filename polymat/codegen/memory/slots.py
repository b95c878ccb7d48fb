"""Which arrays of the workspace share memory: one is read for the last time before the other is written.

Colouring of live ranges; these are intervals of the order of the groups, so taking them in order is best.
"""

from __future__ import annotations

from collections.abc import Mapping

from polymat.codegen.memory.storage import Buffer
from polymat.dataclass import dataclass
from polymat.plan.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Live:
    """The numbers of the groups between which an array is in use, both included."""

    first: int
    last: int


def live_ranges(schedule: Schedule, storage: Mapping[str, Buffer]) -> dict[str, Live]:
    """From the group that writes an array of the workspace to the last one that reads it."""
    found: dict[str, Live] = {}
    for number, plan in enumerate(schedule.plans):
        for name in plan.group.stages:
            if name in storage and storage[name].place == "workspace":
                found[name] = Live(number, number)
    for number, plan in enumerate(schedule.plans):
        for name in plan.group.stages:
            for load in schedule.grouping.pipeline.stage(name).loads():
                if (known := found.get(load.source.name)) is not None:
                    found[load.source.name] = Live(known.first, max(known.last, number))
    return found


def shared_slots(schedule: Schedule, storage: Mapping[str, Buffer]) -> tuple[tuple[Buffer, ...], ...]:
    """The arrays of the workspace by the memory that they share, which is as large as the largest needs.

    An array takes, of the slots that are free when it is first written, one of its own size if there is one,
    else the one that was used last.  Arrays of different element types share nothing: C takes it for granted
    that values of two types are in different places.
    """
    live = live_ranges(schedule, storage)
    slots: list[list[Buffer]] = []
    for name in sorted(live, key=lambda name: live[name].first):
        buffer = storage[name]
        free = [
            slot
            for slot in slots
            if slot[0].dtype == buffer.dtype and live[slot[-1].name].last < live[name].first
        ]
        if not free:
            slots.append([buffer])
            continue
        alike = [slot for slot in free if slot[0].extents == buffer.extents]
        max(alike or free, key=lambda slot: live[slot[-1].name].last).append(buffer)
    return tuple(map(tuple, slots))
