"""NumPy's products, compiled pipelines and Python threads by turns, beside each of them alone.

    python -m benchmarks.alternation [--keep FILE]

Thread pools that spin while they wait would slow the others down.  Every part runs alone in a process of its
own, then all of them by turns in one; the whole should take no longer than the sum.  Where a process and its
threads come to lie is chance, so all of this is done several times in fresh processes, a part and the whole
by turns, and medians are compared.  What `threadpoolctl` says of the pools that were there before must not
change.

A thread of NumPy's OpenBLAS spins for tens of milliseconds after a product, longer than a round takes: one
processor is gone all the while.  The last column is the whole with a pool of NumPy's that goes to sleep at
once (OPENBLAS_THREAD_TIMEOUT): what it takes less is not ours.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row
from benchmarks.peers.table import PEERS_HOME
from benchmarks.plainrows import keep_rows, plain_row
from benchmarks.records import Heading
from benchmarks.sections.products import describe_product
from benchmarks.sections.stencils import describe as describe_stencil
from benchmarks.task import Task

SIZE, IMAGE = 384, 768
PARTS = ("NumPy product", "pipeline with a product", "chain of stencils", "pipeline in Python threads")
REPEATS, ROUNDS, CALLS = 9, 25, 4
SETTLE = 0.1  # seconds after warming up: NumPy's threads spin for tens of milliseconds after a product
LIMIT = 1.2
Ways = tuple[list[float], list[float], list[float]]  # seconds of each part, by the ways below
WAYS = ("alone", "by turns", "by turns, NumPy's threads asleep")
HEADING = Heading("NumPy's products, pipelines and Python threads by turns", {"alone": WAYS[1:]})
SLEEPY = {"OPENBLAS_THREAD_TIMEOUT": "14"}  # NumPy's idle threads spin for 2^14 cycles


def make_parts() -> dict[str, Callable[[], Any]]:
    """The parts by name, warm."""
    rng = np.random.default_rng(1)
    A, B, result = rng.standard_normal((3, SIZE, SIZE))
    image = rng.random((IMAGE, IMAGE), dtype=np.float32)
    sizes = {"M": SIZE, "N": SIZE, "K": SIZE}
    product = describe_product(Task("product", {"A": A, "B": B})).compile("product", estimates=sizes)
    chain = describe_stencil(Task("chain", {})).compile("chain", estimates={"R": IMAGE, "C": IMAGE})
    pool = ThreadPoolExecutor(2)
    outs = [np.empty_like(result) for _ in range(2)]
    calls: tuple[Callable[[], Any], ...] = (
        lambda: np.matmul(A, B, out=result),
        lambda: product(A, B, out=result),
        lambda: chain(image),
        lambda: list(pool.map(lambda out: product(A, B, out=out), outs)),
    )
    for call in calls:
        call()
    return dict(zip(PARTS, calls, strict=True))


def seconds_of(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Median seconds of each, called by turns, a few calls of one before the next."""
    rounds = []
    for _ in range(ROUNDS):
        marks = [time.perf_counter()]
        for call in calls:
            for _ in range(CALLS):
                call()
            marks.append(time.perf_counter())
        rounds.append([(after - before) / CALLS for before, after in pairwise(marks)])
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def pools() -> list[dict[str, Any]] | None:
    """What threadpoolctl says of this process; None where it is not installed."""
    path = list(sys.path)
    sys.path += map(str, PEERS_HOME.glob("lib/python*/site-packages"))
    try:
        found: list[dict[str, Any]] = importlib.import_module("threadpoolctl").threadpool_info()
    except ModuleNotFoundError:
        return None
    finally:
        sys.path[:] = path
    return found


def run_part(name: str) -> dict[str, Any]:
    """In a fresh process: one part, or all of them by turns, and the pools before and after."""
    before = pools()
    parts = make_parts()
    time.sleep(SETTLE)
    seconds = seconds_of([parts[name]] if name else list(parts.values()))
    return {"seconds": seconds, "before": before, "after": pools()}


def fresh(name: str, **environment: str) -> dict[str, Any]:
    """`run_part` in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.alternation", "--part", name]
    env = {**os.environ, **environment}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare() -> tuple[list[Ways], dict[str, Any]]:
    """What was measured in fresh processes, several times, and what the last one with all parts said."""
    found: list[Ways] = []
    for _ in range(REPEATS):
        alone = [fresh(part)["seconds"][0] for part in PARTS]
        together = fresh("")
        found.append((alone, together["seconds"], fresh("", **SLEEPY)["seconds"]))
    return found, together


def rows_of(found: Sequence[Ways]) -> list[Row]:
    """What was measured as rows of a record: each part, and their sum."""
    rows = []
    for number, part in enumerate((*PARTS, "all of them")):
        taken = slice(number, number + 1) if number < len(PARTS) else slice(None)
        rounds = [[sum(seconds[taken]) for seconds in repeat] for repeat in found]
        rows.append(plain_row(part, part, dict(zip(WAYS, zip(*rounds, strict=True), strict=True)), threads=2))
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit status tells whether a pool was changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where to leave a record")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    asked = parser.parse_args(argv)
    if asked.part is not None:
        print(json.dumps(run_part(asked.part)))
        return 0
    found, together = compare()
    rows = rows_of(found)
    print("| part | alone, ms | by turns, ms | ratio | NumPy's threads asleep, ms | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        one, other, asleep = (row.timings[way].seconds for way in WAYS)
        rest = f"{other * 1e3:.3f} | {other / one:.2f} | {asleep * 1e3:.3f} | {asleep / one:.2f}"
        print(f"| {row.case} | {one * 1e3:.3f} | {rest} |")
    ratios = sorted(sum(by_turns) / sum(alone) for alone, by_turns, _ in found)
    print(f"\nthe sum's ratio in each of {REPEATS} repeats: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
    if asked.keep is not None:
        keep_rows(asked.keep, "alternation", HEADING, rows)
    print(f"\nto show: a sum of at most {LIMIT} times the parts alone, and the same pools before and after\n")
    before, after = together["before"], together["after"]
    if before is None:
        print("pools not compared: threadpoolctl is not installed; `make peers` installs it")
        return 0
    kept = [pool for pool in after if pool["filepath"] in {old["filepath"] for old in before}]
    print("the pools that were there are as they were" if kept == before else f"CHANGED: {before} to {kept}")
    for pool in after:
        if pool not in kept:
            print(f"- loaded since: {pool['internal_api']}, {pool['num_threads']} threads")
    return int(kept != before)


if __name__ == "__main__":
    sys.exit(main())
