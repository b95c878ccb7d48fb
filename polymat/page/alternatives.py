"""Other ways for a group: other plans, other groups, and their predicted seconds or why not."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from polymat.decide.figures import Figures
from polymat.page.figuretext import ratio_text, seconds_text
from polymat.plan.schedule import Considered, Schedule

ALIKE = 0.05  # the part of a time by which another one may differ
MOST_OTHERS, MOST_REFUSED = 8, 2  # alternatives of one kind, and those of them that are not possible


def alternatives(
    schedule: Schedule, stages: tuple[str, ...], figures: Figures, seconds: float, *, in_seconds: bool
) -> list[tuple[str, str]]:
    """Words for each way, and its time beside that of the choice, which is `seconds`.

    in_seconds: whether groups were chosen by predicted seconds, so that those of others are known.
    """
    considered = {item.stages: item for item in schedule.considered}
    own = considered.get(stages)
    priced = [(figures.price(plan).seconds, plan) for _, plan in own.others] if own else []
    rows = [
        (plan.summary, f"{seconds_text(price)}, {_times(price, seconds)}")
        for price, plan in sorted(priced, key=lambda each: each[0])[:MOST_OTHERS]
    ]
    if not in_seconds:
        return rows
    return [*rows, *_apart(stages, considered), *_joined(stages, schedule, considered)]


def _times(one: float, other: float) -> str:
    """How a time compares with the one that was chosen."""
    if other <= 0.0 or abs(one / other - 1.0) < ALIKE:
        return "about the same"
    slower = one > other
    return f"{ratio_text(max(one, other), min(one, other))} times {'slower' if slower else 'quicker'}"


def _apart(stages: tuple[str, ...], considered: dict[tuple[str, ...], Considered]) -> list[tuple[str, str]]:
    """The time of the stages one by one."""
    singles = [considered[(name,)] for name in stages if (name,) in considered]
    if len(stages) < 2 or len(singles) < len(stages) or stages not in considered:
        return []
    seconds, chosen = sum(item.cost for item in singles), considered[stages].cost
    if seconds == inf:
        return [("not fused: each stage by itself", "not possible")]
    return [("not fused: each stage by itself", f"{seconds_text(seconds)}, {_times(seconds, chosen)}")]


def _joined(
    stages: tuple[str, ...], schedule: Schedule, considered: dict[tuple[str, ...], Considered]
) -> list[tuple[str, str]]:
    """The time together with other groups, or why that may not be; with few others first."""
    groups = [plan.group.stages for plan in schedule.plans]
    found = []
    for names, item in considered.items():
        inside = [number for number, group in enumerate(groups, 1) if {*group} <= {*names}]
        whole = sum(len(groups[number - 1]) for number in inside) == len(names)
        if whole and len(inside) > 1 and {*stages} <= {*names}:
            found.append((item.cost == inf, inside, item))
    found.sort(key=lambda each: (each[0], len(each[1])))
    possible = sum(not refused for refused, _, _ in found)
    shown = found[: min(MOST_OTHERS, possible + MOST_REFUSED)]
    return [
        (_with(inside, stages, groups), _together(item, inside, groups, considered))
        for _, inside, item in shown
    ]


def _with(inside: Sequence[int], stages: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> str:
    """Which groups would be fused with one."""
    others = [str(number) for number in inside if groups[number - 1] != stages]
    return f"fused with group{'s' * (len(others) > 1)} {', '.join(others)}"


def _together(
    item: Considered,
    inside: Sequence[int],
    groups: Sequence[tuple[str, ...]],
    considered: dict[tuple[str, ...], Considered],
) -> str:
    if item.cost == inf:
        return item.terms
    now = sum(considered[groups[number - 1]].cost for number in inside if groups[number - 1] in considered)
    return f"{seconds_text(item.cost)} for all of them, not {seconds_text(now)}: {_times(item.cost, now)}"
