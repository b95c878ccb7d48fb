"""Tune the cases of the papers' tables, for their column `tuned`.

    python -m benchmarks.papers.tune TABLE ... [--budget "20 s"] [--only TEXT] [--minutes N]

What is found is kept where `compile` finds it.  Cases whose search has ended are passed over, one that was
killed goes on, and after N minutes no further case begins.  `make bench ARGS="TABLE --again"` then measures
the table anew.  Threads are those of a call without any option, for all columns of the table.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

import polymat as pm
from benchmarks.bench import deadline
from benchmarks.cases import Case
from benchmarks.papers.tables import TABLES
from benchmarks.peers.pipelines import is_tuned, tuning_of
from benchmarks.problems import describe


def tuned(case: Case, budget: str) -> str:
    """What a search for a case comes to, in words."""
    if is_tuned(case.task):
        return "has been tuned"
    outputs, asked = tuning_of(case.task)
    _, scalars = describe(case.task)
    return str(pm.tune(outputs, arrays={**case.task.arrays, **scalars}, budget=budget, **asked))


def main(argv: Sequence[str] | None = None) -> int:
    """Tune the cases of the tables that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="+", metavar="TABLE", choices=TABLES, help=", ".join(TABLES))
    parser.add_argument("--budget", default="20 s", help="of a search")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--minutes", type=float, help="begin no case after these; a later run goes on")
    asked = parser.parse_args(argv)
    os.environ["POLYMAT_CALIBRATE"] = "off"  # as when the table is measured
    until = deadline(asked.minutes)
    for name in asked.tables:
        for case in TABLES[name].cases(False):
            if asked.only in case.name and time.monotonic() < until:
                print(f"{name}, {case.name}: {tuned(case, asked.budget)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
