"""The card of a group: what was chosen and why, what else there was, what limits it, and its code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf

from polymat.codegen.profile import GroupProfile
from polymat.codegen.report import NO_ARRAY, GroupReport
from polymat.dataclass import dataclass
from polymat.decide.figures import Figures, GroupFigures
from polymat.errors import counted
from polymat.machine.model import Machine
from polymat.model.hierarchy import hierarchy
from polymat.page.alternatives import Alternative, alternatives, step_alone
from polymat.page.figuretext import bytes_text, count_text, rate_text, seconds_text
from polymat.page.markup import bulleted, element, escaped, text
from polymat.page.roofline import Point, Roof, roofline
from polymat.page.sources import group_c, user_lines
from polymat.page.subject import Subject
from polymat.page.wording import PLACES, advice, label, limit, short
from polymat.plan.tile import Plan, TilePlan

_PLACES = {
    NO_ARRAY: "No array, computed with the result",
    "kept": "Kept from the first call",
    "scratchpad": "In small arrays that stay in the cache (scratchpads)",
    "workspace": "In memory, until the call ends",
    "output": "Results of the call",
}


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One group with everything that is told of it.

    number: from 1.  others: the plans that it might have had, and the groups that there might have been.
    """

    subject: Subject
    number: int
    plan: Plan
    told: GroupReport
    figures: Figures
    found: GroupFigures
    profile: GroupProfile | None
    others: tuple[Alternative, ...]

    @staticmethod
    def of(
        subject: Subject,
        number: int,
        plan: Plan,
        told: GroupReport,
        figures: Figures,
        profile: GroupProfile | None,
    ) -> Card:
        """With its figures, and what else there was."""
        found = figures.of(plan)
        by_time = subject.request.options.cost == "time"
        others = alternatives(subject.schedule, told.stages, figures, found.cost.seconds, in_seconds=by_time)
        alone = [] if figures.together is None else [step_alone(figures, plan, found.cost.seconds)]
        return Card(subject, number, plan, told, figures, found, profile, (*alone, *others))

    @property
    def machine(self) -> Machine:
        """For which it was decided."""
        return self.subject.request.machine

    @property
    def title(self) -> str:
        """Number, result and way of the group."""
        return f"{self.number}. {self.told.stages[-1]}: {label(self.plan)}"

    @property
    def short(self) -> str:
        """Number and way in a word or two, for the drawing."""
        return f"{self.number}. {short(self.plan)}"

    @property
    def kept(self) -> bool:
        """Whether the first call alone computes it."""
        return "kept" in self.told.storage.values()

    @property
    def seconds(self) -> float:
        """Predicted."""
        return self.found.cost.seconds

    @property
    def measured(self) -> float | None:
        """Seconds, where there is a profile."""
        return None if self.profile is None or self.profile.kept else self.profile.seconds

    @property
    def next_best(self) -> str:
        """The quickest other way, briefly; "" without any."""
        possible = [(each.times, each) for each in self.others if each.times is not None]
        return min(possible, key=lambda pair: pair[0])[1].briefly if possible else ""

    def html(self, anchor: str) -> str:
        """The card."""
        parts = [
            text("h3", self.title),
            text("p", " + ".join(self.told.stages), class_="stages"),
            *self._why(),
            *self._time(),
            element("div", "".join([*self._footprint(), *self._roofline()]), class_="halves"),
            *self._others(),
            *self._code(),
        ]
        return element("section", "".join(parts), class_="card", id=f"{anchor}-{self.number}")

    def _why(self) -> Iterator[str]:
        told, plan = self.told, self.plan
        schemes = [*told.scheme.values()]
        items = [text("b", "Why: ") + escaped(_without(told.reason, schemes))] if told.reason else []
        if told.tile_sizes:
            sizes = ", ".join(f"{dim} {size}" for dim, size in told.tile_sizes.items())
            items.append(text("b", "Tiles: ") + escaped(sizes + _why_sizes(plan)))
        if told.order:
            items.append(text("b", "Loops: ") + escaped(", ".join(self._loops())))
        shared = told.parallel or "nothing: it runs on the calling thread"
        items.append(text("b", "Shared by threads: ") + escaped(shared))
        if told.vector:
            items.append(text("b", "In vectors: ") + escaped(told.vector))
        inlined = self.subject.put_into(told.stages)
        if inlined:
            items.append(text("b", "Computed inside, without arrays: ") + escaped(", ".join(inlined)))
        items += [
            text("b", f"{_PLACES.get(place, place)}: ") + escaped(names) for place, names in self._places()
        ]
        if schemes:
            items.append(text("b", "As Options(scheme=) writes it: ") + escaped("; ".join(schemes)))
        if self.kept:
            items.append(escaped("The same in every call: the first call computes it, later ones read it."))
        yield bulleted(items)

    def _loops(self) -> list[str]:
        """The loops over dimensions that the user named; others are parts of these, of rows by turns say."""
        pipeline = self.subject.schedule.grouping.pipeline
        stages = [pipeline.stage(name) for name in self.told.stages]
        summed = (dim for stage in stages for item in stage.accumulations for dim in item.dims)
        named = {*summed, *(dim for stage in stages for dim in stage.dims)}
        return [dim for dim in self.told.order if dim in named] or [*self.told.order]

    def _places(self) -> Iterator[tuple[str, str]]:
        """Where the values of its stages live, those of one place together."""
        for place in dict.fromkeys(self.told.storage.values()):
            names = [name for name, own in self.told.storage.items() if own == place]
            yield place, ", ".join(names)

    def _time(self) -> Iterator[str]:
        """Bars of seconds, predicted by parts and measured, and what limits it."""
        cost = self.found.cost
        rows = [("predicted", cost.seconds, "predicted")]
        rows += [("measured", self.measured, "measured")] if self.measured is not None else []
        rows += [
            ("arithmetic alone", cost.computing, "part"),
            (f"data, {PLACES[cost.level]}", cost.moving, "part"),
            ("starting threads", cost.entering, "part"),
        ]
        longest = max(seconds for _, seconds, _ in rows) or 1.0
        bars = "".join(_bar(name, s / longest, seconds_text(s), kind) for name, s, kind in rows if s > 0.0)
        yield text("h4", "Time")
        yield element("div", bars, class_="bars")
        head = text("b", f"Limited by {limit(cost)}. ")
        yield element("p", head + escaped(advice(cost)), class_="limit")

    def _footprint(self) -> Iterator[str]:
        """How much of each cache a part takes that is computed at a time, and what moves out of it."""
        levels = hierarchy(self.machine, self.figures.threads if self.plan.is_shared else 1)
        moved = self.found.movement.bytes if self.found.movement is not None else {}
        parts = []
        for level in levels:
            if level.bytes == inf and level.name not in moved:
                continue  # nothing is known of it
            out = f"; {bytes_text(moved[level.name])} move out of it" if level.name in moved else ""
            size = "main memory" if level.bytes == inf else f"{level.name}, {bytes_text(level.bytes)}"
            parts.append(text("p", f"{size}{out}", class_="level"))
            if level.bytes < inf:
                pieces = [*((p.what, p.bytes) for p in self.found.pieces), ("all values", self.found.whole)]
                parts += [_filled(what, count, level.bytes) for what, count in pieces]
        bars = element("div", "".join(parts), class_="bars")
        yield element("div", text("h4", "Footprint in the caches of one thread") + bars)

    def _roofline(self) -> Iterator[str]:
        flops, cost = self.found.flops, self.found.cost
        threads = self.figures.threads if self.plan.is_shared else 1
        peak = self.machine.peak_flops(self.found.element_bytes, threads)
        if flops is None or flops > peak * cost.seconds > 0.0:
            words = "It takes fewer operations than its definition has, as transforms do, and steps over a "
            words += "part of an array: a roofline has no point for it."
            yield element("div", text("h4", "Roofline") + text("p", words))
            return
        if not flops or not cost.bytes or cost.seconds <= 0.0:
            return
        roofs = [
            Roof(PLACES[n].removeprefix("the "), self.machine.bandwidth(n, threads), n == cost.level)
            for n in (1, 2, 3, 4)
            if n != 3 or self.machine.l3_bytes > self.machine.l2_bytes
        ]
        points = [Point(flops / cost.bytes, flops / cost.seconds, measured=False)]
        if self.measured:
            points.append(Point(flops / cost.bytes, flops / self.measured, measured=True))
        drawn = roofline(peak, roofs, points)
        words = f"{count_text(flops, 'operations')} on {bytes_text(cost.bytes)}, "
        words += f"{counted(threads, 'thread')}: predicted {rate_text(points[0].rate, 'FLOP/s')} (ring)"
        words += f", measured {rate_text(points[1].rate, 'FLOP/s')} (disc)" if len(points) > 1 else ""
        yield element("div", text("h4", "Roofline") + drawn + text("p", words, class_="note"))

    def _others(self) -> Iterator[str]:
        """What `others` has, as a table."""
        rows = self.others
        yield text("h4", "What else there was")
        if not rows:
            yield text("p", "No other way was found that is worth its price.", class_="note")
            return
        cells = "".join(element("tr", text("td", each.words) + text("td", each.told)) for each in rows)
        head = element("tr", text("th", "instead") + text("th", "predicted"))
        yield element("table", head + cells)

    def _code(self) -> Iterator[str]:
        """The user's lines and the generated C, side by side where there is room."""
        subject, pipeline = self.subject, self.subject.schedule.grouping.pipeline
        names = (*subject.put_into(self.told.stages), *self.told.stages)
        lines = user_lines((subject.built, pipeline), names)
        quoted = "\n".join(f"{place}  {line}" for place, line in lines)
        code = group_c(subject.program, self.number - 1)
        yours = element(
            "div", text("h4", "Your lines") + text("pre", quoted or "not kept: typed or made by a program")
        )
        made = element("div", text("h4", "The C of this group") + text("pre", code or "none: see .source"))
        body = element("div", yours + made, class_="halves")
        yield element("details", text("summary", "Your lines beside the generated C") + body)


def _without(reason: str, schemes: Sequence[str]) -> str:
    """A reason without the schemes in it, which stand by themselves and say, too, what is fused."""
    for each in schemes:
        alone = re.sub(r"^\[fuse\([^)]*\), ", "[", each)
        reason = reason.replace(f", {each}", "").replace(f", {alone}", "")
    return reason


def _why_sizes(plan: Plan) -> str:
    """Say what tile sizes rest on."""
    if not isinstance(plan, TilePlan):
        return ""
    if plan.forced:
        return ": as Options(tile_sizes=) says"
    if plan.solved is not None:
        return f": {plan.solved.explain()}"
    return ": so that what a tile reads, keeps and writes stays in the caches"


def _bar(name: str, share: float, words: str, kind: str) -> str:
    inner = element("i", "", style=f"width: {max(share, 0.004):.1%}", class_=kind)
    return element("div", text("span", name) + element("b", inner) + text("span", words), class_="bar")


def _filled(what: str, count: float, capacity: float) -> str:
    share = count / capacity
    kind = "over" if share > 1.0 else "part"
    part = f"{share:.0%}" if share < 10 else f"{share:.0f} times"
    return _bar(what, min(share, 1.0), f"{bytes_text(count)}, {part}", kind)
