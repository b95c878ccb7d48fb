"""`Options(blocks="model")` beside random schemes: how near to the best of them what it chooses comes.

    python -m benchmarks.policy --output FILE [--random 200] [--only TEXT] [--policy model|learned]

The 36 contractions of TCCG, scaled to about so many operations, and the 23 convolution layers as they are.
Random schemes have a register block that is nearly the quickest, tiles of up to two levels in any order, and
any copies.  All are compiled for the sizes, compared with the case, and timed on one thread: the median ratio
of processor time to the policy's choice, which runs before each.  FILE is written after each case, and a
later run goes on behind it, with the same policy, operations and machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import polymat as pm
from benchmarks.casebycase import found_for, parser_of
from benchmarks.cases import Case, Judge
from benchmarks.machinetext import about
from benchmarks.measure import progress
from benchmarks.problems import describe
from benchmarks.schemes import extents_of
from benchmarks.sections.contractions import CONTRACTIONS, contraction_case
from benchmarks.sections.convolutions import LAYERS, convolution_case
from benchmarks.variantlog import planned, timed
from polymat.driver import request_for
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.tilelevelsearch import pieces
from polymat.product.modelblocks import RegisterShape, SumShape, all_shapes
from polymat.product.modelled import Modelled
from polymat.product.modelscheme import block_atoms, copy_order
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop
from polymat.product.schemefit import dims_of
from polymat.product.sumshapes import sum_shape
from polymat.runtime.calibration import calibrated_machine

COPIED = 0.7  # of the operands of random schemes are copied
NEARLY = 1.2  # times the cycles of the quickest register block
MOST_LEVELS = 2  # of tiles of a dimension
NEAR = 1.10
MOST_DRAWS = 20  # for each random scheme: some contractions have fewer different ones than are asked for


@dataclass
class Judged:
    """One case.

    random: the random schemes that were asked for: there are fewer where draws find no more.  choosing:
    processor seconds of the choice.  schemes: the policy's, then random ones.  seconds: of each.
    """

    name: str
    kind: str
    flops: float
    random: int
    choosing: float
    schemes: list[str]
    seconds: list[float]
    about: dict[str, str]

    @property
    def ratio(self) -> float:
        """How many times as long the choice takes as the best of the random ones; 1 where it is quicker."""
        return max(1.0, self.seconds[0] / min(self.seconds[1:], default=self.seconds[0]))

    def row(self) -> str:
        """A row of the table."""
        best = int(np.argmin(self.seconds))
        rates = [self.flops / each / 1e9 for each in (self.seconds[0], self.seconds[best])]
        return (
            f"| {self.name} | {rates[0]:.1f} | {rates[1]:.1f} | {self.ratio:.2f} | {self.choosing:.2f} s | "
            f"{self.schemes[best] if best else ''} |"
        )


def every_case(flops: float) -> Iterator[tuple[str, Callable[[], Case]]]:
    """Name and maker of every case."""
    for name in CONTRACTIONS:
        yield name, lambda name=name: contraction_case(name, extents_of(name, flops))  # type: ignore[misc]
    for name, layer in LAYERS.items():
        yield name, lambda name=name, layer=layer: convolution_case(name, layer)  # type: ignore[misc]


def random_scheme(rng: Random, of: Modelled) -> Scheme:
    """A valid scheme of a contraction."""
    copied = tuple(rng.random() < COPIED for _ in range(2))
    shape = sum_shape(of, copied)
    block = rng.choice(_quick(shape, of.machine, of.lanes))
    loops = _tiles(rng, of, block)
    made: list[Atom] = [*loops]
    for (factor, access), is_copied in zip(of.factors, copied, strict=True):
        if is_copied:
            own, at = dims_of(factor, of.found), rng.randint(0, len(made))
            while at and isinstance(made[at - 1], SchemeLoop) and made[at - 1].dim not in own:  # type: ignore[union-attr]
                at -= 1
            made.insert(at, Pack(factor.source, copy_order(of, factor, access, block)))
    result = rng.sample(of.found.result, len(of.found.result))
    inner = [SchemeLoop("R", dim) for dim in (*result, *shape.summed)]
    return Scheme((*made, *inner, *block_atoms(block)))


def _quick(shape: SumShape, machine: Machine, lanes: int) -> list[RegisterShape]:
    """Register blocks whose products take nearly as few cycles as those of the best."""
    cycles = {block: block.step(shape, machine) / block.sums for block in all_shapes(shape, machine, lanes)}
    return [block for block, each in cycles.items() if each <= NEARLY * min(cycles.values())]


def _tiles(rng: Random, of: Modelled, block: RegisterShape) -> list[SchemeLoop]:
    """Loops over tiles in any order, the larger tiles of a dimension outside."""
    names: list[str] = []
    sizes: dict[str, list[int]] = {}
    for dim, extent in of.extents.items():
        unit = min(block.points.get(dim, 1), extent)
        between = [size for size in pieces(extent, unit) if unit < size < extent]
        drawn = rng.sample(between, min(len(between), rng.randint(0, MOST_LEVELS)))
        sizes[dim] = sorted(drawn)
        names += [dim] * len(drawn)
    rng.shuffle(names)
    return [SchemeLoop("T", dim, sizes[dim].pop()) for dim in names]


def different_schemes(name: str, of: Modelled, count: int, chosen: Scheme) -> list[Scheme]:
    """So many random schemes, none of them the choice: fewer where draws find no more."""
    rng, found = Random(name), {chosen: None}
    for _ in range(MOST_DRAWS * count):
        if len(found) > count:
            break
        found.setdefault(random_scheme(rng, of))
    return [*found][1:]


def judged(name: str, case: Case, count: int, policy: Any, machine: Machine) -> Judged:
    """The policy's choice beside random schemes."""
    description, _ = describe(case.task)
    (output,) = description.outputs
    sizes = {size: case.task.values["sizes"][size.name] for size in description.sizes}
    stage, chosen, of, choosing = _chosen(output, sizes, policy)
    schemes = [chosen, *different_schemes(name, of, count, chosen)]
    calls: list[Callable[[], Any]] = []
    judge, arrays = Judge(case), tuple(case.task.arrays.values())
    out: Any = None  # of all schemes: of two hundred each its own would be more than a machine has
    for scheme in schemes:
        options = pm.Options(scheme={stage: str(scheme)}, threads=1)
        compiled = pm.compile(output, inputs=description.inputs, sizes=sizes, options=options)
        if out is not None:
            out.fill(np.nan)
        out = compiled(*arrays, out=out)
        if not judge.error(out) <= 1.0:
            raise SystemExit(f"{name}: {scheme} computes something else than the case")
        calls.append(lambda compiled=compiled, out=out: compiled(*arrays, out=out))  # type: ignore[misc]
        progress(".")
    texts = [str(scheme) for scheme in schemes]
    kind = kind_of(name)
    return Judged(name, kind, case.flops, count, choosing, texts, timed(calls), about(machine))


def _chosen(
    output: pm.Function, sizes: Mapping[Any, int], policy: Any
) -> tuple[str, Scheme, Modelled, float]:
    """The stage, its scheme by the policy, what random ones are drawn for, and how long choosing took."""
    asked = request_for(output, estimates=sizes, options=pm.Options(blocks=policy, threads=1))
    begin = time.thread_time()
    pipeline, plan = planned(asked)
    choosing = time.thread_time() - begin
    (name,) = plan.group.stages
    estimates = assumed_sizes(pipeline, asked.estimates)
    where = pipeline.stage(name), plan.contraction, pipeline.extents, estimates, asked.machine, plan.lanes
    return name, plan.scheme, Modelled.of(*where), choosing


def kind_of(name: str) -> str:
    """What a case is."""
    return "contraction" if name in CONTRACTIONS else "convolution"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row a case, and how many choices are near the best."""
    parser = parser_of(__doc__)
    parser.add_argument("--random", type=int, default=200, help="random schemes of each case")
    parser.add_argument("--policy", default="model", choices=("model", "learned"))
    asked = parser.parse_args(argv)
    machine = calibrated_machine()
    conditions = {"policy": asked.policy, "flops": asked.flops, "machine": about(machine)["machine"]}
    print("| case | GFLOP/s | best of all | choice / best | choosing | best |")
    print("| --- | ---: | ---: | ---: | ---: | --- |", flush=True)

    def find(name: str, case: Case) -> Judged:
        return judged(name, case, asked.random, asked.policy, machine)

    def is_enough(known: Judged) -> bool:
        least: int = asked.random
        return known.random >= least

    every = []
    cases = every_case(asked.flops)
    for each in found_for(cases, asked, conditions, Judged, find, is_enough=is_enough):
        print(each.row(), flush=True)
        every.append(each)
    for kind in ("contraction", "convolution"):
        found = [each for each in every if each.kind == kind]
        near = sum(each.ratio <= NEAR for each in found)
        beside = f"the best of {asked.random} random schemes"
        print(f"\n{kind}s within {NEAR - 1:.0%} of {beside}: {near} of {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
