"""The page of the papers' tables, docs/results/papers.md: written from benchmarks/results/papers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures.tables import all_of, caption, table_lines
from benchmarks.harness import ROOT
from benchmarks.records import read_record

RESULTS = ROOT / "benchmarks" / "results" / "papers"
PAGE = ROOT / "docs" / "results" / "papers.md"
HEAD = """\
# The papers' tables

The tables and figures of the papers behind polymat that can be had here, measured anew: their own numbers
are of other machines. `make bench ARGS="papers"` measures all of them, a file each in
`benchmarks/results/papers/`, and goes on where it was ended; `ARGS="thesis-5.3"` one of them. `make results`
writes this page.

A column is how many times as long that way or that library takes: above 1 polymat's default is quicker.
`naive` is no optimisation, `polymage` the baseline that the thesis starts from, `paper` its own algorithms,
`library` a library wherever one fits, `tuned` what `pm.tune` has found on this machine, where it was run;
`out=` writes into arrays that are there. Figures of one and two threads stand side by side.
"""


def paper_lines(titles: dict[str, str], results: Path = RESULTS) -> Iterator[str]:
    """The page; titles: of all tables, by the name of their files."""
    yield HEAD
    missing = []
    for name, title in titles.items():
        path = results / f"{name}.json"
        if not path.exists():
            missing.append(f"- `{name}`: {title}")
            continue
        record = read_record(path)
        yield from (
            f"## {title}",
            "",
            caption(record, name),
            "",
            *table_lines(record, all_of(record, name)),
            "",
        )
    if missing:
        yield from ("## Not measured yet", "", *missing, "")


def paper_page(titles: dict[str, str], results: Path = RESULTS) -> str:
    """The text of the page."""
    return "\n".join(paper_lines(titles, results))
