"""How many trials a search needs: the ratio of each to the default, with the model and without.

    python -m benchmarks.convergence --output FILE [--trials 75] [--after 50] [--every 1] [--only TEXT]

The cases of `benchmarks.tunegains`.  Each is searched twice from nothing, for so many trials: once as `tune`
does, once without predictions, which then only leave out what cannot be carried out; the first scheme of a
contraction is the model's both times.  FILE is written after each case, and a later run goes on behind it,
with the same trials, threads, operations and machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polymat as pm
from benchmarks.casebycase import found_for, parser_of
from benchmarks.cases import Case
from benchmarks.machinetext import about
from benchmarks.problems import describe
from benchmarks.tunegains import every_program
from polymat.driver import measured, request_for
from polymat.runtime.calibration import calibrated_machine
from polymat.search.tuning import Manner, tuned

NEAR = 1.03  # of the least time of a search
FOREVER = 1e9  # seconds: trials end a search here


@dataclass
class Curve:
    """One case: the ratio of each trial to the default, with the model and without; 0: not timed."""

    name: str
    guided: list[float]
    free: list[float]
    about: dict[str, str]

    def row(self, after: int) -> str:
        """A row of the table."""
        told = [
            f"{near_at(each)} of {len(each)} | {least(each, after):.3f}" for each in (self.guided, self.free)
        ]
        best = min(least(each, len(each)) for each in (self.guided, self.free))
        return f"| {self.name} | {' | '.join(told)} | {best:.3f} |"


def near_at(curve: Sequence[float]) -> int:
    """The trial from which on a search is near its last best; 0: the default is, before any."""
    last = NEAR * least(curve, len(curve))
    return next((number for number in range(len(curve)) if least(curve, number) <= last), len(curve))


def least(curve: Sequence[float], trials: int) -> float:
    """The least ratio after some trials: the default's own before any."""
    return min((ratio for ratio in curve[:trials] if 0.0 < ratio < 1.0), default=1.0)


def curve(name: str, case: Case, trials: int, threads: int) -> Curve:
    """Search a case with the model and without."""
    description, _ = describe(case.task)
    sizes = {size.name: case.task.values["sizes"][size.name] for size in description.sizes}
    options = pm.Options(threads=threads)
    request = measured(request_for(description.outputs, inputs=description.inputs, options=options))

    def searched(guided: bool) -> list[float]:
        manner, arrays = Manner(trials, guided=guided, kept=False), dict(case.task.arrays)
        search = tuned(request, arrays=arrays, sizes=sizes, budget=FOREVER, manner=manner)
        return [trial.ratio if trial.rounds and not trial.fault else 0.0 for trial in search.trials]

    return Curve(name, searched(True), searched(False), about(calibrated_machine()))


def summary(found: Sequence[Curve], after: int) -> Iterator[str]:
    """How many searches are near their best after some trials, with the model and without."""
    both = {"with": [each.guided for each in found], "without": [each.free for each in found]}
    beside = f"within {NEAR - 1:.0%} of their last best after {after} trials"
    for word, curves in both.items():
        near = sum(near_at(each) <= after for each in curves)
        yield f"{word} the model {near} of {len(curves)} {beside}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row a case, and how many of them were near their best."""
    parser = parser_of(__doc__)
    parser.add_argument("--trials", type=int, default=75, help="of each search")
    parser.add_argument("--after", type=int, default=50, help="trials, at which searches are looked at")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(argv)
    machine = about(calibrated_machine())["machine"]
    conditions = {"trials": asked.trials, "threads": asked.threads, "flops": asked.flops, "machine": machine}
    after = asked.after
    print(f"| case | near from trial | ratio after {after} | without, near from | after {after} | best |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)

    def find(name: str, case: Case) -> Curve:
        return curve(name, case, asked.trials, asked.threads)

    found = []
    for each in found_for(every_program(asked.flops), asked, conditions, Curve, find):
        print(each.row(after), flush=True)
        found.append(each)
    print("", *summary(found, after), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
