"""The page: what was decided at a glance, the graph, a card for every group, and the whole report as text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from polymat.codegen.report import Report
from polymat.decide.figures import Figures
from polymat.errors import counted
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.page.cards import Card
from polymat.page.drawing import MOST_DRAWN, drawing
from polymat.page.figuretext import bytes_text, rate_text, seconds_text
from polymat.page.markup import bulleted, element, escaped, text
from polymat.page.subject import Subject
from polymat.page.wording import GLOSSARY, limit

WIDE, NARROW = 1060.0, 352.0  # units of the drawing, of which one is a pixel where there is room


def document(subject: Subject, report: Report) -> str:
    """The page of a report, for the sizes of its profile, or else for those that predictions hold for."""
    profile, pipeline = report.profile, subject.schedule.grouping.pipeline
    given = subject.request.estimates if profile is None else profile.sizes
    sizes = assumed_sizes(pipeline, given)
    asked = subject.request
    threads = asked.machine.team(asked.options.threads) if profile is None else profile.threads
    figures = Figures.at(pipeline, asked.machine, sizes, threads)
    cards = [
        Card.of(subject, number, plan, told, figures, measured)
        for number, (plan, told, measured) in enumerate(
            zip(
                subject.schedule.plans,
                report.groups,
                profile.groups if profile is not None else [None] * len(report.groups),
                strict=True,
            ),
            1,
        )
    ]
    anchor = f"pm{hashlib.sha256(str(report).encode()).hexdigest()[:8]}"
    parts = [
        element("style", style()),
        text("h2", report.name),
        *_summary(report, subject, cards, figures),
        *graph(subject, cards, anchor, anchor),
        *overview(cards, anchor),
        *(card.html(anchor) for card in cards),
        *notes(report),
        *rest(report),
    ]
    return element("div", "".join(parts), class_="polymat-page")


def _summary(report: Report, subject: Subject, cards: Sequence[Card], figures: Figures) -> Iterator[str]:
    """The whole in a few sentences."""
    pipeline, written = subject.schedule.grouping.pipeline, len(subject.built.stages)
    machine = subject.request.machine
    called = sum(bool(card.told.library_calls) for card in cards)
    fused = sum(len(card.told.stages) > 1 for card in cards)
    inlined = written - len(pipeline.stages)
    told = [counted(written, "stage") + " of the definition"]
    told += [f"{inlined} put into others or shared"] if inlined > 0 else []
    after = ", one after the other" * (len(cards) > 1)
    alone = ", of several stages (fused)" * (len(cards) == fused == 1)
    told.append(f"{counted(len(cards), 'group')} of loops or calls{after}{alone}")
    told += [f"{fused} of them of several stages (fused)"] if fused and not alone else []
    told += [f"{called} with library calls"] if called else []
    yield text("p", "; ".join(told) + ".")
    seconds = sum(card.seconds for card in cards if not card.kept)
    words = f"Predicted: {seconds_text(seconds)} a call"
    if report.profile is not None:
        words += f"; measured: {seconds_text(report.profile.seconds)}"
    running = [card for card in cards if not card.kept] or cards
    slowest = max(running, key=lambda card: card.measured or card.seconds)
    words += f". The longest is group {slowest.number}, limited by {limit(slowest.found.cost)}."
    yield text("p", words)
    given = "assumed, for want of estimates=" if report.assumed and report.profile is None else "as given"
    yield machine_note(machine, figures.threads, figures.sizes, given)
    if report.beyond_memory:
        words = "Arrays of these sizes are beyond this machine's memory: give estimates= for predictions."
        yield element("p", text("b", words))


def machine_note(machine: Machine, threads: int, sizes: Mapping[str, int], given: str) -> str:
    """For which sizes and machine figures are; given: where the sizes come from."""
    named = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    rates = f"{rate_text(machine.peak_flops(8, threads), 'FLOP/s')} in double precision"
    caches = ", ".join(f"L{cache.level} {bytes_text(cache.bytes)}" for cache in machine.caches)
    known = "measured" if machine.calibration is not None else "estimated"
    team = f"{machine.microarchitecture}, {counted(threads, 'thread')}"
    place = f"{team}, {rates}, {caches}; its speeds are {known}"
    return text("p", f"{f'Sizes: {named} ({given}). ' if named else ''}Machine: {place}.", class_="note")


def graph(subject: Subject, cards: Sequence[Card], anchor: str, own: str) -> Iterator[str]:
    """The graph twice, for wide and for narrow screens; anchor: of the cards, own: of this graph alone."""
    pipeline = subject.schedule.grouping.pipeline
    if len(pipeline.stages) > MOST_DRAWN:
        yield text("p", f"The graph has {len(pipeline.stages)} stages, too many to be drawn.", class_="note")
        return
    groups, titles = [card.told.stages for card in cards], [card.short for card in cards]
    for kind, widest in (("wide", WIDE), ("narrow", NARROW)):
        links = [f"{anchor}-{card.number}" for card in cards]
        drawn = drawing(pipeline, groups, titles, links, f"{own}-{kind}", widest)
        yield element("div", drawn, class_=f"graph {kind}")
    words = "Dashed: inputs. Blue: groups, which share loops or a call. Bold: results."
    yield text("p", words, class_="note")


def overview(cards: Sequence[Card], anchor: str) -> Iterator[str]:
    """A line for each group, with its share of the time."""
    total = sum(card.seconds for card in cards if not card.kept) or 1.0
    others = any(card.next_best for card in cards)
    rows = []
    for card in cards:
        share = "first call" if card.kept else f"{card.seconds / total:.0%}"
        took = "" if card.measured is None else seconds_text(card.measured)
        cells = [
            element("a", escaped(card.title), href=f"#{anchor}-{card.number}"),
            escaped(f"{seconds_text(card.seconds)} ({share})"),
            *([escaped(took)] if any(each.profile for each in cards) else []),
            escaped(limit(card.found.cost)),
        ]
        beside = element("td", escaped(card.next_best), class_="beside") if others else ""
        rows.append(element("tr", "".join(element("td", cell) for cell in cells) + beside))
    heads = ["group", "predicted", *(["measured"] if any(c.profile for c in cards) else []), "limited by"]
    last = text("th", "next best", class_="beside") if others else ""
    head = element("tr", "".join(text("th", each) for each in heads) + last)
    yield element("table", head + "".join(rows))


def notes(report: Report) -> Iterator[str]:
    """The notes of a report: what was found on the way, and why something is not done."""
    if report.notes:
        yield text("h3", "Notes")
        yield bulleted(map(escaped, report.notes))


def rest(report: Report) -> Iterator[str]:
    """The end of a page: what words mean, and the report as text."""
    words = (text("dt", word) + text("dd", meaning) for word, meaning in GLOSSARY)
    yield element("details", text("summary", "What the words mean") + element("dl", "".join(words)))
    yield element("details", text("summary", "All of it as text") + text("pre", str(report)))


def style() -> str:
    """How a page looks: light and dark, on narrow and wide screens, in a notebook as by itself.

    Every rule is below one class, so that the rest of a notebook stays as it is.
    """
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")
