"""Two runs beside each other: what takes longer in the second one, beyond what noise explains.

Runs are of different hours, and a shared machine may have been quicker in one of them.  So a case counts as
slower only when it takes longer, and the median and the least of its rounds say so when they are measured by
what the peers of that case took in the same rounds: by more than medians of so many rounds differ, and by
more than programs differ between the runs that are the same in both, those of the peers.  Where runs visited
a case more than once (`bench --visits 2`), each visit of the second run has to say so beside each of the
first: what another process or another minute does alone is then no change.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness import Timing
from benchmarks.peers.table import is_own
from benchmarks.records import Entry, Heading, Key, Record
from benchmarks.report import geometric_mean, show_seconds
from polymat.errors import counted

LEAST_CHANGE = 1.1  # times as long: what is less is not told
SPREADS = 2.0  # of the medians of both runs, that a change has to exceed
FEWEST_ROUNDS, FEWEST_PROGRAMS = 3, 5
WRONGLY = 0.05  # the chance that anything is named slower where nothing has changed, quicker likewise
DEVIATION = 1.4826  # of a normal distribution, by its median distance from the median
TOO_NOISY = 1.25  # where unchanged programs differ by more, runs are not fit to be compared
Timings = Mapping[str, Timing]
Both = tuple[Timing, Timing]


@dataclass(frozen=True, slots=True)
class Change:
    """One way of calling polymat in one case.

    before, after: seconds, medians.  times: how many times as long it takes after, in the median.  least,
    most: of that and of the least times, by what the peers took.  noise: the factor within which rounds of
    the same code differ.  drift: how many times as long the peers take; 1 without any.
    """

    key: Key
    subject: str
    before: float
    after: float
    times: float
    least: float
    most: float
    noise: float
    drift: float = 1.0

    @property
    def is_slower(self) -> bool:
        """Whether it takes longer beyond the noise."""
        return self.least > self.noise and self.times > LEAST_CHANGE

    @property
    def is_quicker(self) -> bool:
        """Whether it takes less time beyond the noise."""
        return self.most < 1.0 / self.noise and self.times < 1.0 / LEAST_CHANGE


def spread(timing: Timing) -> float:
    """How far medians of so many rounds differ, of the median.

    It is half of what the middle half of the rounds spans where they are as few as may be, and falls with the
    root of their number.
    """
    low, middle, high = statistics.quantiles(timing.rounds, n=4)
    return (high - low) / 2.0 / middle * math.sqrt(FEWEST_ROUNDS / len(timing.rounds))


def changes(before: Record, after: Record) -> list[Change]:
    """Every case and way of calling polymat that both runs have enough rounds of."""
    found: list[Change] = []
    between = scatter_between(before, after)
    for entry, earlier, heading in _common(before, after):
        peers = [*_peers(heading, earlier.row.timings, entry.row.timings)]
        for subject in heading.rivals:
            both = _both(earlier.row.timings, entry.row.timings, subject)
            if both is not None:
                found.append(_change(entry.key, subject, both, peers, between))
    return found


def scatter_between(before: Record, after: Record) -> float:
    """The factor within which programs that are the same in both runs differ, but for what all do.

    The peers are such programs; where there are hardly any, most of polymat's are taken for it.
    """
    peers, own = list[Both](), list[Both]()
    for entry, earlier, heading in _common(before, after):
        peers += _peers(heading, earlier.row.timings, entry.row.timings)
        found = [_both(earlier.row.timings, entry.row.timings, subject) for subject in heading.rivals]
        own += [both for both in found if both is not None]
    # The more timings there are, the further the furthest of them that has not changed is.
    scale = DEVIATION * statistics.NormalDist().inv_cdf(1.0 - WRONGLY / max(1, len(own)))
    return math.exp(scale * _distance(peers if len(peers) >= FEWEST_PROGRAMS else own))


def _distance(many: Sequence[Both]) -> float:
    """The median distance of the logarithms of ratios from their median; 0 of none."""
    if not many:
        return 0.0
    ratios = [math.log(now.seconds / was.seconds) for was, now in many]
    middle = statistics.median(ratios)
    return statistics.median(abs(ratio - middle) for ratio in ratios)


def _common(before: Record, after: Record) -> Iterator[tuple[Entry, Entry, Heading]]:
    """The rows of both runs: after, before, and what their section is."""
    for entry in after.entries:
        earlier, heading = before.entry(entry.key), after.headings.get(entry.section)
        if earlier is not None and heading is not None:
            yield entry, earlier, heading


def _both(before: Timings, after: Timings, name: str) -> Both | None:
    if name in before and name in after and _enough(before[name], after[name]):
        return before[name], after[name]
    return None


def _enough(*timings: Timing) -> bool:
    return all(len(timing.rounds) >= FEWEST_ROUNDS for timing in timings)


def _peers(heading: Heading, before: Timings, after: Timings) -> Iterator[Both]:
    """What both runs have of the peers that are not polymat, and so are the same programs in both."""
    names = [peer for peers in heading.rivals.values() for peer in peers if not is_own(peer)]
    for peer in dict.fromkeys(names):
        both = _both(before, after, peer)
        if both is not None:
            yield both


def _change(key: Key, subject: str, both: Both, peers: Sequence[Both], between: float) -> Change:
    before, after = both
    drift = _drift((was.seconds, now.seconds) for was, now in peers)
    times = after.seconds / before.seconds
    figures = [times / drift, min(after.rounds) / min(before.rounds) / drift, *_by_visits(both, peers)]
    spreads = [spread(before), spread(after)]
    # The peers' own noise is that of the quietest one: their median hardly follows the others.
    spreads += [min(math.hypot(spread(was), spread(now)) for was, now in peers)] if peers else []
    noise = max(LEAST_CHANGE, between, 1.0 + SPREADS * math.hypot(*spreads))
    return Change(
        key, subject, before.seconds, after.seconds, times, min(figures), max(figures), noise, drift
    )


def _drift(seconds: Iterable[tuple[float, float]]) -> float:
    """How many times as long programs take now that took some time before; 1 without any."""
    found = [now / was for was, now in seconds]
    return statistics.median(found) if found else 1.0


def _by_visits(both: Both, peers: Sequence[Both]) -> Iterator[float]:
    """How many times as long it takes, from each visit of the run before to each of the one after."""
    before, after = both
    for then, was in enumerate(before.by_visit):
        for now, seconds in enumerate(after.by_visit):
            theirs = ((old.by_visit[then], new.by_visit[now]) for old, new in peers)
            yield seconds / was / _drift(theirs)


def compare_lines(before: Record, after: Record) -> tuple[list[str], int]:
    """What to print, and how many cases became slower."""
    found = changes(before, after)
    slower = sorted((each for each in found if each.is_slower), key=lambda each: -each.least)
    quicker = sorted((each for each in found if each.is_quicker), key=lambda each: each.most)
    lines = [*_conditions(before, after)]
    for title, some in (("slower", slower), ("quicker", quicker)):
        if some:
            lines += [f"{title}:", *map(_line, some)]
    between = scatter_between(before, after)
    if between > TOO_NOISY:
        lines.append(
            f"note: programs that are the same in both runs differ by up to {between:.2f} times, and less "
            "than that is not told: `python -m benchmarks.compare` interleaves two checkouts"
        )
    cases = [entry.key for entry in after.entries if before.entry(entry.key) is not None]
    left_out = len({*cases}.difference(each.key for each in found))
    if left_out:
        lines.append(
            f"note: {left_out} case{'s have' if left_out > 1 else ' has'} fewer than {FEWEST_ROUNDS} rounds "
            "in one of the runs, which say nothing"
        )
    lines.append(
        f"{len(found)} timings of {len(cases)} cases in both runs: {len(slower)} slower, "
        f"{len(quicker)} quicker, geometric mean {geometric_mean(each.times for each in found):.3f} "
        "times as long"
        if found
        else "the two runs have no timing in common"
    )
    return lines, len(slower)


def _conditions(before: Record, after: Record) -> Iterator[str]:
    """What is not alike: figures of two machines say nothing of a change."""
    for what in ("machine", "compiler"):
        was, now = before.about.get(what, "?"), after.about.get(what, "?")
        if was != now:
            yield f"note: another {what}: {was} before, {now} after"


def _line(each: Change) -> str:
    section, case, threads = each.key
    where = f"{section}: {case}, {each.subject}, {counted(threads, 'thread')}"
    surest = each.least if each.is_slower else each.most
    peers = "" if each.drift == 1.0 else f" where peers take {each.drift:.2f} times"
    return (
        f"  {where}: {each.times:.2f} times as long{peers}, {show_seconds(each.before)} before, "
        f"{show_seconds(each.after)} after; surely {surest:.2f}, noise explains {each.noise:.2f}"
    )
