"""This checkout beside another one, in interleaved rounds, to see that nothing is slower than it was.

    git worktree add ../before COMMIT && make -C ../before setup
    python -m benchmarks.compare ../before [SECTION ...] [--quick] [--threads 1,2] [--only TEXT]

Both run the cases of this checkout, each in processes of its own with its own virtual environment.  A line a
case: how many times as long the other one takes; the geometric mean, and what lies below 0.95, at the end.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Peer, ratio
from benchmarks.measure import Crew, progress, run_case
from benchmarks.peers.table import polymat_peer
from benchmarks.report import geometric_mean, show_seconds
from benchmarks.section import SUBJECTS, Section
from benchmarks.sections import SECTIONS

HERE, THERE = "here", "there"
SLOWER = 0.95
SECONDS, QUICK_SECONDS = 3.0, 1.0


def peers(section: Section, threads: int, checkout: Path) -> tuple[Peer, Peer]:
    """Polymat of both checkouts, called as the section calls it first."""
    subject = next(iter(section.rivals))
    here = polymat_peer(threads, HERE, SUBJECTS[subject])
    python = checkout / ".venv" / "bin" / "python"
    return here, replace(here, name=THERE, python=str(python), root=str(checkout))


def compare(
    section: Section, threads: int, checkout: Path, *, quick: bool, only: str
) -> Iterator[tuple[str, float, float]]:
    """Of each case its name, the seconds here, and how many times as long it takes there."""
    with Crew(peers(section, threads, checkout)) as crew:
        for case in section.cases(quick):
            if only not in case.name:
                continue
            progress(f"{section.name}, {threads} threads: {case.name:28}")
            row = run_case(case, crew, threads, QUICK_SECONDS if quick else SECONDS)
            if HERE in row.timings and THERE in row.timings:
                here, there = row.timings[HERE], row.timings[THERE]
                yield case.name, here.seconds, ratio(there, here)


def lines(found: Sequence[tuple[str, float, float]]) -> Iterator[str]:
    """A Markdown table, and what the cases say together."""
    yield "| case | here | times as long there |"
    yield "| --- | ---: | ---: |"
    for name, seconds, times in found:
        yield f"| {name} | {show_seconds(seconds)} | {times:.2f} |"
    slower = [f"{name} {times:.2f}" for name, _, times in found if times < SLOWER]
    mean = geometric_mean(times for *_, times in found)
    yield ""
    yield f"geometric mean {mean:.3f}; slower: {', '.join(slower) or 'none'}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table a section and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path, help="the other checkout, set up")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds")
    parser.add_argument("--threads", default="1,2", help="counts separated by commas")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    asked = parser.parse_args(argv)
    checkout = asked.checkout.resolve()
    if not (checkout / ".venv" / "bin" / "python").exists():
        parser.error(f"{checkout} is not set up: make -C {asked.checkout} setup")
    for name in asked.sections:
        if name not in SECTIONS:
            parser.error(f"no section {name!r}: {', '.join(SECTIONS)}")
    for name in asked.sections or SECTIONS:
        for threads in map(int, asked.threads.split(",")):
            found = list(compare(SECTIONS[name], threads, checkout, quick=asked.quick, only=asked.only))
            print(f"## {name}, {threads} threads", "", *lines(found), "", sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
