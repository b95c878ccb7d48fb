"""How long importing and compiling take: `python -m benchmarks.compile_time [--keep FILE]`.

Every figure comes from fresh processes; the median of several is shown.  The share of isl is taken from a
profile of one more process, the time of the C compiler from polymat's own clock; what is not its
stands beside it as our own part.  "interpolate" and "pyramid-blend" are cold, too.  "compiler" is importing
with the modules that only deciding needs, which the first compilation of something new imports, and which
"cold" figures have in them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import Row
from benchmarks.plainrows import keep_rows, plain_row
from benchmarks.records import Heading

ROUNDS = 7
HEADING = Heading("Importing and compiling, in fresh processes", {"polymat": ()}, told=("polymat",))
IMPORT = """
import time, numpy, islpy
begin = time.perf_counter()
import polymat{used}
print(time.perf_counter() - begin)
"""
LIMITS = {
    "import": 0.15,
    "compiler": 0.20,
    "gemm cold": 1.0,
    "gemm warm": 0.040,
    "3mm cold": 2.5,
    "interpolate": 5.0,
    "pyramid-blend": 5.0,
    "60 stages": 10.0,
}


def _run(arguments: list[str], cache: str) -> str:
    environment = {
        **os.environ,
        "POLYMAT_CACHE_DIR": cache,
        "POLYMAT_CACHE": "on",
        "POLYMAT_CALIBRATE": "off",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's Python keeps the byte code of what it imports
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def _measure(kernel: str, *, warm: bool, rounds_of: int = ROUNDS) -> list[dict[str, float]]:
    """Seconds by level of fresh processes, with an empty or a filled cache."""
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as filled:
        if warm:
            _run(["-m", "benchmarks.compile_once", kernel], filled)
        for _ in range(rounds_of):
            with tempfile.TemporaryDirectory() as empty:
                cache = filled if warm else empty
                rounds.append(json.loads(_run(["-m", "benchmarks.compile_once", kernel], cache)))
    return rounds


def _medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    return {level: statistics.median(r[level] for r in rounds) for level in rounds[0]}


def _row(name: str, seconds: dict[str, float], isl: float | None) -> str:
    compiler = seconds.get("runtime", 0.0)
    own = f"{(seconds['total'] - compiler) * 1e3:10.1f}{compiler * 1e3:10.1f}"
    share = "" if isl is None else f"{isl * 1e3:8.1f}"
    verdict = "" if seconds["total"] <= LIMITS[name] else "  MISSED"
    total, limit = seconds["total"] * 1e3, LIMITS[name] * 1e3
    return f"{name:<14}{total:10.1f}{limit:10.0f}{own}{share:>10}{verdict}"


def _kept(name: str, rounds: Sequence[dict[str, float]], isl: float | None) -> Row:
    """What was measured as a row of a record."""
    said = []
    if "runtime" in rounds[0]:
        share = statistics.median(r["runtime"] / r["total"] for r in rounds)
        own = statistics.median(r["total"] - r["runtime"] for r in rounds)
        said.append(f"C compiler {share:.0%}, own part {own:.2f} s")
    said += [f"isl {isl * 1e3:.0f} ms"] if isl is not None else []
    return plain_row(name, "times", {"polymat": [r["total"] for r in rounds]}, said=", ".join(said))


def _imports(used: str) -> list[dict[str, float]]:
    """Seconds of importing, of fresh processes."""
    with tempfile.TemporaryDirectory() as cache:
        return [{"total": float(_run(["-c", IMPORT.format(used=used)], cache))} for _ in range(ROUNDS)]


def _isl(kernel: str) -> float:
    """Seconds within isl of one process."""
    with tempfile.TemporaryDirectory() as cache:
        return float(_run(["-m", "benchmarks.compile_once", kernel, "--profile"], cache))


def main() -> None:
    """Print the table, and keep it as a record where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where to leave a record")
    arguments = parser.parse_args()
    print(f"medians of {ROUNDS} fresh processes; load {os.getloadavg()[0]:.1f}")
    print(f"{'':<14}{'ms':>10}{'limit ms':>10}{'own ms':>10}{'cc ms':>10}{'isl ms':>10}")
    rows: list[Row] = []
    for name, kernel, measured in (
        ("import", "", partial(_imports, "")),
        ("compiler", "", partial(_imports, "; import polymat.driver")),
        ("gemm cold", "gemm", partial(_measure, "gemm", warm=False)),
        ("gemm warm", "gemm", partial(_measure, "gemm", warm=True)),
        ("3mm cold", "3mm", partial(_measure, "3mm", warm=False)),
        ("interpolate", "interpolate", partial(_measure, "interpolate", warm=False, rounds_of=3)),
        ("pyramid-blend", "pyramid-blend", partial(_measure, "pyramid-blend", warm=False, rounds_of=3)),
        ("60 stages", "60 stages", partial(_measure, "60 stages", warm=False, rounds_of=3)),
    ):
        rounds, isl = measured(), _isl(kernel) if kernel else None
        print(_row(name, _medians(rounds), isl), flush=True)
        rows.append(_kept(name, rounds, isl))
    if arguments.keep is not None:
        keep_rows(arguments.keep, "compile", HEADING, rows)


if __name__ == "__main__":
    main()
