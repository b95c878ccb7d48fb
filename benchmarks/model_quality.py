"""How good the chosen schemes of contractions are: `python -m benchmarks.model_quality`.

The scheme that the model chooses for each contraction of TCCG runs beside random valid ones, all of them
through the same C function: other register blocks, other dimensions as rows and depth, other orders of the
rest, other blocks for the caches.  The best few of them and the model's run alternately at the end, and the
least time of each counts.  Extents are scaled down by one factor so that a run takes a few milliseconds.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

import polymat as pm
from benchmarks.sections.contractions import CONTRACTIONS
from polymat.codegen.microkernel import Shape
from polymat.codegen.prelude import prelude
from polymat.graph.build import build
from polymat.machine.model import Machine
from polymat.runtime.calibration import calibrated_machine
from polymat.runtime.toolchain import compile_shared, find_compiler, flags_for
from polymat.tilesize.blocks import Blocks, blocks_of
from polymat.tilesize.contraction import Contraction, contraction_of

SCHEMES = 200
FLOPS = 4e8  # of a run, at most, or a little more
LEAST = 8  # indices of a dimension
FINALISTS, ROUNDS = 5, 9
NEAR = 1.10
WANTED = 30
ELEMENT = 8

_RUN = """\
void run(const ptrdiff_t *n, const ptrdiff_t *rows, const ptrdiff_t *columns, const ptrdiff_t *depths,
        const double *a, const double *b, double *c, double *scratch)
{
    _pm_gemm_f64(n[0], n[1], n[2], n[3], rows, n[4], columns, n[5], depths, 1.0, a, n[6], n[7], b, n[8], n[9],
                 0.0, NULL, 0, c, n[10], n[11], n[12], n[13], n[14], _pm_half_of_f64(0, 0, 0, NULL, 0, 0),
                 scratch, NULL, NULL);
}
"""
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Candidate:
    """One way to carry out a contraction: its dimensions by group, register and cache blocks."""

    found: Contraction
    blocks: Blocks

    def __str__(self) -> str:
        found, blocks = self.found, self.blocks
        groups = (
            (found.more_rows, found.rows),
            (found.more_columns, found.columns),
            (found.sums, found.depth),
        )
        dims = " x ".join("".join((*more, inner)) for more, inner in groups)
        sizes = f"kc {blocks.kc}, mc {blocks.mc}, nc {blocks.nc}"
        return f"{dims}, {blocks.rows} x {blocks.columns}, {sizes}, unpacked to {blocks.small}"


@dataclass(frozen=True)
class Problem:
    """A contraction at some extents, with its arrays."""

    name: str
    extents: Mapping[str, int]
    arrays: Mapping[str, Floats]

    @property
    def letters(self) -> dict[str, str]:
        """Indices of the operands and of the result C."""
        return dict(zip("CAB", self.name.split("-"), strict=True))

    @property
    def flops(self) -> float:
        """Operations of the sum of products."""
        return 2.0 * prod(self.extents.values())

    def step(self, array: str, dim: str) -> int:
        """Elements between neighbours along a dimension."""
        letters = self.letters[array]
        if dim not in letters:
            return 0
        return prod(self.extents[d] for d in letters[letters.index(dim) + 1 :])


def problem(name: str) -> Problem:
    """A contraction of TCCG with all extents scaled by a factor until a run is short."""
    whole = CONTRACTIONS[name]
    factor = min(1.0, (FLOPS / (2.0 * prod(whole.values()))) ** (1.0 / len(whole)))
    extents = {dim: max(LEAST, round(size * factor)) for dim, size in whole.items()}
    rng = np.random.default_rng(1)
    _, left, right = name.split("-")
    arrays = {x: rng.standard_normal([extents[d] for d in of]) for x, of in (("A", left), ("B", right))}
    return Problem(name, extents, arrays)


def chosen(task: Problem, machine: Machine) -> Candidate:
    """What the model chooses."""
    sizes = {dim: pm.Parameter(pm.Int, f"n{dim}") for dim in task.extents}
    a, b = (pm.Image(pm.Double, x, [sizes[d] for d in task.letters[x]]) for x in "AB")
    pipeline = build([pm.einsum(task.name, a, b)], inputs=[a, b])
    (stage,) = pipeline.stages
    estimates = {f"n{dim}": size for dim, size in task.extents.items()}
    found = contraction_of(stage, pipeline.context, estimates)
    if found is None:
        raise SystemExit(f"{task.name} is no contraction for register blocks")
    return Candidate(found, blocks_of(machine, ELEMENT))


def shapes(machine: Machine) -> list[tuple[int, int]]:
    """Register blocks, rows by vectors, that use most of the registers and fit them."""
    registers = machine.vector_registers
    return [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in (2, 4, 6, 8, 12, 14, 24)
        if registers / 2 <= rows * vectors + vectors + 1 <= registers
    ]


def at_random(rng: np.random.Generator, model: Candidate, machine: Machine) -> Candidate:
    """A valid scheme: dimensions keep their group, everything else is drawn."""
    found = model.found
    rows = rng.permutation([found.rows, *found.more_rows]).tolist()
    depth = rng.permutation([found.depth, *found.sums]).tolist()
    grouped = replace(
        found,
        rows=rows[-1],
        more_rows=tuple(rows[:-1]),
        more_columns=tuple(rng.permutation(list(found.more_columns)).tolist()) if found.more_columns else (),
        depth=depth[-1],
        sums=tuple(depth[:-1]),
    )
    allowed = shapes(machine)
    height, vectors = allowed[int(rng.integers(len(allowed)))]
    lanes = machine.lanes(ELEMENT)
    kc = 32 * int(2 ** rng.uniform(0, 5))
    mc = max(1, int(2 ** rng.uniform(4, 11)) // height) * height
    nc = max(1, int(2 ** rng.uniform(5, 13)) // (vectors * lanes)) * vectors * lanes
    small = int(rng.choice([1 << 10, 1 << 14, model.blocks.small]))
    blocks = Blocks(machine.vector_bits // 8, height, vectors, lanes, kc, mc, nc, small)
    return Candidate(grouped, blocks)


@cache
def function(need: str) -> Callable[..., None]:
    """The compiled product around a family of register blocks."""
    compiler = find_compiler()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"{need}.so"
        compile_shared(prelude(frozenset({need})) + _RUN, path, compiler, flags_for(compiler))
        run: Callable[..., None] = ctypes.CDLL(str(path)).run
    return run


def segments(
    task: Problem, inner: str, dims: Sequence[str], arrays: Sequence[str]
) -> tuple[int, int, Integers]:
    """Length and number of segments and their offsets; dimensions that continue the inner one are joined."""
    length = task.extents[inner]
    rest: list[str] = []
    for dim in reversed(dims):
        steps = ((task.step(x, dim), task.step(x, inner)) for x in arrays)
        if all(outer == length * unit for outer, unit in steps):
            length *= task.extents[dim]
        else:
            rest.insert(0, dim)
    points = list(itertools.product(*(range(task.extents[d]) for d in rest)))
    table = [
        [sum(i * task.step(x, d) for i, d in zip(point, rest, strict=True)) for x in arrays]
        for point in points
    ]
    return length, len(points), np.asarray(table, dtype=np.intp)


def call(task: Problem, candidate: Candidate, result: Floats) -> Callable[[], None]:
    """A call of the scheme that writes the result."""
    found, blocks = candidate.found, candidate.blocks
    left, right = found.left.source, found.right.source
    m, row_count, rows = segments(task, found.rows, found.more_rows, (left, "C", "C"))
    n, column_count, columns = segments(task, found.columns, found.more_columns, (right, "C", "C"))
    k, depth_count, depths = segments(task, found.depth, found.sums, (left, right))
    steps = ((left, found.rows), (left, found.depth), (right, found.depth), (right, found.columns))
    numbers = [m, n, k, row_count, column_count, depth_count]
    numbers += [task.step(x, dim) for x, dim in (*steps, ("C", found.rows))]
    numbers += [blocks.kc, blocks.mc, blocks.nc, blocks.small]
    size = blocks.kc * (blocks.mc + blocks.nc + 2 * blocks.columns + blocks.rows)
    scratch = np.zeros(size + 2 * blocks.kc * blocks.columns)
    arrays = (
        np.asarray(numbers, dtype=np.intp),
        rows,
        columns,
        depths,
        task.arrays[left],
        task.arrays[right],
        result,
        scratch,
    )
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    run = function(Shape("f64", blocks.vector_bytes, blocks.rows, blocks.vectors).need)

    def once(keep: tuple[npt.NDArray[np.generic], ...] = arrays) -> None:
        run(*pointers)

    return once


def seconds(once: Callable[[], None], repeats: int) -> float:
    """Least time of a few calls, of the processor, since others may be using it too."""
    least = float("inf")
    for _ in range(repeats):
        begin = time.thread_time()
        once()
        least = min(least, time.thread_time() - begin)
    return least


@dataclass(frozen=True)
class Verdict:
    """The model's scheme and the best one, with their seconds."""

    task: Problem
    model: Candidate
    model_seconds: float
    best: Candidate
    best_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as long the model's choice takes as the best."""
        return self.model_seconds / self.best_seconds


def judge(task: Problem, machine: Machine, count: int, seed: int) -> Verdict:
    """Run `count` random schemes, then the best of them and the model's in turn."""
    model = chosen(task, machine)
    rng = np.random.default_rng(seed)
    result = np.empty([task.extents[d] for d in task.letters["C"]])
    drawn = [at_random(rng, model, machine) for _ in range(count)]
    times = [seconds(call(task, each, result), 2) for each in drawn]
    finalists = [model, *(drawn[i] for i in np.argsort(times)[:FINALISTS])]
    calls = [call(task, each, result) for each in finalists]
    _check(task, finalists, calls, result)
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        least = [min(old, seconds(once, 1)) for old, once in zip(least, calls, strict=True)]
    best = int(np.argmin(least))
    return Verdict(task, model, least[0], finalists[best], least[best])


def _check(
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


def verdicts(names: Sequence[str], count: int, seed: int) -> Iterator[Verdict]:
    """One contraction after the other."""
    machine = calibrated_machine()
    for name in names:
        yield judge(problem(name), machine, count, seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table and how many choices are near the best."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemes", type=int, default=SCHEMES, help="random ones for each contraction")
    parser.add_argument("--only", default="", help="contractions whose name contains this text")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(argv)
    names = [name for name in CONTRACTIONS if asked.only in name]
    print(f"{asked.schemes} random schemes for each; one thread; runs of about {FLOPS:.0g} operations\n")
    print("| contraction | extents | model | best of all | model / best | the best, where it is another |")
    print("| --- | --- | ---: | ---: | ---: | --- |", flush=True)
    found = []
    for verdict in verdicts(names, asked.schemes, asked.seed):
        found.append(verdict)
        task = verdict.task
        extents = " ".join(f"{dim}{size}" for dim, size in task.extents.items())
        rates = [task.flops / s / 1e9 for s in (verdict.model_seconds, verdict.best_seconds)]
        other = "" if verdict.best is verdict.model else str(verdict.best)
        row = f"| {task.name} | {extents} | {rates[0]:.1f} | {rates[1]:.1f} | {verdict.ratio:.2f} | {other} |"
        print(row, flush=True)
    near = sum(verdict.ratio <= NEAR for verdict in found)
    total = f"{near} of {len(found)} (wanted {WANTED} of {len(CONTRACTIONS)})"
    print(f"\nwithin {NEAR - 1:.0%} of the best: {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
