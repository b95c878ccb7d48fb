"""Cache misses that a model predicts beside those that a simulator counts, on the cases of the model's paper.

    python -m benchmarks.misses --output FILE [--flops 2e9] [--only TEXT]

The four contractions of Li and others' Table 2, scaled to about so many operations at most, in the schemes
of `Options(blocks="model")` for the caches of a Haswell, on one thread.  Each is saved as a library and
called from C once under valgrind's cachegrind, which has a first and a last level: once with the second level
as the last one, once with the third.  What the program around the call misses is counted by itself, and taken
off.  Lines of 64 bytes; FILE is written after each case, and a later run goes on behind it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import polymat as pm
from benchmarks.casebycase import found_for, parser_of
from benchmarks.cases import Case
from benchmarks.machinetext import about
from benchmarks.problems import describe
from benchmarks.schemes import extents_of
from benchmarks.sections.contractions import contraction_case
from polymat.driver import compile_request, request_for
from polymat.machine.known import HASWELL
from polymat.machine.model import Cache
from polymat.runtime.calibration import calibrated_machine

CASES = ("abcdef-degb-gfac", "abcd-aebf-dfce", "abcde-efbca-fd", "abcd-ea-ebcd")
ALIKE = {"abcde-efbca-fd": "abcde-ecbfa-fd"}  # of Table 4, with the same sizes
TARGET = "x86-64-v3"
PROGRAM = """
#include <stdlib.h>
#include <contraction.h>

static double *ones(size_t count)
{
    double *found = aligned_alloc(64, (count * sizeof(double) + 63) / 64 * 64);
    for (size_t i = 0; i < count; i++)
        found[i] = 1.0;
    return found;
}

int main(int argc, char **argv)
{
    (void)argv;
    double *A = ones(%d), *B = ones(%d), *C = ones(%d);
    return argc > 1 ? contraction(A, B, C, %s) : 0;
}
"""


@dataclass
class Misses:
    """One case: lines by level, predicted and counted.

    sizes: of the indices.  predicted: lines that move into the level, each array once.  counted: that it
    missed.  floor: what no caches of any size would spare, all elements of all arrays once.  about: the
    compiler, the day and the machine that counted.
    """

    name: str
    sizes: dict[str, int]
    scheme: str
    flops: float
    floor: float
    predicted: dict[str, float]
    counted: dict[str, float]
    about: dict[str, str]

    def rows(self) -> list[str]:
        """The rows of the table."""
        return [
            f"| {self.name} | {level} | {self.predicted[level]:.3g} | {counted:.3g} | "
            f"{self.predicted[level] / counted:.2f} | {counted / self.floor:.1f} |"
            for level, counted in self.counted.items()
        ]


def counted_lines(directory: Path, caches: Sequence[Cache]) -> dict[str, float]:
    """Lines that the call of the program in a directory misses, by level."""
    first, *further = caches
    found: dict[str, float] = {}
    for last in further:
        called, around = (_simulated(directory, first, last, *more) for more in (("call",), ()))
        found["L1"] = called["D1mr"] + called["D1mw"] - around["D1mr"] - around["D1mw"]
        found[f"L{last.level}"] = called["DLmr"] + called["DLmw"] - around["DLmr"] - around["DLmw"]
    return found


def _simulated(directory: Path, first: Cache, last: Cache, *arguments: str) -> dict[str, float]:
    """The counts of a run by their names in cachegrind."""
    sizes = [f"{cache.bytes},{cache.ways},{cache.line_bytes}" for cache in (first, last)]
    told = directory / "counts"
    command = [
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=yes",
        f"--D1={sizes[0]}",
        f"--LL={sizes[1]}",
        f"--cachegrind-out-file={told}",
        "./main",
        *arguments,
    ]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    text = told.read_text(encoding="utf-8")
    named, counts = (re.search(rf"^{word}: (.*)$", text, re.M) for word in ("events", "summary"))
    assert named is not None
    assert counts is not None
    return dict(zip(named[1].split(), map(float, counts[1].split()), strict=True))


def misses(name: str, case: Case) -> Misses:
    """What is predicted of a case, and what is counted."""
    description, _ = describe(case.task)
    sizes = {size: case.task.values["sizes"][size.name] for size in description.sizes}
    options = pm.Options(blocks="model", threads=1, target=TARGET)
    asked = request_for(
        *description.outputs,
        inputs=description.inputs,
        estimates=sizes,
        name="contraction",
        options=options,
    )
    compiled = compile_request(replace(asked, machine=HASWELL))
    (group,) = compiled.explain().groups
    assert group.movement is not None  # the policy is the model
    caches = HASWELL.caches
    moved = {each.level: sum(volume for _, volume in each.volumes) for each in group.movement.traffic}
    levels = [f"L{cache.level}" for cache in caches]
    behind = dict(zip(levels, [*levels[1:], "memory"], strict=True))
    line = HASWELL.line_bytes
    result, left, right = name.split("-")
    by_index = {size.name[1:]: length for size, length in sizes.items()}
    elements = [prod(by_index[index] for index in of) for of in (left, right, result)]
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        compiled.save(directory)
        given = {size.name: length for size, length in sizes.items()}
        order = ", ".join(str(given[size.name]) for size in compiled.signature.sizes)
        (directory / "main.c").write_text(PROGRAM % (*elements, order), encoding="utf-8")
        link = ["-I.", "-L.", "-lcontraction", "-Wl,-rpath,$ORIGIN"]
        subprocess.run(["gcc", "-O1", "main.c", *link, "-o", "main"], cwd=directory, check=True)
        counted = counted_lines(directory, caches)
    predicted = {level: moved[behind[level]] / line for level in levels}
    scheme = compiled.explain().schemes["C"]
    told = about(calibrated_machine())
    return Misses(name, by_index, scheme, case.flops, 8 * sum(elements) / line, predicted, counted, told)


def made(name: str, flops: float) -> Case:
    """A contraction of about so many operations."""
    return contraction_case(name, extents_of(ALIKE.get(name, name), flops))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row a case and level."""
    parser = parser_of(__doc__)
    parser.set_defaults(flops=2e9)
    asked = parser.parse_args(argv)
    told = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True).stdout
    text = ", ".join(f"L{cache.level} {cache.bytes >> 10} KiB, {cache.ways} ways" for cache in HASWELL.caches)
    conditions = {"flops": asked.flops, "caches": text, "simulator": told.strip(), "target": TARGET}
    every = [(name, lambda name=name: made(name, asked.flops)) for name in CASES]
    print("| case | level | predicted | counted | predicted / counted | counted / all lines once |")
    print("| --- | --- | ---: | ---: | ---: | ---: |", flush=True)
    for found in found_for(every, asked, conditions, Misses, misses):
        print(*found.rows(), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
