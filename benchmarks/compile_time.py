"""How long importing and compiling take: `python -m benchmarks.compile_time`.

Every figure comes from fresh processes; the median of several is shown.  The share of isl is taken from a
profile of one more process, the share of the C compiler from polymat's own clock.  "compiler" is importing
with the modules that only compiling needs, which the first use of `polymat.compile` imports.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import polymat

ROUNDS = 7
IMPORT = """
import time, numpy, islpy
begin = time.perf_counter()
import polymat{used}
print(time.perf_counter() - begin)
"""
LIMITS = {
    "import": 0.15,
    "compiler": 0.20,
    "gemm cold": 1.5,
    "gemm warm": 0.060,
    "3mm cold": 2.5,
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


def _compile_once(kernel: str) -> None:
    """In a fresh process: compile one kernel and print the seconds as JSON."""
    build = _compilation(kernel)
    begin = time.perf_counter()
    compiled = build()
    seconds = time.perf_counter() - begin
    print(json.dumps({"total": seconds, **compiled.explain().seconds}))


def _compilation(kernel: str) -> Callable[[], Any]:
    """What compiles a kernel, or a chain of sixty stages; importing the compiler has a figure of its own."""
    compile = polymat.compile
    if kernel != "60 stages":
        from benchmarks import polybench

        return next(k for k in polybench.KERNELS if k.name == kernel).compile
    from benchmarks.stencils import sixty

    found = sixty.build()
    estimates = dict.fromkeys(found.sizes, 2000)
    return lambda: compile(list(found.outputs), inputs=list(found.inputs), estimates=estimates)


def _profile(kernel: str) -> None:
    """In a fresh process: print the seconds spent inside islpy."""
    build = _compilation(kernel)
    profile = cProfile.Profile()
    profile.enable()
    build()
    profile.disable()
    rows = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    print(sum(row[2] for (file, _, name), row in rows if "isl" in name or "islpy" in file))


def _measure(kernel: str, *, warm: bool, rounds_of: int = ROUNDS) -> dict[str, float]:
    """Median seconds by level over fresh processes, with an empty or a filled cache."""
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as filled:
        if warm:
            _run(["-m", "benchmarks.compile_time", "--once", kernel], filled)
        for _ in range(rounds_of):
            with tempfile.TemporaryDirectory() as empty:
                cache = filled if warm else empty
                rounds.append(json.loads(_run(["-m", "benchmarks.compile_time", "--once", kernel], cache)))
    return {level: statistics.median(r[level] for r in rounds) for level in rounds[0]}


def _row(name: str, seconds: dict[str, float], isl: float | None) -> str:
    compiler = seconds.get("runtime", 0.0) / seconds["total"]
    share = "" if isl is None else f"{isl * 1e3:8.1f}"
    verdict = "" if seconds["total"] <= LIMITS[name] else "  MISSED"
    total, limit = seconds["total"] * 1e3, LIMITS[name] * 1e3
    return f"{name:<12}{total:10.1f}{limit:10.0f}{compiler:12.0%}{share:>10}{verdict}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    parser.add_argument("--profile", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        _compile_once(arguments.once)
        return
    if arguments.profile:
        _profile(arguments.profile)
        return
    print(f"medians of {ROUNDS} fresh processes; load {os.getloadavg()[0]:.1f}")
    print(f"{'':<12}{'ms':>10}{'limit ms':>10}{'C compiler':>12}{'isl ms':>10}")
    with tempfile.TemporaryDirectory() as cache:
        imports, uses = (
            statistics.median(float(_run(["-c", IMPORT.format(used=used)], cache)) for _ in range(ROUNDS))
            for used in ("", "; polymat.compile")
        )
        isl = {
            k: float(_run(["-m", "benchmarks.compile_time", "--profile", k], cache))
            for k in ("gemm", "3mm", "60 stages")
        }
    print(_row("import", {"total": imports}, None))
    print(_row("compiler", {"total": uses}, None))
    print(_row("gemm cold", _measure("gemm", warm=False), isl["gemm"]))
    print(_row("gemm warm", _measure("gemm", warm=True), isl["gemm"]))
    print(_row("3mm cold", _measure("3mm", warm=False), isl["3mm"]))
    print(_row("60 stages", _measure("60 stages", warm=False, rounds_of=3), isl["60 stages"]))


if __name__ == "__main__":
    main()
