"""The page of the papers' tables, docs/results/papers.md: written from benchmarks/results/papers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures.glance import folders_of
from benchmarks.figures.imagerates import image_rate_lines
from benchmarks.figures.tables import all_of, caption, left_out, table_lines
from benchmarks.harness import ROOT
from benchmarks.records import PAPERS, read_record

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "results" / "papers.md"
HEAD = """\
# The papers' tables

The tables and figures of the papers behind polymat that can be had here, measured anew: their own numbers
are of other machines. `make bench ARGS="papers"` measures all of them, a file each in
`benchmarks/results/papers/`, and goes on where it was ended; `ARGS="thesis-5.3"` one of them. What other
machines had is in `benchmarks/results/machines/`, in `papers/` of each. `make results` writes this page.

A column is how many times as long that way or that library takes: above 1 polymat's default is quicker.
`naive` is no optimisation, `polymage` the baseline that the thesis starts from, `paper` its own algorithms
(both leave transforms to FFTW, as the thesis does; without, a transform is a sum of N² terms),
`library` a library wherever one fits, `tuned` what `pm.tune` has found on this machine, where it was run;
`out=` writes into arrays that are there. `C` are plain loops by gcc; clang's Polly and Pluto are not among
these. Figures of one and two threads stand side by side.

A way that takes longer than a minute to prepare a case and to call it once is left out there, as is a case
whose arrays do not fit into memory in all processes at once. What has no time is named below its table.
"""


def paper_lines(titles: dict[str, str], results: Path = RESULTS) -> Iterator[str]:
    """The page.  titles: of all tables, by the name of their files.  results: all records."""
    yield HEAD
    missing = []
    for name, title in titles.items():
        paths = [folder / PAPERS / f"{name}.json" for _, folder in folders_of(results)]
        records = [read_record(path) for path in paths if path.exists()]
        if not records:
            missing.append(f"- `{name}`: {title}")
            continue
        yield from (f"## {title}", "")
        for record in records:
            yield from (caption(record, name), "", *table_lines(record, all_of(record, name)), "")
            yield from (told, "") if (told := left_out(record, name)) else ()
    yield from image_rate_lines(results)
    if missing:
        yield from ("## Not measured yet", "", *missing, "")


def paper_page(titles: dict[str, str], results: Path = RESULTS) -> str:
    """The text of the page."""
    return "\n".join(paper_lines(titles, results))
