"""Every figure that README and docs state: `make bench`.

    python -m benchmarks.run [SECTION ...] [--quick] [--threads 1,2] [--only TEXT] [--again]

Sections of peers print Markdown tables and leave their rounds in benchmarks/results/, from which `make
results` writes tables and pictures; the others print what they find.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.machinetext import about, header
from benchmarks.measure import QUICK_SECONDS, SECONDS, run_section
from benchmarks.papers.tables import TABLES
from benchmarks.records import Entry, Heading, Record, keep_record, roofs
from benchmarks.report import remarks, table
from benchmarks.section import Section
from benchmarks.sections import SECTIONS
from polymat.errors import counted
from polymat.machine.model import Machine
from polymat.runtime.calibration import calibrated_machine

PROGRAMS = {
    "limits": ("benchmarks.limits",),
    "model": ("benchmarks.model_quality",),
    "compile": ("benchmarks.compile_time",),
    "calls": ("benchmarks.call_overhead",),
    "alternation": ("benchmarks.alternation",),
    "providers": ("benchmarks.providers",),
    "audit": ("benchmarks.audit",),
    "papers": ("benchmarks.papers",),
    **{name: ("benchmarks.papers", name) for name in TABLES},
}
"""Sections that are programs of their own."""
PAPERS = frozenset(("papers", *TABLES))  # all tables of the papers, and each: measured where they are named
ASKED = frozenset(("audit", *PAPERS))  # of these, those that take --quick, --threads and --only
KEPT = frozenset(("compile", "calls", "alternation"))  # those that take --keep, and leave a record there
RESULTS = Path(__file__).parent / "results"


def run(section: Section, machine: Machine, *, threads: Sequence[int], quick: bool, only: str) -> int:
    """Measure a section, print and keep its tables; the number of peers that were wrong."""
    failures = 0
    text = [f"## {section.title}", "", *(f"- to show: {goal}" for goal in section.goals), ""]
    kept = Record(about(machine), {section.name: Heading.of(section)}, roofs=roofs(machine, threads))
    for count in threads:
        seconds = QUICK_SECONDS if quick else SECONDS
        found = run_section(section, count, seconds=seconds, quick=quick, only=only)
        entries = tuple(Entry.of(section.name, row, machine) for row in found)
        rows = [entry.row for entry in entries]
        text += [
            f"### {counted(count, 'thread')}",
            "",
            *table(rows, section.rivals, told=section.told),
            "",
        ]
        text += [*remarks(rows, section.rivals), ""]
        kept = replace(kept, entries=kept.entries + entries)
        failures += sum(len(row.wrong) for row in rows)
    print("\n".join(text), flush=True)
    if not (only or quick):
        keep_record(RESULTS / f"{section.name}.json", kept)
    return failures


def _asked_of(name: str, asked: argparse.Namespace) -> list[str]:
    """The arguments of this program for another one."""
    if name in KEPT:
        return [f"--keep={RESULTS / f'{name}.json'}"]
    again = ["--again"] * (asked.again and name in PAPERS)
    if name in ASKED:
        return [f"--threads={asked.threads}", f"--only={asked.only}", *["--quick"] * asked.quick, *again]
    return []


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the number of failures is the exit status."""
    known = [*SECTIONS, *PROGRAMS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sections",
        nargs="*",
        metavar="SECTION",
        help=f"{', '.join(known)}; all but those of papers when none is named",
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds, for orientation")
    parser.add_argument("--threads", default="", help="counts separated by commas; each section has its own")
    parser.add_argument("--only", default="", help="cases whose name contains this text; nothing is kept")
    parser.add_argument("--again", action="store_true", help="the tables of papers anew; all else always is")
    asked = parser.parse_args(argv)
    for name in asked.sections:
        if name not in known:
            parser.error(f"no section {name!r}: {', '.join(known)}")
    threads = [int(count) for count in asked.threads.split(",") if count]
    os.environ["POLYMAT_CALIBRATE"] = "off"  # what the header says of the machine stays so
    machine = calibrated_machine()
    print(header(machine), flush=True)
    failures = 0
    for name in asked.sections or [each for each in known if each not in PAPERS]:
        print(flush=True)
        if name in SECTIONS:
            section = SECTIONS[name]
            counts = threads or [count for count in section.threads if count <= machine.cores]
            failures += run(section, machine, threads=counts, quick=asked.quick, only=asked.only)
        else:
            print(f"## {name}\n", flush=True)
            command = [sys.executable, "-m", *PROGRAMS[name], *_asked_of(name, asked)]
            failures += subprocess.run(command, check=False).returncode != 0
    return min(failures, 100)


if __name__ == "__main__":
    sys.exit(main())
