"""The tables and figures of the papers that can be had here, one file each.

    python -m benchmarks.papers [TABLE ...] [--quick] [--threads 1,2] [--only TEXT] [--output DIRECTORY]
        [--minutes N]

Every case is kept in DIRECTORY/TABLE.json as soon as it is measured, and a later run goes on behind it; with
--again it begins anew, and after N minutes no further case begins.  A way that takes longer than a minute to
prepare a case and to call it once is left out there, and the page says so.  With --quick or --only, which
leave cases out, and without --output nothing is kept.
What cannot go on because it is of another run is left as it is, and counts as a failure. `make results`
writes docs/results/papers.md from benchmarks/results/papers and from those of other machines.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.bench import begun, deadline, finish, lines_of, plan_of
from benchmarks.cases import Case
from benchmarks.figures.papers import RESULTS
from benchmarks.machinetext import about, header
from benchmarks.measure import QUICK_SECONDS, SECONDS
from benchmarks.papers.tables import NO_TUNED, TABLES
from benchmarks.records import PAPERS, CompleteError, Record, RecordError, roofs
from benchmarks.section import Section
from benchmarks.selection import Selection
from polymat.machine.model import Machine
from polymat.runtime.calibration import calibrated_machine


def cut(section: Section, only: str) -> Section:
    """The section with the cases alone whose name contains a text."""

    def cases(quick: bool) -> tuple[Case, ...]:
        return tuple(case for case in section.cases(quick) if only in case.name)

    return replace(section, cases=lambda quick: iter(cases(quick)))


def measure(name: str, machine: Machine, asked: argparse.Namespace, directory: Path, until: float) -> int:
    """Measure what is missing of a table, print it; the number of peers that were wrong, 1 of another run."""
    section = cut(TABLES[name], asked.only)
    selection = Selection((section,), (section,), quick=asked.quick)
    threads = [int(count) for count in asked.threads.split(",") if count]
    counts = threads or [count for count in section.threads if count <= machine.cores]
    plan = plan_of(selection, counts)
    seconds = QUICK_SECONDS if asked.quick else SECONDS
    conditions = {**about(machine), "rounds": f"{seconds:g} s a case"}
    if not asked.only:
        conditions["cases"] = str(len(plan.keys))
    empty = Record(conditions, roofs=roofs(machine, dict.fromkeys(count for _, count, _ in plan.parts)))
    path = directory / f"{name}.json"
    try:
        record = begun(path, empty, plan, again=asked.again)
    except RecordError as error:
        print(f"{name} is left as it is: {error}")
        return int(not isinstance(error, CompleteError))
    record = finish(path, record, selection, plan, machine, until=until)
    print("\n".join(lines_of(record, plan)), flush=True)
    return sum(len(entry.row.wrong) for entry in record.entries)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the tables that the command line names, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all when none is named"
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds, for orientation")
    parser.add_argument("--threads", default="", help="counts separated by commas; each table has its own")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--output", type=Path, help="a directory of what was measured, to go on from")
    parser.add_argument("--again", action="store_true", help="begin anew")
    parser.add_argument("--minutes", type=float, help="begin no case after these; a later run goes on")
    asked = parser.parse_args(argv)
    for name in asked.tables:
        if name not in TABLES:
            parser.error(f"no table {name!r}: {', '.join(TABLES)}")
    os.environ.update(NO_TUNED)
    os.environ["POLYMAT_CALIBRATE"] = "off"  # what the header says of the machine stays so
    machine = calibrated_machine()
    print(header(machine), flush=True)
    kept = asked.output or (None if asked.quick or asked.only else RESULTS / PAPERS)
    wrong, until = 0, deadline(asked.minutes)
    with tempfile.TemporaryDirectory() as thrown_away:
        directory = kept or Path(thrown_away)
        for name in asked.tables or TABLES:
            wrong += measure(name, machine, asked, directory, until)
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main())
