"""All sections at a glance: how polymat stands beside the best of its peers, a line a section and machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures.tables import NOTHING, threads_of
from benchmarks.peers.table import BOUNDS, is_own
from benchmarks.records import MACHINES, Record, read_record, rows_of
from benchmarks.report import geometric_mean, ratios
from benchmarks.run import PROGRAMS
from benchmarks.sections import SECTIONS

AUDIT = "audit"  # what an audit of a machine leaves beside its records
_LIBRARIES = {
    "torch": "PyTorch",
    "ndimage": "SciPy",
    "lfilter": "SciPy",
    "oaconvolve": "SciPy",
    "upfirdn": "SciPy",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """A section of a record.  stem: the name of its file.  folder: its machine's, "" of README's records."""

    stem: str
    record: Record
    section: str
    folder: str = ""

    @property
    def title(self) -> str:
        """In words."""
        return self.record.headings[self.section].title

    @property
    def peers(self) -> tuple[str, ...]:
        """The programs of others that were measured, in the order of the section."""
        rivals = self.record.headings[self.section].rivals.items()
        named = (peer for subject, peers in rivals if subject.startswith("polymat") for peer in peers)
        rows = [entry.row for entry in self.record.entries if entry.section == self.section]
        there = {peer for row in rows for peer in row.timings}
        return tuple(dict.fromkeys(peer for peer in named if peer in there - BOUNDS and not is_own(peer)))

    def best(self, threads: int) -> list[float]:
        """How many times as long the quickest of them takes, case by case."""
        rivals, peers = self.record.headings[self.section].rivals, {*self.peers}
        found = []
        for row in rows_of(self.record, self.section, threads):
            beside = [value for peer, value in ratios(row, rivals).items() if peer in peers]
            found += [min(beside)] if beside else []
        return found


def folders_of(results: Path) -> list[tuple[str, Path]]:
    """Where records are, with the names of folders: README's, and those of other machines."""
    return [("", results), *((each.name, each) for each in sorted((results / MACHINES).glob("*/")))]


def kept_in(results: Path) -> list[Kept]:
    """The sections of all records in the order for readers, README's of each first, orientations last."""
    found = [kept for folder, directory in folders_of(results) for kept in _kept(directory, folder)]
    places = {name: place for place, name in enumerate((*SECTIONS, *PROGRAMS))}
    return sorted(
        found,
        key=lambda kept: (places.get(kept.section, len(places)), kept.section, _is_quick(kept.record)),
    )


def _kept(directory: Path, folder: str) -> Iterator[Kept]:
    for path in sorted(directory.glob("*.json")):
        if path.stem != AUDIT:
            record = read_record(path)
            yield from (Kept(path.stem, record, section, folder) for section in record.headings)


def glance_lines(sections: Sequence[Kept]) -> Iterator[str]:
    """A Markdown table, and below it the machines and compilers that it names."""
    conditions: dict[str, str] = {}
    yield "| what | beside | cases | mean | quicker in | worst case | machine, day |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for kept in sections:
        if kept.peers:
            told = _conditions(kept.record)
            mark = conditions.setdefault(told, chr(ord("a") + len(conditions)))
            yield _line(kept, mark)
    yield ""
    yield from (f"- {mark}: {told}" for told, mark in conditions.items())


def library_of(peer: str) -> str:
    """The library that a peer is a way of, as readers know it: `torch.compile` is PyTorch, too."""
    first = re.split(r"[ ,.]", peer)[0]
    return _LIBRARIES.get(first, first)


def _line(kept: Kept, mark: str) -> str:
    found = [kept.best(count) for count in threads_of(kept.record, kept.section)]
    cells = [
        kept.title,
        ", ".join(dict.fromkeys(map(library_of, kept.peers))),
        str(max(map(len, found))),
        " · ".join(_number(geometric_mean(each)) if each else NOTHING for each in found),
        " · ".join(str(sum(value >= 1.0 for value in each)) for each in found),
        " · ".join(_number(min(each)) if each else NOTHING for each in found),
        f"{mark}, {kept.record.about['date']}{', quick' * _is_quick(kept.record)}",
    ]
    return f"| {' | '.join(cells)} |"


def _is_quick(record: Record) -> bool:
    """Whether it is of an orientation, `bench --quick`: fewer cases, and fewer rounds."""
    return record.about.get("rounds", "").startswith("quick")


def _number(value: float) -> str:
    return f"{value:.3g}" if value >= 10 else f"{value:.2f}"


def _conditions(record: Record) -> str:
    """The machine and the compiler."""
    return f"{record.about['machine']}; {record.about['compiler']}"
