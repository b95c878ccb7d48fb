"""Records of what is no task of peers: seconds by case and way, of programs with clocks of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.harness import Timing
from benchmarks.machinetext import about
from benchmarks.measure import Row
from benchmarks.records import Entry, Heading, Record, keep_record
from polymat.runtime.calibration import calibrated_machine

Ways = Mapping[str, Sequence[float]]
"""Seconds of all rounds by the way, or the peer, that took them."""


def plain_row(case: str, group: str, ways: Ways, *, threads: int = 1, said: str = "") -> Row:
    """A row of seconds alone; said: of the first way."""
    timings = {name: Timing(name, tuple(rounds)) for name, rounds in ways.items()}
    notes = {next(iter(ways)): said} if said else {}
    return Row(case, group, threads, 0, 0, False, 8, timings, notes)


def keep_rows(path: Path, section: str, heading: Heading, rows: Sequence[Row]) -> None:
    """Keep them as the record of a section of this machine."""
    entries = tuple(Entry(section, row) for row in rows)
    keep_record(path, Record(about(calibrated_machine()), {section: heading}, entries))
