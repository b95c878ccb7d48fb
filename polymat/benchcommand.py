"""`python -m polymat bench`: its arguments; the benchmarks themselves are in the source tree."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

from polymat.runtime.target import UsageError

SOURCES = Path(__file__).resolve().parents[1]
"""What holds the package: the source tree, or the packages of an environment."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    command = commands.add_parser("bench", help="measure polymat beside others, or compare two runs")
    command.set_defaults(run=run_bench)
    command.add_argument("names", nargs="*", metavar="NAME", help="a section (blas2) or a program (gemm)")
    command.add_argument("--dataset", default="", help="one size: MINI, SMALL, MEDIUM, LARGE, EXTRALARGE")
    command.add_argument("--threads", default="", help='counts, "1,2" say (default: one, and all cores)')
    command.add_argument(
        "--peers",
        default="",
        help='"NumPy,JAX" say, "none", or "all" (default: all; with --quick NumPy, SciPy, C)',
    )
    command.add_argument("--quick", action="store_true", help="fewer cases and rounds, in some minutes")
    command.add_argument(
        "--visits",
        type=int,
        default=1,
        metavar="N",
        help="measure all cases so many times, one after the other, in new processes (default: 1): "
        "--compare then tells a change from what another hour or another process does",
    )
    command.add_argument(
        "--minutes", type=float, help="begin no case after these; the same command goes on later"
    )
    command.add_argument("--output", metavar="FILE", help="where it is kept (default: polymat-bench.json)")
    command.add_argument("--again", action="store_true", help="begin anew, whatever the file has")
    command.add_argument(
        "--compare", nargs=2, metavar=("BEFORE", "AFTER"), help="name what became slower between two files"
    )


def run_bench(asked: argparse.Namespace) -> int:
    """Check the arguments and hand them to the benchmarks; the exit status."""
    if asked.threads and not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", asked.threads):
        raise UsageError(f"--threads has {asked.threads!r}", hint='counts separated by commas, "1,2" say')
    if asked.visits < 1:
        raise UsageError(f"--visits has {asked.visits}", hint="1 or more; 2 or 3 where runs are compared")
    if asked.compare and asked.names:
        raise UsageError(f"--compare takes two files, and no names: {' '.join(asked.names)}")
    if not (SOURCES / "benchmarks" / "bench.py").exists():
        raise UsageError(
            f"there are no benchmarks in {SOURCES}: wheels are without them",
            hint="unpack the sdist, or clone the repository, run `make setup` there, and "
            "`.venv/bin/polymat bench`",
        )
    sys.path.insert(0, str(SOURCES))
    status: int = importlib.import_module("benchmarks.bench").run(asked)
    return status
