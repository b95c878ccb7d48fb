"""Other ways for a group: other plans, other groups, and their predicted seconds or why not."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from polymat.dataclass import dataclass
from polymat.decide.figures import Figures
from polymat.page.figuretext import ratio_text, seconds_text
from polymat.page.wording import instead
from polymat.plan.schedule import Considered, Schedule
from polymat.plan.tile import Plan

MOST_TIMES = 1000  # of which a figure says nothing more: what the first call keeps costs others nothing
ALIKE = 0.05  # the part of a time by which another one may differ
MOST_OTHERS, MOST_REFUSED = 8, 2  # alternatives of one kind, and those of them that are not possible


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another way for a group.

    words: which.  told: its time beside that of the choice, or why it is not possible.  times: how many times
    as long as the choice it takes; None where it is not possible.
    """

    words: str
    told: str
    times: float | None

    @property
    def briefly(self) -> str:
        """Which, without the equation behind it, and how it compares."""
        words = self.words.partition(" (")[0]
        return f"{words}: {_compared(self.times)}" if self.times is not None else words


def alternatives(
    schedule: Schedule, stages: tuple[str, ...], figures: Figures, seconds: float, *, in_seconds: bool
) -> list[Alternative]:
    """Every other way, and its time beside that of the choice, which is `seconds`.

    in_seconds: whether groups were chosen by predicted seconds, so that those of others are known.
    """
    considered = {item.stages: item for item in schedule.considered}
    own = considered.get(stages)
    priced = [(figures.price(plan).seconds, plan) for _, plan in own.others] if own else []
    rows = [
        _beside(instead(plan), price, seconds)
        for price, plan in sorted(priced, key=lambda each: each[0])[:MOST_OTHERS]
    ]
    if not in_seconds:
        return rows
    return [*rows, *_apart(stages, considered), *_joined(stages, schedule, considered)]


def step_alone(figures: Figures, plan: Plan, seconds: float) -> Alternative:
    """Each step by itself, and its time beside that of one that is taken together with others."""
    return _beside("each step by itself", figures.price(plan).seconds, seconds)


def _beside(words: str, one: float, chosen: float) -> Alternative:
    """A way that takes so many seconds."""
    times = one / chosen if chosen > 0.0 else 1.0
    return Alternative(words, _told(f"{seconds_text(one)}, ", times), times)


def _told(seconds: str, times: float) -> str:
    """How a way compares, behind its seconds: but for one that takes very much longer, whatever they are."""
    return _compared(times) if times > MOST_TIMES else seconds + _compared(times)


def _compared(times: float) -> str:
    """How a time compares with the one that was chosen; times: as long."""
    if abs(times - 1.0) < ALIKE or times <= 0.0:
        return "about the same"
    if times > MOST_TIMES:
        return f"more than {MOST_TIMES} times slower"
    slower = times > 1.0
    return f"{ratio_text(max(times, 1.0), min(times, 1.0))} times {'slower' if slower else 'quicker'}"


def _apart(stages: tuple[str, ...], considered: dict[tuple[str, ...], Considered]) -> list[Alternative]:
    """The time of the stages one by one."""
    singles = [considered[(name,)] for name in stages if (name,) in considered]
    if len(stages) < 2 or len(singles) < len(stages) or stages not in considered:
        return []
    seconds, words = sum(item.cost for item in singles), "not fused: each stage by itself"
    if seconds == inf:
        return [Alternative(words, "not possible", None)]
    return [_beside(words, seconds, considered[stages].cost)]


def _joined(
    stages: tuple[str, ...], schedule: Schedule, considered: dict[tuple[str, ...], Considered]
) -> list[Alternative]:
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
        _together(_with(inside, stages, groups), item, inside, groups, considered)
        for _, inside, item in shown
    ]


def _with(inside: Sequence[int], stages: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> str:
    """Which groups would be fused with one."""
    others = [str(number) for number in inside if groups[number - 1] != stages]
    return f"fused with group{'s' * (len(others) > 1)} {', '.join(others)}"


def _together(
    words: str,
    item: Considered,
    inside: Sequence[int],
    groups: Sequence[tuple[str, ...]],
    considered: dict[tuple[str, ...], Considered],
) -> Alternative:
    if item.cost == inf:
        return Alternative(words, item.terms, None)
    now = sum(considered[groups[number - 1]].cost for number in inside if groups[number - 1] in considered)
    times = item.cost / now if now > 0.0 else 1.0
    together = f"{seconds_text(item.cost)} for all of them, not {seconds_text(now)}: "
    return Alternative(words, _told(together, times), times)
