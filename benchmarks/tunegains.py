"""`tune` beside the compiler's own choice: what a short search gains for contractions, convolutions and more.

    python -m benchmarks.tunegains --output FILE [--budget "20 s"] [--threads 1] [--every 1] [--only TEXT]

The 36 contractions of TCCG, scaled to about so many operations, the 23 convolution layers as they are, three
products of matrices, Harris corners, sub-band filters and attention.  What a search returns is compared with
the case and timed beside the default once more, by turns: a search takes the best of what it has timed, and
the best of many times is too short.  FILE is written after each case, and a later run goes on behind it, with
the same budget, threads, operations and machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import polymat as pm
from benchmarks.casebycase import found_for, parser_of
from benchmarks.cases import Case, Judge, kernel_case
from benchmarks.dsp.programs import SUB_BAND
from benchmarks.images import find_program
from benchmarks.machinetext import about
from benchmarks.policy import every_case, kind_of
from benchmarks.polybench import find_kernel
from benchmarks.problems import describe
from benchmarks.program import Program
from benchmarks.sections.filters import pipeline_case
from benchmarks.sections.images import image_case
from benchmarks.sections.rows import attention_case
from polymat.driver import compile_request, request_of
from polymat.runtime.calibration import calibrated_machine
from polymat.search.clock import LAST_ROUNDS, TrueClock, calls_of, compared

NOISE = 1.03  # of the default's time: what is below it is not slower
SIDE = 1600  # of the image whose corners are found
PIPELINES: Mapping[str, Callable[[], Case]] = {
    "3mm MEDIUM": lambda: kernel_case(find_kernel("3mm"), "MEDIUM"),
    f"harris {SIDE} x {SIDE}": lambda: image_case(_harris(), "HERE"),
    "sub-band 262144": lambda: pipeline_case(SUB_BAND, 262144),
    "attention 2048 x 64": lambda: attention_case(2048, 64),
}


def _harris() -> Program:
    return replace(find_program("harris-corner"), sizes={"HERE": {"R": SIDE, "C": SIDE}})


def every_program(flops: float) -> Iterator[tuple[str, Callable[[], Case]]]:
    """Name and maker of every case."""
    yield from every_case(flops)
    yield from PIPELINES.items()


@dataclass
class Gain:
    """One case: what a search found, and both programs timed once more.

    trials, faults: how many there were, and of these ones that failed or were wrong.  found: the gain that
    the search itself states.  default, tuned: median seconds of a call afterwards, by turns.  ratio: the
    median of their ratios, tuned over default.  choice: what is carried out, empty where that is the default.
    """

    name: str
    kind: str
    flops: float
    trials: int
    faults: int
    found: float
    default: float
    tuned: float
    ratio: float
    choice: str
    about: dict[str, str]

    def row(self) -> str:
        """A row of the table."""
        rates = [self.flops / each / 1e9 for each in (self.default, self.tuned)]
        return (
            f"| {self.name} | {rates[0]:.1f} | {rates[1]:.1f} | {1 / self.ratio:.2f} | {self.found:.2f} | "
            f"{self.trials} | {self.choice} |"
        )


def gain(name: str, case: Case, budget: str, threads: int) -> Gain:
    """Tune a case, and time what was found beside the default."""
    description, _ = describe(case.task)
    sizes = {size: case.task.values["sizes"][size.name] for size in description.sizes}
    compiled = pm.compile(
        description.outputs, inputs=description.inputs, estimates=sizes, options=pm.Options(threads=threads)
    )
    request = request_of(compiled)
    assert request is not None  # it was compiled from its definition
    arrays = dict(case.task.arrays)
    found = pm.tune(compiled, arrays=arrays, budget=budget)
    chosen = found.ending.choice
    default = compile_request(replace(request, found=None)) if chosen is not None else found.compiled
    times = 1.0, found.default_seconds, found.default_seconds
    if chosen is not None:
        times = _timed(name, case, (default, found.compiled), threads)
    ratio, before, since = times
    faults = sum(bool(trial.fault) and trial.fault != "its code is known" for trial in found.trials)
    text = "" if chosen is None else str(chosen)
    where, kind = about(calibrated_machine()), "pipeline" if name in PIPELINES else kind_of(name)
    return Gain(
        name, kind, case.flops, len(found.trials), faults, found.gain, before, since, ratio, text, where
    )


def _timed(name: str, case: Case, programs: Sequence[Any], threads: int) -> tuple[float, float, float]:
    """The ratio of the second program's time to the first one's, and the seconds of both; both are right."""
    judge, arrays = Judge(case), case.task.arrays
    runs = []
    for program in programs:
        result = program(**arrays)
        if not judge.error(result) <= 1.0:
            raise SystemExit(f"{name}: what was found computes something else than the case")
        runs.append(partial(program, **arrays, out=result))
    clock = TrueClock(alone=threads == 1)
    times = compared(clock, runs[0], runs[1], calls_of(clock, runs[0]), rounds=LAST_ROUNDS)
    return times.ratio, times.default, times.seconds


def summary(found: Sequence[Gain]) -> Iterator[str]:
    """How many cases of each kind are not slower than the default, and what the gains are."""
    for kind in ("contraction", "convolution", "pipeline"):
        gains = [1 / each.ratio for each in found if each.kind == kind]
        if gains:
            fine = sum(each >= 1 / NOISE for each in gains)
            mean = float(np.exp(np.mean(np.log(gains))))
            yield (
                f"{len(gains)} {kind}s: {fine} not slower than the default, least {min(gains):.2f}, "
                f"geometric mean {mean:.2f}, largest {max(gains):.2f}"
            )


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row a case, and what all of them come to."""
    parser = parser_of(__doc__)
    parser.add_argument("--budget", default="20 s", help="of a search")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(argv)
    machine = about(calibrated_machine())["machine"]
    conditions = {"budget": asked.budget, "threads": asked.threads, "flops": asked.flops, "machine": machine}
    print("| case | GFLOP/s | tuned | gain | the search's own | trials | choice |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)

    def find(name: str, case: Case) -> Gain:
        return gain(name, case, asked.budget, asked.threads)

    found = []
    for each in found_for(every_program(asked.flops), asked, conditions, Gain, find):
        print(each.row(), flush=True)
        found.append(each)
    print("", *summary(found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
