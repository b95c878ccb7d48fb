"""Pictures of records as SVG, told apart by shape and shade alone, so that they can be printed in black."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchmarks.figures.tables import threads_of
from benchmarks.measure import Row
from benchmarks.records import Record, rows_of
from benchmarks.report import geometric_mean, ratios, show_seconds
from polymat.errors import counted

WIDTH = 8.0  # inches
MOST_BARS = 80  # of a picture: with more, the means of groups are shown
SHADES = ("0.25", "white", "0.6", "0.85", "0.45", "0.95", "white", "0.8", "0.15", "white")
HATCHES = ("", "////", "", "||||", "\\\\\\", "xxxx", "", "....", "----", "oo")
LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "x", "D", "+")
FEW_DECADES = 1e3  # from the least to the most seconds, up to which 2 and 5 of each power have figures, too
NEAR = 1.5  # the factor between predicted and measured that is called near


def svg(draw: Any, *arguments: Any, height: float, title: str) -> str:
    """The text of a picture: `draw(axes, *arguments)` under a title."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    # Text stays text, and names in the file do not change from one run to the next.
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "polymat",
        "font.size": 9,
        "hatch.linewidth": 0.6,
    }
    with matplotlib.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
        draw(axes, *arguments)
        axes.set_title(title, fontsize=9, loc="left")
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return file.getvalue()


def bars(record: Record, section: str, threads: int) -> str | None:
    """How many times as long the peers take, case by case or group by group; None where there are none."""
    rivals = record.headings[section].rivals
    rows = rows_of(record, section, threads)
    found = {row.case: ratios(row, rivals) for row in rows}
    if sum(map(len, found.values())) > MOST_BARS:
        groups = dict.fromkeys(row.group for row in rows)
        found = {group: _means([ratios(r, rivals) for r in rows if r.group == group]) for group in groups}
    peers = [*dict.fromkeys(peer for each in found.values() for peer in each)]
    if not peers:
        return None
    height = 1.3 + 0.13 * len(found) * (len(peers) + 1)
    return svg(_draw_bars, found, peers, height=height, title=_title(record, section, threads))


def _means(many: Sequence[dict[str, float]]) -> dict[str, float]:
    peers = dict.fromkeys(peer for each in many for peer in each)
    return {peer: geometric_mean(each[peer] for each in many if peer in each) for peer in peers}


def _draw_bars(axes: Any, found: dict[str, dict[str, float]], peers: Sequence[str]) -> None:
    thick = 0.85 / len(peers)
    for number, peer in enumerate(peers):
        places = [
            at + (number - (len(peers) - 1) / 2) * thick
            for at, each in enumerate(found.values())
            if peer in each
        ]
        values = [each[peer] for each in found.values() if peer in each]
        style = number % len(SHADES)
        axes.barh(
            places,
            [value - 1 for value in values],
            thick,
            left=1,
            color=SHADES[style],
            hatch=HATCHES[style],
            edgecolor="black",
            linewidth=0.6,
            label=peer,
        )
        for place, value in zip(places, values, strict=True):
            axes.annotate(
                f"{value:.3g}",
                (value, place),
                xytext=(3 if value >= 1 else -3, 0),
                textcoords="offset points",
                ha="left" if value >= 1 else "right",
                va="center",
                fontsize=7,
            )
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.4, high * 1.4)
    axes.axvline(1.0, color="black", linewidth=1.0)
    axes.set_yticks(range(len(found)), [*found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlabel("times as long as polymat takes; right of 1 polymat is quicker")
    axes.xaxis.set_major_formatter(_plain)
    axes.xaxis.set_minor_formatter(_nothing)
    axes.get_figure().legend(fontsize=8, loc="outside upper center", ncols=4)


def _plain(value: float, _: object) -> str:
    return f"{value:g}"


def _nothing(_: float, __: object) -> str:
    return ""


_CUBE = re.compile(r"(\d+), (float\d\d)")


def over_size(record: Record, section: str, threads: int) -> dict[str, str]:
    """GFLOP/s of products of square matrices over their size, by element type; empty without any."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for row in rows_of(record, section, threads):
        if match := _CUBE.fullmatch(row.case):
            found.setdefault(match[2], []).append((int(match[1]), row))
    return {
        dtype: svg(
            _draw_sizes, sorted(many, key=_first), dtype, height=3.6, title=_title(record, section, threads)
        )
        for dtype, many in found.items()
        if len(many) >= 5
    }


def _first(pair: tuple[int, Row]) -> int:
    return pair[0]


def _draw_sizes(axes: Any, many: Sequence[tuple[int, Row]], dtype: str) -> None:
    names = dict.fromkeys(name for _, row in many for name in row.timings)
    for number, name in enumerate(names):
        points = [(n, row.flops / row.timings[name].seconds / 1e9) for n, row in many if name in row.timings]
        axes.plot(
            [n for n, _ in points],
            [rate for _, rate in points],
            linestyle=LINES[number % len(LINES)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            color="black" if name.startswith("polymat") else "0.45",
            linewidth=1.4 if name.startswith("polymat") else 0.9,
            label=name,
        )
    for n, row in many:
        if _is_behind(row):
            axes.axvspan(n / 1.03, n * 1.03, color="0.9", zorder=0)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(_plain)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"n, of n x n x n products, {dtype}; grey: sizes at which a library is quicker")
    axes.set_ylabel("GFLOP/s")
    axes.legend(fontsize=8)


def _is_behind(row: Row) -> bool:
    """Whether the quickest way of all is none of polymat's."""
    return bool(row.timings) and not min(row.timings.values(), key=_seconds).peer.startswith("polymat")


def _seconds(timing: Any) -> float:
    seconds: float = timing.seconds
    return seconds


def predictions(record: Record) -> str | None:
    """Predicted over measured seconds of all rows; None where nothing was predicted."""
    found: dict[int, list[tuple[float, float]]] = {}
    for entry in record.entries:
        for subject, predicted in entry.row.predicted.items():
            if subject in entry.row.timings:
                pair = entry.row.timings[subject].seconds, predicted
                found.setdefault(entry.row.threads, []).append(pair)
    if not found:
        return None
    titles = "; ".join(heading.title for heading in record.headings.values())
    return svg(_draw_predictions, found, height=5.6, title=f"{titles}\n{_conditions(record)}")


def _draw_predictions(axes: Any, found: dict[int, list[tuple[float, float]]]) -> None:
    values = [value for pairs in found.values() for pair in pairs for value in pair]
    ends = min(values) / 2, max(values) * 2
    axes.fill_between(ends, [end / NEAR for end in ends], [end * NEAR for end in ends], color="0.9")
    axes.plot(ends, ends, color="black", linewidth=0.8)
    for number, (threads, pairs) in enumerate(sorted(found.items())):
        near = sum(1 / NEAR <= predicted / measured <= NEAR for measured, predicted in pairs)
        axes.plot(
            [measured for measured, _ in pairs],
            [predicted for _, predicted in pairs],
            linestyle="",
            marker=MARKERS[number],
            markersize=4,
            markerfacecolor="white" if number else "0.3",
            markeredgecolor="black",
            label=f"{counted(threads, 'thread')}: {near} of {len(pairs)} within {NEAR}",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    for axis in (axes.xaxis, axes.yaxis):
        _few_ticks(axis, all_powers=ends[1] / ends[0] < FEW_DECADES)
        axis.set_major_formatter(_in_seconds)
    axes.set_xlabel("measured")
    axes.set_ylabel("predicted")
    axes.legend(fontsize=8, loc="upper left")


def roofline(record: Record, threads: int) -> str | None:
    """Rates over operations a byte, under the roof of this machine; None where the roof is not known."""
    roof = record.roofs.get(str(threads))
    rows = [(entry.section, entry.row) for entry in record.entries if entry.row.threads == threads]
    rows = [(section, row) for section, row in rows if row.flops and row.traffic and _own(row)]
    if roof is None or not rows:
        return None
    titles = "; ".join(heading.title for heading in record.headings.values())
    title = f"{titles}, {counted(threads, 'thread')}\n{_conditions(record)}"
    return svg(_draw_roofline, roof, rows, height=4.6, title=title)


def _own(row: Row) -> list[float]:
    return [timing.seconds for name, timing in row.timings.items() if name.startswith("polymat")]


def _draw_roofline(axes: Any, roof: dict[str, float], rows: Sequence[tuple[str, Row]]) -> None:
    places = [row.flops / row.traffic for _, row in rows]
    left, right = min(places) / 2, max(places) * 2
    for number, (name, peak) in enumerate((name, value) for name, value in roof.items() if name != "memory"):
        corner = peak / roof["memory"]
        axes.plot(
            [left, corner, right],
            [left * roof["memory"], peak, peak],
            color="black",
            linestyle=LINES[number],
            linewidth=1.0,
            label=f"{name} an element: {peak:.0f} GFLOP/s; memory {roof['memory']:.0f} GB/s",
        )
    for number, section in enumerate(dict.fromkeys(section for section, _ in rows)):
        points = [row for name, row in rows if name == section]
        axes.plot(
            [row.flops / row.traffic for row in points],
            [row.flops / min(_own(row)) / 1e9 for row in points],
            linestyle="",
            marker=MARKERS[number % len(MARKERS)],
            markerfacecolor=SHADES[number % len(SHADES)],
            markeredgecolor="black",
            markersize=5,
            label=section,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    _few_ticks(axes.xaxis)
    _few_ticks(axes.yaxis)
    axes.set_xlabel(
        "operations of the definition a byte, each array counted once\n"
        "above the slope data lies in a cache, above the peak fewer operations are done"
    )
    axes.set_ylabel("GFLOP/s")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _in_seconds(value: float, _: object) -> str:
    return show_seconds(value)


def _few_ticks(axis: Any, *, all_powers: bool = True) -> None:
    """Figures at 1, 2, 5 of each power of ten, or at 1 alone, written out."""
    from matplotlib.ticker import LogLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if all_powers else (1.0,)))
    axis.set_major_formatter(_plain)
    axis.set_minor_formatter(_nothing)


def _title(record: Record, section: str, threads: int) -> str:
    return f"{record.headings[section].title}, {counted(threads, 'thread')}\n{_conditions(record)}"


def _conditions(record: Record) -> str:
    """Machine, compiler and day, short enough for a title."""
    machine = ", ".join(record.about["machine"].split(", ")[:3])
    compiler = re.sub(r" \([^)]*\)", "", record.about["compiler"])
    load = f"; load {record.about['load'].partition(' ')[0]}" if "load" in record.about else ""
    return f"{machine}; {compiler}; {record.about['date']}{load}"


def pictures_of(record: Record, section: str) -> Iterator[tuple[str, str]]:
    """The pictures of a section with their names: bars, and rates over sizes."""
    for threads in _shown(threads_of(record, section)):
        picture = bars(record, section, threads)
        if picture is not None:
            yield f"bars-{threads}", picture
        for dtype, text in over_size(record, section, threads).items():
            yield f"sizes-{dtype}-{threads}", text


def _shown(counts: Iterable[int]) -> list[int]:
    """One thread, and the most."""
    found = [*counts]
    return sorted({min(found), max(found)}) if found else []
