"""Every way of tiling that is called legal, carried out point by point on small sizes.

In each tile, whatever a computed point reads of its group must be computed in that tile; every point of a
live-out must be owned by exactly one tile, and every point that is summed up must be summed up once.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import islpy as isl
import pytest

import polymat as pm
from polymat.fusion.dag import Dag
from polymat.fusion.legality import Choices, choices_of
from polymat.fusion.reads import Reads
from polymat.graph.aligned import Fusable, Member, grid
from polymat.graph.build import build
from polymat.graph.stage import Stage
from polymat.graph.verifypipeline import verify
from polymat.lang.expr import Expr
from polymat.poly.domain import Domain
from tests.fusion import pipelines as p
from tests.poly.nests import fix

Point = tuple[int, ...]
Span = tuple[int, int]
SIZES = {"M": 7, "N": 6, "K": 5}


def points(domain: Domain, sizes: Mapping[str, int]) -> list[Point]:
    found: list[Point] = []

    def collect(point: isl.Point) -> None:
        count = len(domain.dims)
        found.append(tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count)))

    fixed = fix(domain, sizes).set.project_out_all_params()
    fixed.foreach_point(collect)
    return found


class Simulation:
    """One group tiled along some dimensions, for fixed sizes."""

    def __init__(self, reads: Reads, found: Fusable, sizes: Mapping[str, int], tile: Sequence[int]) -> None:
        self.reads, self.found, self.sizes, self.tile = reads, found, sizes, tile
        self.members = {m.stage: m for m in found.members}
        self.domains = {n: points(reads.stages[n].domain, sizes) for n in self.members}
        self.where = {
            id(read): points(read.domain, sizes) for n in self.members for read in reads.by_stage[n]
        }

    def iterations(self, stage: Stage) -> Iterator[dict[str, int]]:
        """Points of the accumulations, by the stage's own dimensions."""
        for accumulation in stage.accumulations:
            for point in points(accumulation.domain, self.sizes):
                values = dict(zip(accumulation.dims, point, strict=True))
                own = {d: values[d] for d in accumulation.reduced_dims}
                yield own | {
                    d: form.evaluate(values) for d, form in zip(stage.dims, accumulation.target, strict=True)
                }

    def positions(self, level: int) -> list[int]:
        """Where points of stages that are kept lie along a tiled dimension."""
        found: list[int] = []
        for member in self.members.values():
            stage, dim = self.reads.stages[member.stage], member.dims[level]
            if member.scratch or dim is None:
                continue
            if dim in stage.dims:
                own = [point[stage.dims.index(dim)] for point in self.domains[stage.name]]
            else:
                own = [values[dim] for values in self.iterations(stage)]
            found += [member.scale(level) * value for value in own]
        return found

    def tiles(self) -> Iterator[tuple[Span, ...]]:
        spans = []
        for level, size in enumerate(self.tile):
            where = self.positions(level)
            common = grid(self.members.values(), level)
            size *= common
            begins = range(min(where) // common * common, max(where) + 1, size) if where else ()
            spans.append([(begin, begin + size) for begin in begins])
        yield from itertools.product(*spans)

    def inside(self, member: Member, values: Mapping[str, int], tile: Sequence[Span], wide: bool) -> bool:
        """Whether a tile computes a point (owns it, without margins)."""
        for level, ((begin, end), dim) in enumerate(zip(tile, member.dims, strict=True)):
            before, behind = member.margins[level] if wide else (0, 0)
            if dim is None or dim not in values:
                continue
            if not begin - before <= member.scale(level) * values[dim] < end + behind:
                return False
        return True

    def check(self) -> None:
        tiles = list(self.tiles())
        for tile in tiles:
            for name in self.members:
                self.check_reads(name, tile)
        for name in self.found.live_outs:
            stage, member = self.reads.stages[name], self.members[name]
            if member.private:
                whole = [tuple(sorted(v.items())) for v in self.iterations(stage)]
            else:
                whole = [tuple(sorted(zip(stage.dims, x, strict=True))) for x in self.domains[name]]
            owned = Counter(
                point for tile in tiles for point in whole if self.inside(member, dict(point), tile, False)
            )
            times = Counter(whole)
            assert all(owned[point] == times[point] ** 2 for point in whole), f"{name} is not owned once"

    def check_reads(self, name: str, tile: Sequence[Span]) -> None:
        for read in self.reads.by_stage[name]:
            if read.source not in self.members:
                continue
            producer, source = self.reads.stages[read.source], self.members[read.source]
            for point in self.where[id(read)]:
                here = dict(zip(read.domain.dims, point, strict=True))
                own = {dim: here[iterator] for dim, iterator in read.iterators}
                if not self.inside(self.members[name], own, tile, True):
                    continue
                element = [form.evaluate({**here, **self.sizes}) for form in read.indices]
                values = dict(zip(producer.dims, element, strict=True))
                assert self.inside(source, values, tile, True), (
                    f"{name} at {own} reads {read.source}{element}"
                )


def check_all_choices(outputs: Sequence[pm.Function], rng: random.Random) -> int:
    """Every legal way of tiling every prefix of the stages that is a group; how many there were."""
    pipeline = verify(build(outputs))
    reads, dag = Reads.of(pipeline), Dag.of_pipeline(pipeline)
    names = [stage.name for stage in pipeline.stages]
    count = 0
    for begin, end in itertools.combinations(range(len(names) + 1), 2):
        choices = choices_of(reads, dag, names[begin:end])
        if isinstance(choices, Choices):
            for found in choices.all():
                Simulation(reads, found, SIZES, [rng.choice([1, 2, 3, 100]) for _ in found.dims]).check()
                count += 1
    return count


@pytest.mark.parametrize(
    "program", [p.product_and_bias, p.atax, p.bicg, p.mvt, p.blur_chain], ids=lambda f: f.__name__
)
def test_programs_of_the_papers(program: Callable[[], object], seed: int) -> None:
    made = program()
    outputs = made if isinstance(made, tuple) else (made,)
    assert check_all_choices(outputs, random.Random(seed))


class RandomProgram:
    """Stages over shrinking domains that read earlier ones nearby, with sums and transposes among them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.image = pm.Image(pm.Double, "img", [p.N + 20, p.N + 20])
        self.stages: list[pm.Function] = []

    def load(self, i: Expr, j: Expr) -> Expr:
        a, b = self.rng.randint(-1, 1), self.rng.randint(-1, 1)
        if not self.stages or self.rng.random() < 0.2:
            return self.image(i + a, j + b)
        source = self.rng.choice(self.stages)
        if self.rng.random() < 0.1:
            i, j = j, i
        return source(i + a) if source.rank == 1 else source(i + a, j + b)

    def add(self) -> None:
        level = len(self.stages) + 1
        whole = pm.Interval(pm.Int, 2 * level, p.N + 10 - 2 * level)
        i, j, u = p.i, p.j, pm.Variable(pm.Int, "u")
        name, kind = f"s{level}", self.rng.random()
        if kind < 0.65:
            made = pm.Function(([i, j], [whole, whole]), pm.Double, name)
            made.defn = [self.load(i, j) + self.load(i, j) * self.load(i, j)]
        elif kind < 0.85:
            domain = ([i, j, u], [whole, whole, pm.Interval(pm.Int, -1, 1)])
            made = pm.Reduction(([i, j], [whole, whole]), domain, pm.Double, name)
            made.defn = [pm.Reduce(made(i, j), self.load(i + u, j), pm.Op.Sum)]
        else:
            made = pm.Reduction(([i], [whole]), ([i, j], [whole, whole]), pm.Double, name)
            made.defn = [pm.Reduce(made(i), self.load(i, j) + self.load(i, j), pm.Op.Max)]
        self.stages.append(made)

    def outputs(self) -> list[pm.Function]:
        return [stage for stage in self.stages[:-1] if self.rng.random() < 0.3] + self.stages[-1:]


class PyramidProgram:
    """Stages at random scales that read each other near the same place."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.stages: list[tuple[pm.Function, Fraction]] = []

    def load(self, scale: Fraction, at: Expr) -> Expr:
        """A load of one of the last two stages, less than five of its points beside the reader's."""
        source, other = self.rng.choice(self.stages[-2:])
        slope = scale / other
        near = slope.numerator * at + self.rng.randint(-2, 2)
        return source(near // slope.denominator + self.rng.randint(0, 1))

    def add(self) -> None:
        level, scale = len(self.stages), Fraction(1)
        if self.stages:
            steps = (Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3), Fraction(1, 3))
            scales = [self.stages[-1][1] * step for step in steps]
            scale = self.rng.choice([found for found in scales if 1 <= 3 * found <= 9])
        low, high = math.ceil(15 * level / scale), math.floor((100 - 15 * level) / scale)
        made = pm.Function(([p.i], [pm.Interval(pm.Int, low, high)]), pm.Double, f"s{level}")
        made.defn = [self.load(scale, p.i) + self.load(scale, p.i) if self.stages else p.i * 0.5]
        self.stages.append((made, scale))

    def outputs(self) -> list[pm.Function]:
        stages = [stage for stage, _ in self.stages]
        return [stage for stage in stages[:-1] if self.rng.random() < 0.3] + stages[-1:]


@pytest.mark.drawn(12)
@pytest.mark.parametrize("case", range(25))
def test_random_programs(case: int, seed: int) -> None:
    rng = random.Random(f"{seed} {case}")
    program = RandomProgram(rng)
    for _ in range(rng.randint(2, 4)):
        program.add()
    check_all_choices(program.outputs(), rng)


@pytest.mark.drawn(12)
@pytest.mark.parametrize("case", range(25))
def test_random_scales(case: int, seed: int) -> None:
    rng = random.Random(f"{seed} {case} scales")
    program = PyramidProgram(rng)
    for _ in range(rng.randint(2, 3)):
        program.add()
    check_all_choices(program.outputs(), rng)
