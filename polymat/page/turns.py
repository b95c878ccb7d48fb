"""The page of what runs in sections: each in its turn, and those that are repeated with their steps."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from polymat.codegen.profile import GroupProfile, Profile
from polymat.codegen.report import Report
from polymat.dataclass import dataclass
from polymat.decide.placedsections import placed_sections
from polymat.errors import counted
from polymat.graph.stepwise import HeldArray, Steps
from polymat.model.assumed import assumed_sizes
from polymat.page.cards import Card
from polymat.page.document import graph, machine_note, notes, overview, rest, style
from polymat.page.figuretext import seconds_text
from polymat.page.markup import bulleted, element, escaped, text
from polymat.page.subject import StepwiseSubject, Subject
from polymat.page.wording import limit


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A section that is a pipeline of its own.

    number: from 1.  steps: those that it is repeated for, outermost first.  times: how often it runs.
    measured: seconds of all times, where there is a profile and it is measured by itself.
    """

    number: int
    subject: Subject
    cards: tuple[Card, ...]
    steps: tuple[Steps, ...]
    times: int
    measured: float | None

    @property
    def once(self) -> float:
        """Seconds of one time."""
        return sum(card.seconds for card in self.cards if not card.kept)

    @property
    def seconds(self) -> float:
        """Seconds of all times."""
        return self.times * self.once

    @property
    def title(self) -> str:
        """The number, the result, and how often it runs."""
        last = self.subject.schedule.grouping.pipeline.outputs[-1]
        return f"Section {self.number}: {last}, {self.when}"

    @property
    def when(self) -> str:
        """How often this section runs, in words."""
        if not self.steps:
            return "once"
        at = ", and in each ".join(map(str, self.steps))
        return f"once, for {at}" if self.times == 1 else f"repeated {self.times} times, for {at}"

    def html(self, anchor: str, cards: str) -> str:
        """The section; anchor: its own, cards: that of all cards."""
        longest = max(
            (card for card in self.cards if not card.kept), key=attrgetter("seconds"), default=self.cards[0]
        )
        words = f"Predicted: {seconds_text(self.seconds)} a call"
        words += f", {seconds_text(self.once)} a step" if self.steps else ""
        words += "" if self.measured is None else f"; measured: {seconds_text(self.measured)} a call"
        words += f". The longest is group {longest.number}, limited by {limit(longest.found.cost)}."
        parts = [
            element("h2", escaped(self.title), id=f"{anchor}-{self.number}"),
            text("p", words),
            *graph(self.subject, self.cards, cards, f"{anchor}-{self.number}"),
            *overview(self.cards, cards),
            *(card.html(cards) for card in self.cards),
        ]
        return element("div", "".join(parts), class_=f"turn{' steps' * bool(self.steps)}")


def stepwise_document(subject: StepwiseSubject, report: Report) -> str:
    """The page of a report, for the sizes of its profile, or else for those that predictions hold for."""
    request, profile = subject.request, report.profile
    threads = request.machine.team(request.options.threads) if profile is None else profile.threads
    sizes = assumed_sizes(subject.built, request.estimates if profile is None else profile.sizes)
    parts = [*_parts(subject, report, sizes, threads)]
    anchor = f"pm{hashlib.sha256(str(report).encode()).hexdigest()[:8]}"
    given = "assumed, for want of estimates=" if report.assumed and profile is None else "as given"
    body = [
        element("style", style()),
        text("h2", report.name),
        *_summary(subject, parts, profile),
        machine_note(request.machine, threads, sizes, given),
        _table(parts, f"{anchor}s"),
        *_held(subject.stepwise.held),
        *notes(report),
        *(part.html(f"{anchor}s", anchor) for part in parts),
        *rest(report),
    ]
    return element("div", "".join(body), class_="polymat-page")


def _parts(
    subject: StepwiseSubject, report: Report, sizes: Mapping[str, int], threads: int
) -> Iterator[Turn]:
    """The sections with their cards, whose numbers go on from one to the next."""
    first, request, told = 0, subject.request, report.groups
    all_placed = [*placed_sections(subject.stepwise, sizes)]
    shared = Counter(placed.section for placed in all_placed)
    for number, placed in enumerate(all_placed, 1):
        plans = placed.schedule.plans
        figures = placed.figures(request.machine, threads)
        others = (each.schedule for each in all_placed if each is not placed)
        elsewhere = frozenset(s.name for other in others for s in other.grouping.pipeline.stages)
        own = Subject(subject.built, placed.schedule, subject.program, request, elsewhere)
        alone = shared[placed.section] == 1
        measured = report.profile.groups[placed.section] if report.profile is not None and alone else None
        one = _one_time(measured, placed.times) if len(plans) == 1 else None
        cards = tuple(
            Card.of(own, first + k, plan, group, figures, one)
            for k, (plan, group) in enumerate(zip(plans, told[first : first + len(plans)], strict=True), 1)
        )
        seconds = None if measured is None else measured.seconds
        yield Turn(number, own, cards, placed.steps, placed.times, seconds)
        first += len(plans)


def _one_time(measured: GroupProfile | None, times: int) -> GroupProfile | None:
    """Of a section with one group what this takes each time."""
    return None if measured is None or not times else replace(measured, seconds=measured.seconds / times)


def _summary(subject: StepwiseSubject, parts: Sequence[Turn], profile: Profile | None) -> Iterator[str]:
    repeated = [part for part in parts if part.steps]
    told = f"{counted(len(subject.built.stages), 'stage')} of the definition; "
    told += f"{counted(len(parts), 'section')}, one after the other, {len(repeated)} of them once a step."
    yield text("p", told)
    longest = max(parts, key=attrgetter("seconds"))
    whole = sum(part.seconds for part in parts)
    share = longest.seconds / (whole or 1.0)
    words = f"Predicted: {seconds_text(whole)} a call"
    words += "" if profile is None else f"; measured: {seconds_text(profile.seconds)}"
    yield text("p", f"{words}. The longest is section {longest.number}, with {share:.0%} of it.")


def _table(parts: Sequence[Turn], anchor: str) -> str:
    """A line for each section; what a step takes is left out on narrow screens, as each section says it."""
    known = any(part.measured is not None for part in parts)
    beside = {"class_": "beside"} if known else {}
    head = text("th", "section") + text("th", "runs") + text("th", "predicted once", **beside)
    head += text("th", "predicted in all") + (text("th", "measured in all") if known else "")
    rows = [element("tr", head)]
    for part in parts:
        link = element(
            "a",
            escaped(f"{part.number}. {part.subject.schedule.grouping.pipeline.outputs[-1]}"),
            href=f"#{anchor}-{part.number}",
        )
        took = "" if part.measured is None else seconds_text(part.measured)
        cells = element("td", link) + text("td", part.when) + text("td", seconds_text(part.once), **beside)
        cells += text("td", seconds_text(part.seconds)) + (text("td", took) if known else "")
        rows.append(element("tr", cells))
    return element("table", "".join(rows))


def _held(held: Sequence[HeldArray]) -> Iterator[str]:
    """The arrays between sections, and how many steps of each are there at a time."""
    if held:
        yield text("h4", "Arrays between the sections")
        yield bulleted(escaped(_held_words(each)) for each in held)


def _held_words(held: HeldArray) -> str:
    places = {"output": "a result of the call", "input": "an argument of the call"}
    place = places.get(held.place, "in memory until the call ends")
    if held.origin is None:
        return f"{held.name}: {place}"
    kept = f"{held.planes} of {held.count} steps at a time" if held.is_folded else f"all {held.count} steps"
    return f"{held.name}: {kept}, {place}"
