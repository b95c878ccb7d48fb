"""What the site has of results: every record as tables and pictures, those of the papers as bars."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.figures.glance import AUDIT, Kept, folders_of, glance_lines, kept_in
from benchmarks.figures.readme import RESULTS
from benchmarks.figures.tables import all_of, caption, left_out, table_lines, threads_of
from benchmarks.records import PAPERS, Record, read_record

PAGE, PAPERS_PAGE, SEARCHES_PAGE = "_results.md", "_papers.md", "_searches.md"
NO_PICTURES = "Pictures are left out: matplotlib is not installed.\n"


def write_site(directory: Path, results: Path = RESULTS) -> None:
    """Write the pages, and the pictures where matplotlib is installed."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("_*.svg"):
        old.unlink()
    drawn = importlib.util.find_spec("matplotlib") is not None
    sections = kept_in(results)
    lines = [] if drawn else [NO_PICTURES]
    lines += ["## At a glance", "", *glance_lines(sections), ""]
    for _, same in groupby(sections, key=lambda kept: kept.section):
        lines += _section(directory, [*same], drawn=drawn)
    for _, machine in folders_of(results)[1:]:
        lines += _audit(directory, machine)
    (directory / PAGE).write_text("\n".join(lines), encoding="utf-8")
    bars = "\n".join(_papers(directory, results)) if drawn else NO_PICTURES
    (directory / PAPERS_PAGE).write_text(bars, encoding="utf-8")
    curves = "\n".join(_searches(directory, results)) if drawn else NO_PICTURES
    (directory / SEARCHES_PAGE).write_text(curves, encoding="utf-8")


def _searches(directory: Path, results: Path) -> Iterator[str]:
    """How searches approach their best, and what trials come to, case by case."""
    from benchmarks.figures.curves import searches_page

    for name, title, picture in searches_page(results):
        yield from _picture(directory, f"_{name}.svg", picture, title)


def _papers(directory: Path, results: Path) -> Iterator[str]:
    """A picture for each of the papers' tables, machine and number of threads."""
    from benchmarks.figures.pictures import pictures_of

    found = [
        (path.stem, folder, read_record(path))
        for folder, where in folders_of(results)
        for path in sorted((where / PAPERS).glob("*.json"))
    ]
    found.sort(key=lambda each: each[0])
    for table, same in groupby(found, key=lambda each: each[0]):
        for number, (_, folder, record) in enumerate(same):
            yield from (f"## {record.headings[table].title}", "") if number == 0 else ()
            for name, picture in pictures_of(record, table):
                file = f"_{PAPERS}-{f'{folder}-' * bool(folder)}{table}-{name}.svg"
                yield from _picture(directory, file, picture, f"{table}, {name}")


def _section(directory: Path, many: Sequence[Kept], *, drawn: bool) -> Iterator[str]:
    """A section as each machine has it, one below the other."""
    yield from (f"## {many[0].title}", "")
    for kept in many:
        record, section = kept.record, kept.section
        yield from (f"### {record.microarchitecture}", "") if len(many) > 1 else ()
        yield from (caption(record, section), "")
        if drawn:
            yield from _pictures(directory, kept, f"_{f'{kept.folder}-' * bool(kept.folder)}{kept.stem}")
        yield from table_lines(record, all_of(record, section))
        yield ""
        yield from (told, "") if (told := left_out(record, section)) else ()


def _pictures(directory: Path, kept: Kept, stem: str) -> Iterator[str]:
    """Bars, rates over sizes, predictions and rooflines of a section."""
    from benchmarks.figures.pictures import pictures_of, predictions, roofline

    record, section = kept.record, kept.section
    for name, picture in pictures_of(record, section):
        yield from _picture(directory, f"{stem}-{section}-{name}.svg", picture, f"{section}, {name}")
    alone = _alone(record, section)
    found = [("predicted and measured", predictions(alone))]
    found += [(f"roofline, threads {count}", roofline(alone, count)) for count in threads_of(record, section)]
    for title, text in found:
        if text is not None:
            name = re.sub(r"\W+", "-", title)
            yield from _picture(directory, f"{stem}-{section}-{name}.svg", text, f"{section}, {title}")


def _alone(record: Record, section: str) -> Record:
    """One section of a record."""
    entries = tuple(entry for entry in record.entries if entry.section == section)
    return Record(record.about, {section: record.headings[section]}, entries, record.roofs)


def _audit(directory: Path, machine: Path) -> Iterator[str]:
    """What an audit of a machine found, as it was written down, with its picture."""
    told = machine / f"{AUDIT}.md"
    if not told.exists():
        return
    yield from (f"## Decisions on {machine.name}", "")
    picture = machine / f"{AUDIT}.svg"
    if picture.exists():
        yield from _picture(directory, f"_{machine.name}-{AUDIT}.svg", picture.read_text("utf-8"), "audit")
    yield re.sub(r"^#+ ", "### ", told.read_text("utf-8"), flags=re.M)


def _picture(directory: Path, name: str, text: str, title: str) -> Iterator[str]:
    (directory / name).write_text(text, encoding="utf-8")
    yield from (f"![{title}]({name})", "")
