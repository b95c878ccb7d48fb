"""The image pipelines as points a second and shares of memory's bandwidth, beside presets of the papers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures.glance import folders_of
from benchmarks.figures.tables import (
    NOTHING,
    Column,
    Table,
    caption,
    joined,
    line,
    named_rows,
    ratio_cells,
    threads_of,
)
from benchmarks.images import find_program
from benchmarks.measure import Row
from benchmarks.records import Record, read_record

SECTION, SUBJECT = "images", "polymat, out="
PEERS = ("paper, out=", "polymage, out=", "unfused, out=", "naive, out=", "Halide")
HEAD = """\
## The six image pipelines of PolyMage's evaluation

PolyMage's thesis prints no times of the six pipelines: its section 5.3.3 says that its own way (our preset
`paper`) and the one before it (`polymage`) take within 4 % of each other's time. Beside ours stand these
presets, the unfused and the naive way and Halide, as times over those of our default into arrays that are
there; a column that a machine's record has not yet is left out. *Image pipelines of the thesis* above has
both presets of an earlier day. Points are pixels of the result; the share is that of the calibrated bandwidth
of memory by the bytes that must move, inputs once and results once.
"""


def image_rate_lines(results: Path) -> Iterator[str]:
    """The section of the page: a table for each machine; nothing where there is no record."""
    paths = [folder / f"{SECTION}.json" for _, folder in folders_of(results)]
    records = [read_record(path) for path in paths if path.exists()]
    yield from (HEAD,) if records else ()
    for record in records:
        yield from (caption(record, SECTION), "", *_table(record), "")


def _table(record: Record) -> Iterator[str]:
    measured = {peer for entry in record.entries for peer in entry.row.timings}
    table = Table(SECTION, SUBJECT, tuple(Column(peer, (peer,)) for peer in PEERS if peer in measured))
    heads = ["Mpixel/s", "of bandwidth", *(column.title for column in table.columns)]
    yield line(["case", *heads])
    yield line(["---", *["---:"] * len(heads)])
    for name, rows in named_rows(record, table).items():
        there = [rows.get(count) for count in threads_of(record, SECTION)]
        rates, shares = joined([*map(_rate, there)]), joined([_share(record, row) for row in there])
        yield line([name, rates, shares, *ratio_cells(record, table, rows)])


def points(row: Row) -> int:
    """Pixels of the result of a case."""
    name, _, dataset = row.case.partition(" ")
    program = find_program(name)
    return program.points(program.sizes[dataset])


def _rate(row: Row | None) -> str:
    """Millions of pixels a second."""
    if row is None or SUBJECT not in row.timings:
        return NOTHING
    return f"{points(row) / row.timings[SUBJECT].seconds / 1e6:.0f}"


def _share(record: Record, row: Row | None) -> str:
    """How much of memory's bandwidth the bytes that must move are."""
    if row is None or SUBJECT not in row.timings:
        return NOTHING
    rate = row.traffic / row.timings[SUBJECT].seconds / 1e9
    return f"{rate / record.roofs[str(row.threads)]['memory']:.2f}"
