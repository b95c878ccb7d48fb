"""The page of results for the site: every record in benchmarks/results, as tables and pictures."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures.readme import RESULTS
from benchmarks.figures.tables import all_of, caption, table_lines, threads_of
from benchmarks.records import Record, read_record

PAGE = "_results.md"
NO_PICTURES = "Pictures are left out: matplotlib is not installed.\n"


def write_site(directory: Path, results: Path = RESULTS) -> None:
    """Write the page, and the pictures where matplotlib is installed."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("_*.svg"):
        old.unlink()
    drawn = importlib.util.find_spec("matplotlib") is not None
    lines = [] if drawn else [NO_PICTURES]
    for path in sorted(results.glob("*.json")):
        record = read_record(path)
        for section in record.headings:
            lines += _section(directory, path.stem, record, section, drawn=drawn)
        if drawn:
            lines += _whole(directory, path.stem, record)
    (directory / PAGE).write_text("\n".join(lines), encoding="utf-8")


def _section(directory: Path, stem: str, record: Record, section: str, *, drawn: bool) -> Iterator[str]:
    """Heading, caption, pictures and table."""
    yield from (f"## {record.headings[section].title}", "", caption(record, section), "")
    if drawn:
        from benchmarks.figures.pictures import pictures_of

        for name, text in pictures_of(record, section):
            yield from _picture(directory, f"_{stem}-{section}-{name}.svg", text, f"{section}, {name}")
    yield from table_lines(record, all_of(record, section))
    yield ""


def _whole(directory: Path, stem: str, record: Record) -> Iterator[str]:
    """What is drawn of a run as a whole."""
    from benchmarks.figures.pictures import predictions, roofline

    found = [("predicted and measured", predictions(record))]
    counts = sorted({count for section in record.headings for count in threads_of(record, section)})
    found += [(f"roofline, threads {count}", roofline(record, count)) for count in counts]
    for title, text in found:
        if text is not None:
            yield from (f"## {title.capitalize()}", "")
            name = re.sub(r"\W+", "-", title)
            yield from _picture(directory, f"_{stem}-{name}.svg", text, title)


def _picture(directory: Path, name: str, text: str, title: str) -> Iterator[str]:
    (directory / name).write_text(text, encoding="utf-8")
    yield from (f"![{title}]({name})", "")
