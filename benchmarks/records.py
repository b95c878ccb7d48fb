"""What a run of the benchmarks leaves: its conditions, its rows with all their rounds, as one JSON file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.harness import Timing
from benchmarks.measure import Row
from benchmarks.report import least_seconds
from benchmarks.section import Section
from polymat.machine.model import MEMORY, Machine

FORMAT = 1
PAPERS = "papers"  # the directory of the papers' tables among the records of a machine
MACHINES = "machines"  # the directory of a folder for each microarchitecture, in that of README's records
Key = tuple[str, str, int]


class RecordError(ValueError):
    """A file is no record of a run, or of another one."""


class CompleteError(RecordError):
    """A file has all of a run."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a section is, for readers of its rows: see `Section`."""

    title: str
    rivals: Mapping[str, tuple[str, ...]]
    goals: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @staticmethod
    def of(section: Section) -> Heading:
        """Of a section that is run."""
        return Heading(section.title, dict(section.rivals), section.goals, section.told)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row and where it stands."""

    section: str
    row: Row

    @property
    def key(self) -> Key:
        """What was measured."""
        return self.section, self.row.case, self.row.threads

    @staticmethod
    def of(section: str, row: Row, machine: Machine) -> Entry:
        """A row that was measured on a machine."""
        return Entry(section, replace(row, least=least_seconds(row, machine)))


@dataclass(frozen=True, slots=True)
class Record:
    """A run.  about: date, machine, compiler and so on, in words, as `machinetext.about` says them.

    roofs: "peak, 8 bytes" and "memory" by the number of threads, in GFLOP/s and GB/s.
    """

    about: Mapping[str, str]
    headings: Mapping[str, Heading] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    roofs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def microarchitecture(self) -> str:
        """The name of the processor's, as folders of machines have it."""
        named = re.search(r"\((\w+)\), \d+ core", self.about["machine"])
        return named[1] if named else "unknown"

    def with_entry(self, section: Section, entry: Entry) -> Record:
        """This one with a row more, or with another visit of a row that is there."""
        headings = {**self.headings, section.name: Heading.of(section)}
        earlier = self.entry(entry.key)
        if earlier is None:
            return replace(self, headings=headings, entries=(*self.entries, entry))
        both = replace(earlier, row=earlier.row.with_visit(entry.row))
        entries = tuple(both if each is earlier else each for each in self.entries)
        return replace(self, headings=headings, entries=entries)

    def visits(self, key: Key) -> int:
        """How many times a case was measured, each time in processes of its own."""
        found = self.entry(key)
        return 0 if found is None else found.row.visits

    def entry(self, key: Key) -> Entry | None:
        """The row of a case, or None."""
        return next((entry for entry in self.entries if entry.key == key), None)


def roofs(machine: Machine, threads: Iterable[int]) -> dict[str, dict[str, float]]:
    """Peaks of arithmetic in GFLOP/s and the bandwidth of memory in GB/s, by the number of threads."""
    return {
        str(count): {
            **{f"peak, {size} bytes": _short(machine.peak_flops(size, count) / 1e9) for size in (4, 8)},
            "memory": _short(machine.bandwidth(MEMORY, count, "read") / 1e9),
        }
        for count in threads
    }


def write_record(path: Path, record: Record) -> None:
    """Write the file as a whole: a reader, or a run that is killed, finds the old one or the new one."""
    found = {
        "format": FORMAT,
        "about": dict(record.about),
        "roofs": {count: dict(values) for count, values in record.roofs.items()},
        "sections": {
            name: {
                "title": each.title,
                "rivals": each.rivals,
                "goals": each.goals,
                **({"told": each.told} if each.told else {}),
            }
            for name, each in record.headings.items()
        },
    }
    head = json.dumps(found, indent=1, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n".join(json.dumps(_entry_json(entry), ensure_ascii=False) for entry in record.entries)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(f'{head},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    beside.replace(path)


def keep_record(path: Path, record: Record) -> None:
    """Write the file; what is there of another machine goes into the folder of its microarchitecture before.

    Of two of that folder the one with more rows is its record, and the other one is kept beside it, as is
    what is none, and what was there of another machine of the microarchitecture whose folder is written.
    """
    if path.exists():
        _put_aside(path, record.about["machine"])
    write_record(path, record)


def _put_aside(path: Path, machine: str) -> None:
    try:
        before = read_record(path)
    except RecordError:
        path.replace(path.with_name(f"{path.name}.unreadable"))
        return
    if before.about["machine"] == machine:
        return
    kept = _place_of(path, before.microarchitecture)
    kept.parent.mkdir(parents=True, exist_ok=True)
    beside = kept.with_name(f"{kept.name}.fewer")
    if kept == path:
        path.replace(path.with_name(f"{path.name}.other"))
    elif not kept.exists():
        path.replace(kept)
    elif _rows_in(kept) > len(before.entries):
        path.replace(beside)
    else:
        kept.replace(beside)
        path.replace(kept)


def _place_of(path: Path, microarchitecture: str) -> Path:
    """Where a microarchitecture has the record that is README's, or another one's, at this path."""
    tail = Path(path.parent.name, path.name) if path.parent.name == PAPERS else Path(path.name)
    results = path.parents[len(tail.parts) - 1]
    beside = results.parent.name == MACHINES
    return (results.parent if beside else results / MACHINES) / microarchitecture / tail


def _rows_in(path: Path) -> int:
    try:
        return len(read_record(path).entries)
    except RecordError:
        return 0


def read_record(path: Path) -> Record:
    """The run that a file holds; `RecordError` where it holds none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise RecordError(f"{path} has format {found['format']}, not {FORMAT}")
        headings = {
            name: Heading(
                each["title"],
                {subject: tuple(peers) for subject, peers in each["rivals"].items()},
                tuple(each["goals"]),
                tuple(each.get("told", ())),
            )
            for name, each in found["sections"].items()
        }
        return Record(found["about"], headings, tuple(map(_entry, found["rows"])), found["roofs"])
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, RecordError):
            raise
        raise RecordError(f"{path} is no result of `polymat bench` or `make bench`") from error


def _entry_json(entry: Entry) -> dict[str, Any]:
    row = entry.row
    found: dict[str, Any] = {
        "section": entry.section,
        "case": row.case,
        "group": row.group,
        "threads": row.threads,
        "flops": row.flops,
        "bytes": row.traffic,
        "compute_bound": row.compute_bound,
        "element_bytes": row.element_bytes,
        "stream": row.stream,
        "rounds": {peer: [*map(_short, timing.rounds)] for peer, timing in row.timings.items()},
    }
    if row.predicted:
        found["predicted"] = {peer: _short(seconds) for peer, seconds in row.predicted.items()}
    if row.least is not None:
        found["least"] = [_short(row.least[0]), row.least[1]]
    if row.visits > 1:
        found["visits"] = row.visits
        found["counts"] = {peer: timing.counts for peer, timing in row.timings.items()}
    if row.notes:
        found["notes"] = dict(row.notes)
    if row.wrong:
        found["wrong"] = row.wrong
    return found


def _entry(found: Mapping[str, Any]) -> Entry:
    least, counts = found.get("least"), found.get("counts", {})
    row = Row(
        found["case"],
        found["group"],
        found["threads"],
        found["flops"],
        found["bytes"],
        found["compute_bound"],
        found["element_bytes"],
        {
            peer: Timing(peer, tuple(rounds), tuple(counts.get(peer, ())))
            for peer, rounds in found["rounds"].items()
        },
        found.get("notes", {}),
        tuple(found.get("wrong", ())),
        found["stream"],
        found.get("predicted", {}),
        None if least is None else (least[0], least[1]),
        found.get("visits", 1),
    )
    return Entry(found["section"], row)


def rows_of(record: Record, section: str, threads: int) -> Sequence[Row]:
    """The rows of a section on so many threads, in the order in which they were measured."""
    return [
        entry.row for entry in record.entries if entry.section == section and entry.row.threads == threads
    ]


def _short(value: float) -> float:
    return float(f"{value:.4g}")
