"""Rows as a Markdown table: time, rate, fraction of what the machine can do, and ratios to the peers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.harness import ratio
from benchmarks.measure import Row
from benchmarks.peers.table import BOUNDS
from polymat.machine.model import MEMORY, Machine

Rivals = Mapping[str, tuple[str, ...]]


def show_seconds(seconds: float) -> str:
    """Three digits with a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return (
                f"{seconds / scale:.3g} {unit}" if seconds < 1000 * scale else f"{seconds / scale:.0f} {unit}"
            )
    return f"{seconds * 1e9:.3g} ns"


def level_of(machine: Machine, traffic: int, threads: int) -> int:
    """The nearest level of memory that holds so many bytes: 1, 2, 3 or MEMORY."""
    for cache in machine.caches:
        if traffic <= machine.capacity(cache.level, threads) * threads:
            return cache.level
    return MEMORY


def least_seconds(row: Row, machine: Machine) -> tuple[float, str]:
    """The time that peak arithmetic, or the bandwidth of the level the data lives in, allows; and which."""
    level = level_of(machine, row.traffic, row.threads)
    moving = row.traffic / machine.bandwidth(level, row.threads, row.stream)
    computing = row.flops / machine.peak_flops(row.element_bytes, row.threads)
    return (
        (computing, "peak") if computing >= moving else (moving, "memory" if level == MEMORY else f"L{level}")
    )


def ratios(row: Row, rivals: Rivals) -> dict[str, float]:
    """How many times faster polymat is than each peer, called in the same way."""
    found: dict[str, float] = {}
    for subject, peers in rivals.items():
        mine = row.timings.get(subject)
        if mine is not None:
            found.update((p, ratio(row.timings[p], mine)) for p in peers if p in row.timings)
    return found


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean; NaN of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def table(rows: Sequence[Row], rivals: Rivals, *, told: Sequence[str] = ()) -> Iterator[str]:
    """The lines of the table, and of the geometric means a group; in a last column what `told` peers say."""
    peers = [peer for names in rivals.values() for peer in names if any(peer in row.timings for row in rows)]
    head = ["case", *rivals, "rate", "of limit", *(f"x {peer}" for peer in peers), "x best", *told]
    yield _line(head)
    yield _line(["---", *("---:" for _ in head[1:])])
    for row in rows:
        found = ratios(row, rivals)
        said = [row.notes.get(peer, "") for peer in told]
        cells = [*_times(row, rivals), *_rate(row, rivals), *_ratios(found, peers)]
        yield _line([row.case, *cells, *said])
    for group in dict.fromkeys(row.group for row in rows):
        many = [ratios(row, rivals) for row in rows if row.group == group]
        if len(many) > 1:
            means = {p: geometric_mean(f[p] for f in many if p in f) for p in peers}
            cells = [_number(means[p]) for p in peers]
            best = geometric_mean(value for value in map(_least, many) if not math.isnan(value))
            yield _line(
                [f"**{group}**, geometric mean", *("" for _ in rivals), "", "", *cells, _number(best)]
                + [""] * len(told)
            )


def remarks(rows: Sequence[Row], rivals: Rivals) -> Iterator[str]:
    """What has no timing, and why, a line each."""
    names = [*rivals, *(peer for peers in rivals.values() for peer in peers), "timing"]
    for name in names:
        by_text: dict[str, list[str]] = {}
        for row in rows:
            if name not in row.timings and name in row.notes:
                by_text.setdefault(row.notes[name], []).append(row.case)
        for text, cases in by_text.items():
            where = "everywhere" if len(cases) == len(rows) else ", ".join(cases)
            yield f"- {name}, {where}: {text}"
    for row in rows:
        if row.timings and not any(subject in row.timings for subject in rivals):
            best = min(row.timings.values(), key=lambda timing: timing.seconds)
            yield f"- {row.case}, without polymat: {best.peer} is the best with {show_seconds(best.seconds)}"


def _times(row: Row, rivals: Rivals) -> list[str]:
    return [show_seconds(row.timings[s].seconds) if s in row.timings else "–" for s in rivals]


def _rate(row: Row, rivals: Rivals) -> list[str]:
    mine = [row.timings[subject].seconds for subject in rivals if subject in row.timings]
    if not mine:
        return ["–", "–"]
    count, unit = (row.flops, "GFLOP/s") if row.compute_bound else (row.traffic, "GB/s")
    of_limit = "–" if row.least is None else f"{row.least[0] / min(mine):.2f} {row.least[1]}"
    return [f"{count / min(mine) / 1e9:.3g} {unit}", of_limit]


def _ratios(found: Mapping[str, float], peers: Sequence[str]) -> list[str]:
    cells = [_number(found.get(peer, math.nan)) for peer in peers]
    return [*cells, _number(_least(found))]


def _least(found: Mapping[str, float]) -> float:
    """The ratio of the quickest rival; NaN without one."""
    return min((value for peer, value in found.items() if peer not in BOUNDS), default=math.nan)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
