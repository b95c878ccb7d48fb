"""This checkout beside another one, in interleaved rounds, to see that nothing is slower than it was.

    git worktree add ../before COMMIT && make -C ../before setup
    python -m benchmarks.compare ../before [SECTION ...] [--quick] [--threads 1,2] [--only TEXT]

Both run the cases of this checkout, each in processes of its own with its own virtual environment.  A line a
case: how many times as long the other one takes, in the median of the rounds' ratios and by the least times,
which a busy machine disturbs less; the geometric means, and what both say is slower, at the end.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.harness import Peer, Timing, ratio
from benchmarks.measure import QUICK_SECONDS, SECONDS, Crew, progress, run_case
from benchmarks.peers.table import polymat_peer
from benchmarks.report import geometric_mean, show_seconds
from benchmarks.section import SUBJECTS, Section
from benchmarks.sections import SECTIONS
from polymat.errors import counted

HERE, THERE = "here", "there"
SLOWER = 0.95


def peers(section: Section, threads: int, checkout: Path) -> tuple[Peer, Peer]:
    """Polymat of both checkouts, called with the least around it of the ways of the section: from C, say."""
    subject = list(section.rivals)[-1]
    here = polymat_peer(threads, HERE, SUBJECTS[subject])
    python = checkout / ".venv" / "bin" / "python"
    return here, replace(here, name=THERE, python=str(python), root=str(checkout))


@dataclass(frozen=True, slots=True)
class Both:
    """A case: its seconds here, and how many times as long it takes there, in the median and at least."""

    name: str
    seconds: float
    times: float
    least: float

    @staticmethod
    def of(name: str, here: Timing, there: Timing) -> Both:
        """From the rounds of both."""
        return Both(name, here.seconds, ratio(there, here), min(there.rounds) / min(here.rounds))

    @property
    def is_slower(self) -> bool:
        """Whether both figures say so."""
        return max(self.times, self.least) < SLOWER


def compare(section: Section, threads: int, checkout: Path, *, quick: bool, only: str) -> Iterator[Both]:
    """The cases that both checkouts can run."""
    with Crew(peers(section, threads, checkout)) as crew:
        for case in section.cases(quick):
            if only not in case.name:
                continue
            progress(f"{section.name}, {counted(threads, 'thread')}: {case.name:28}")
            row = run_case(case, crew, threads, QUICK_SECONDS if quick else SECONDS)
            if HERE in row.timings and THERE in row.timings:
                yield Both.of(case.name, row.timings[HERE], row.timings[THERE])


def lines(found: Sequence[Both]) -> Iterator[str]:
    """A Markdown table, and what the cases say together."""
    yield "| case | here | times as long there | by the least times |"
    yield "| --- | ---: | ---: | ---: |"
    for each in found:
        yield f"| {each.name} | {show_seconds(each.seconds)} | {each.times:.2f} | {each.least:.2f} |"
    means = [
        geometric_mean(values) for values in zip(*((each.times, each.least) for each in found), strict=True)
    ]
    slower = [f"{each.name} {each.times:.2f}" for each in found if each.is_slower]
    yield ""
    if found:
        yield f"geometric means {means[0]:.3f} and {means[1]:.3f}; slower: {', '.join(slower) or 'none'}"


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
