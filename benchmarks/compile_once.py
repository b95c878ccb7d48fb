"""One compilation in a process of its own, which imports nothing else before: see `benchmarks.compile_time`.

python -m benchmarks.compile_once KERNEL [--profile]
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import time
from collections.abc import Callable
from typing import Any

import polymat

IMAGES = ("interpolate", "pyramid-blend")  # pipelines of about forty stages, at the papers' sizes


def _compile_once(kernel: str) -> None:
    """Compile one kernel and print the seconds as JSON."""
    build = _compilation(kernel)
    begin = time.perf_counter()
    compiled = build()
    seconds = time.perf_counter() - begin
    print(json.dumps({"total": seconds, **compiled.explain().seconds}))


def _compilation(kernel: str) -> Callable[[], Any]:
    """What compiles a kernel, one for images or a chain; what is not in the cache imports the compiler."""
    compile = polymat.compile
    if kernel in IMAGES:
        from benchmarks.images import find_program

        return find_program(kernel).compile
    if kernel != "60 stages":
        from benchmarks import polybench

        return next(k for k in polybench.KERNELS if k.name == kernel).compile
    from benchmarks.stencils import sixty

    found = sixty.build()
    estimates = dict.fromkeys(found.sizes, 2000)
    return lambda: compile(list(found.outputs), inputs=list(found.inputs), estimates=estimates)


def _profile(kernel: str) -> None:
    """Print the seconds spent inside islpy."""
    build = _compilation(kernel)
    profile = cProfile.Profile()
    profile.enable()
    build()
    profile.disable()
    rows = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    print(sum(row[2] for (file, _, name), row in rows if "isl" in name or "islpy" in file))


if __name__ == "__main__":
    (_profile if "--profile" in sys.argv[2:] else _compile_once)(sys.argv[1])
