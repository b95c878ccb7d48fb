"""The benchmarks for users, `python -m polymat bench`: kept case by case, and continued after a kill."""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.machinetext import about, header
from benchmarks.measure import QUICK_SECONDS, SECONDS, Crew, progress, run_case
from benchmarks.records import (
    CompleteError,
    Entry,
    Key,
    Record,
    RecordError,
    keep_record,
    read_record,
    roofs,
    rows_of,
)
from benchmarks.report import remarks, table
from benchmarks.section import Section
from benchmarks.selection import ALL, Selection, SelectionError, installed_here, select
from benchmarks.slower import compare_lines
from polymat.errors import counted
from polymat.machine.model import Machine
from polymat.runtime.calibration import calibrated_machine
from polymat.runtime.target import UsageError

ALIKE = ("machine", "compiler", "polymat", "rounds", "peers")
"""What has to be the same for a run to go on with a file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a run, in order, by section and number of threads; how often each is measured."""

    parts: tuple[tuple[Section, int, tuple[Key, ...]], ...]
    visits: int = 1

    @property
    def keys(self) -> tuple[Key, ...]:
        """All of them."""
        return tuple(key for *_, keys in self.parts for key in keys)

    @property
    def count(self) -> int:
        """How many cases are measured, one of several visits as often."""
        return self.visits * len(self.keys)

    def left(self, record: Record) -> int:
        """How many visits of cases a record has not."""
        return sum(max(0, self.visits - record.visits(key)) for key in self.keys)


def run(asked: argparse.Namespace) -> int:
    """Do what the command line asks for; the exit status."""
    try:
        return _compare(*map(Path, asked.compare)) if asked.compare else _bench(asked)
    except (SelectionError, RecordError) as error:
        raise UsageError(str(error)) from error


def _compare(before: Path, after: Path) -> int:
    lines, slower = compare_lines(read_record(before), read_record(after))
    print("\n".join(lines))
    return min(slower, 1)


def _bench(asked: argparse.Namespace) -> int:
    os.environ["POLYMAT_CALIBRATE"] = "off"  # what is said of the machine stays so
    machine = calibrated_machine()
    names = asked.peers.split(",") if asked.peers else ()
    selection = select(asked.names, dataset=asked.dataset, peers=names or (ALL,), quick=asked.quick)
    if asked.quick and not names:
        selection = select(
            asked.names, dataset=asked.dataset, peers=installed_here(selection.sections), quick=True
        )
    plan = plan_of(selection, _threads(asked, machine), asked.visits)
    path = Path(asked.output or f"polymat-bench{'-quick' * asked.quick}.json")
    record = begun(path, _begin(machine, asked, plan), plan, again=asked.again)
    print(header(machine), flush=True)
    record = finish(path, record, selection, plan, machine, until=deadline(asked.minutes))
    print("\n".join(lines_of(record, plan)), flush=True)
    print(f"kept in {path}; `bench --compare {path} LATER.json` names what becomes slower")
    return int(any(entry.row.wrong for entry in record.entries))


def _threads(asked: argparse.Namespace, machine: Machine) -> tuple[int, ...]:
    counts = tuple(int(count) for count in asked.threads.split(",")) if asked.threads else ()
    if any(count > machine.cores for count in counts):
        raise UsageError(f"--threads {asked.threads}: this machine has {machine.cores} cores")
    return counts or tuple(sorted({1, machine.cores}))


def _begin(machine: Machine, asked: argparse.Namespace, plan: Plan) -> Record:
    seconds = QUICK_SECONDS if asked.quick else SECONDS
    peers = asked.peers or ("those installed beside polymat" if asked.quick else ALL)
    rounds = f"{'quick: a part of the cases, ' * asked.quick}{seconds:g} s a case"
    conditions = {**about(machine), "rounds": rounds, "peers": peers}
    return Record(conditions, roofs=roofs(machine, dict.fromkeys(count for _, count, _ in plan.parts)))


def plan_of(selection: Selection, threads: Sequence[int], visits: int = 1) -> Plan:
    """The cases of a selection on those numbers of threads that a section is for."""
    progress("listing cases\n")
    parts = []
    for section in selection.sections:
        names = [case.name for case in selection.cases(section)]
        # A section for one thread alone stays so; others take whatever is asked for.
        counts = threads if len(section.threads) > 1 else [count for count in threads if count == 1]
        parts += [(section, count, tuple((section.name, name, count) for name in names)) for count in counts]
    return Plan(tuple(part for part in parts if part[2]), visits)


def begun(path: Path, empty: Record, plan: Plan, *, again: bool) -> Record:
    """What a file has of a run like this one, or nothing yet; `RecordError` where it is of another run."""
    if again or not path.exists():
        return empty
    found = read_record(path)
    for what in ALIKE:
        was, now = found.about.get(what, ""), empty.about.get(what, "")
        if was != now:
            raise RecordError(
                f"{path} is of another run: {what} was {was!r} and is {now!r}; --again begins anew, "
                "--output names another file"
            )
    count, left = plan.count, plan.left(found)
    if not left:
        raise CompleteError(f"{path} has all {count} cases: --again measures them anew, --output elsewhere")
    progress(f"going on with {path}: {count - left} of {count} cases are there\n")
    asked = {"cases": empty.about["cases"]} if "cases" in empty.about else {}
    return replace(found, about={**found.about, **asked})


def deadline(minutes: float | None) -> float:
    """When no further case begins, by the clock of `finish`; never where nothing was asked."""
    return math.inf if minutes is None else time.monotonic() + 60 * minutes


def finish(
    path: Path,
    record: Record,
    selection: Selection,
    plan: Plan,
    machine: Machine,
    *,
    until: float = math.inf,
) -> Record:
    """Measure what is not there yet, and keep it after every case; begin none after a time."""
    clock = Clock(plan.left(record))
    for visit in range(plan.visits):
        for section, threads, keys in plan.parts:
            if all(record.visits(key) > visit for key in keys) or time.monotonic() >= until:
                continue
            with Crew(selection.crew(section, threads)) as crew:
                for case in selection.cases(section):
                    key = section.name, case.name, threads
                    if record.visits(key) <= visit and time.monotonic() < until:
                        progress(f"{clock.text} {section.name}: {case.name}, {counted(threads, 'thread')} ")
                        row = run_case(case, crew, threads, _seconds(selection), section.patience)
                        record = record.with_entry(section, Entry.of(section.name, row, machine))
                        keep_record(path, record)
                        clock.tick()
    if missing := plan.left(record):
        progress(f"{missing} of {plan.count} cases are left for another run\n")
    return record


def _seconds(selection: Selection) -> float:
    return QUICK_SECONDS if selection.quick else SECONDS


class Clock:
    """How far a run is, and how long the rest will take if cases go on as they went."""

    def __init__(self, cases: int) -> None:
        self._cases, self._done, self._begin = cases, 0, time.monotonic()

    def tick(self) -> None:
        """One more is done."""
        self._done += 1

    @property
    def text(self) -> str:
        """Which case comes now, of how many, and the time that is left."""
        where = f"[{self._done + 1}/{self._cases}"
        if not self._done:
            return f"{where}]"
        left = (time.monotonic() - self._begin) / self._done * (self._cases - self._done)
        return f"{where}, {duration_text(left)} left]"


def duration_text(seconds: float) -> str:
    """Hours and minutes, or minutes, or seconds."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 90 else f"{seconds:.0f} s"


def lines_of(record: Record, plan: Plan) -> Iterator[str]:
    """A table a section and number of threads, and why something is missing."""
    for section, threads, keys in plan.parts:
        rows = [
            row for row in rows_of(record, section.name, threads) if (section.name, row.case, threads) in keys
        ]
        yield from ("", f"## {section.title}, {counted(threads, 'thread')}", "")
        yield from table(rows, section.rivals, told=section.told)
        yield from ("", *remarks(rows, section.rivals))
