"""How good the chosen schemes of contractions are: `python -m benchmarks.model_quality`.

The scheme that the model chooses for each contraction of TCCG runs beside random valid ones.  All of them run
once, the faster ones a few times more, and the best few and the model's alternately at the end, where the
least time of each counts.  With `--keep FILE` what was found is written there after each contraction, and a
later run continues; `--again` then only repeats the end of what is kept, with what the model chooses now.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.schemes import (
    Candidate,
    Floats,
    Problem,
    at_random,
    call,
    chosen,
    compiled,
    extents_of,
    problem,
    shapes,
)
from benchmarks.sections.contractions import CONTRACTIONS
from polymat.codegen.products.blockshape import Shape
from polymat.machine.model import Machine
from polymat.runtime.calibration import calibrated_machine

SCHEMES = 200
FLOPS = 8e8  # of a run, or about that
FINALISTS, ROUNDS = 5, 7
HEATS = ((0.15, 1), (0.05, 2))  # the share of the schemes that runs again, and how often
NEAR = 1.10
WANTED = 30


@dataclass
class Found:
    """What is known of one contraction.

    drawn: numbers of the best random schemes.  texts, seconds: of these, after those of the model's scheme.
    predicted: seconds of the model's scheme.
    """

    name: str
    extents: dict[str, int]
    flops: float
    seed: int
    schemes: int
    drawn: list[int]
    texts: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    predicted: float = 0.0

    @property
    def best(self) -> int:
        """Number of the fastest scheme; 0 is the model's."""
        return int(np.argmin(self.seconds))

    @property
    def ratio(self) -> float:
        """How many times as long the model's choice takes as the best."""
        return self.seconds[0] / min(self.seconds)

    def row(self) -> str:
        """A row of the table."""
        extents = " ".join(f"{dim}{size}" for dim, size in self.extents.items())
        rates = [self.flops / seconds / 1e9 for seconds in (self.seconds[0], min(self.seconds))]
        other = self.texts[self.best] if self.best else ""
        off = self.seconds[0] / self.predicted
        numbers = f"{rates[0]:.1f} | {rates[1]:.1f} | {self.ratio:.2f} | {off:.2f}"
        return f"| {self.name} | {extents} | {numbers} | {other} |"


@dataclass(frozen=True)
class Judge:
    """Runs schemes; directory: of compiled libraries."""

    machine: Machine
    directory: Path

    def search(self, task: Problem, count: int, seed: int) -> Found:
        """Run `count` random schemes; the best few of them."""
        model, _ = chosen(task, self.machine)
        result = _result(task)
        drawn = _drawn(model, self.machine, count, seed)
        times = np.array([seconds(self._call(task, each, result), 1) for each in drawn])
        for share, repeats in HEATS:
            for number in np.argsort(times)[: max(FINALISTS, round(share * count))]:
                again = seconds(self._call(task, drawn[number], result), repeats)
                times[number] = min(times[number], again)
        best = [int(number) for number in np.argsort(times)[:FINALISTS]]
        return Found(task.name, dict(task.extents), task.flops, seed, count, best)

    def final(self, task: Problem, found: Found, rounds: int = ROUNDS) -> None:
        """Run the best few and what the model chooses alternately, and keep the least time of each."""
        model, found.predicted = chosen(task, self.machine)
        drawn = _drawn(model, self.machine, found.schemes, found.seed)
        finalists = [model, *(drawn[number] for number in found.drawn)]
        result = _result(task)
        calls = [self._call(task, each, result) for each in finalists]
        texts = [str(each) for each in finalists]
        if texts != found.texts:
            check(task, finalists, calls, result)
        least = [float("inf")] * len(calls)
        for _ in range(rounds):
            least = [min(old, seconds(once, 1)) for old, once in zip(least, calls, strict=True)]
        found.texts, found.seconds = texts, least

    def _call(self, task: Problem, candidate: Candidate, result: Floats) -> Callable[[], None]:
        return call(task, candidate, result, self.directory)

    def compile(self) -> None:
        """Compile all families of register blocks, two at a time."""
        families = [Shape("f64", self.machine.vector_bits // 8, *each) for each in shapes(self.machine)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: compiled(each, self.directory), families))


def _result(task: Problem) -> Floats:
    return np.zeros([task.extents[d] for d in task.letters["C"]])


def _drawn(model: Candidate, machine: Machine, count: int, seed: int) -> list[Candidate]:
    """The random schemes, the same ones whatever the model chooses."""
    rng = np.random.default_rng(seed)
    return [at_random(rng, model, machine) for _ in range(count)]


def seconds(once: Callable[[], None], repeats: int) -> float:
    """Least time of a few calls, of the processor, since others may be using it too."""
    least = float("inf")
    for _ in range(repeats):
        begin = time.thread_time()
        once()
        least = min(least, time.thread_time() - begin)
    return least


def check(
    task: Problem, candidates: Sequence[Candidate], calls: Sequence[Callable[[], None]], result: Floats
) -> None:
    """Every finalist computes the contraction."""
    letters = task.letters
    formula = f"{letters['A']},{letters['B']}->{letters['C']}"
    right = np.einsum(formula, task.arrays["A"], task.arrays["B"], optimize=True)
    for candidate, once in zip(candidates, calls, strict=True):
        result.fill(np.nan)
        once()
        if not np.allclose(result, right, rtol=1e-9, atol=1e-9):
            raise SystemExit(f"{task.name}: {candidate} computes something else")


def verdicts(names: Sequence[str], asked: argparse.Namespace, directory: Path) -> Iterator[Found]:
    """One contraction after the other."""
    judge = Judge(calibrated_machine(), directory)
    judge.compile()
    kept = _read(asked.keep)
    for name in names:
        found, extents = kept.get(name), extents_of(name, FLOPS)
        if found is not None and (found.seed, found.schemes, found.extents) != (
            asked.seed,
            asked.schemes,
            extents,
        ):
            found = None
        if found is None or asked.again:
            task = problem(name, extents)
            if found is None:
                found = judge.search(task, asked.schemes, asked.seed)
            judge.final(task, found)
            kept[name] = found
            if asked.keep is not None:
                lines = {each: asdict(kept[each]) for each in kept}
                asked.keep.write_text(json.dumps(lines, indent=1))
        yield found


def _read(path: Path | None) -> dict[str, Found]:
    """What was kept, by contraction."""
    if path is None or not path.exists():
        return {}
    return {name: Found(**values) for name, values in json.loads(path.read_text()).items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table and how many choices are near the best."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemes", type=int, default=SCHEMES, help="random ones for each contraction")
    parser.add_argument("--only", default="", help="contractions whose name contains one of these, a|b")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a file of what was found, to continue from")
    parser.add_argument("--libraries", type=Path, help="a directory of compiled schemes, to use again")
    parser.add_argument("--again", action="store_true", help="repeat the end of what is kept")
    asked = parser.parse_args(argv)
    names = [name for name in CONTRACTIONS if any(text in name for text in asked.only.split("|"))]
    print(f"{asked.schemes} random schemes for each; one thread; runs of about {FLOPS:.0g} operations\n")
    print("| contraction | extents | model | best of all | model / best | measured / predicted | best |")
    print("| --- | --- | ---: | ---: | ---: | ---: | --- |", flush=True)
    with tempfile.TemporaryDirectory() as fresh:
        directory = asked.libraries or Path(fresh)
        directory.mkdir(parents=True, exist_ok=True)
        rows = []
        for found in verdicts(names, asked, directory):
            rows.append(found)
            print(found.row(), flush=True)
    near = sum(found.ratio <= NEAR for found in rows)
    total = f"{near} of {len(rows)} (wanted {WANTED} of {len(CONTRACTIONS)})"
    print(f"\nwithin {NEAR - 1:.0%} of the best: {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
