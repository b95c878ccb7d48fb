"""Groups that are alike but for names are priced once: what that is told by, and that prices are the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat import Case, Condition, Double, Float, Function, Int, Interval
from polymat.decide.decider import Decider
from polymat.graph.banded import bandable, banded
from polymat.graph.build import build
from polymat.graph.circlesteps import circle_steps, recurrences
from polymat.graph.pipeline import Pipeline
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import ZEN3
from polymat.memo import with_memo
from polymat.options import Options
from polymat.runtime.host import InstalledLibraries

N = pm.Parameter(Int, "N")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
IMAGE = pm.Image(Double, "image", [N, N])
WHOLE = [Interval(Int, 0, N - 1)] * 2
INNER = Condition(i, ">=", 1) & Condition(i, "<=", N - 2) & Condition(j, ">=", 1) & Condition(j, "<=", N - 2)


def blur(name: str, of: Any, **more: Any) -> Function:
    found = Function(([i, j], WHOLE), more.get("dtype", Double), name, default=of(i, j))
    near = of(i - 1, j) + of(i + 1, j) + of(i, j - 1) + of(i, j + more.get("right", 1))
    found.defn = [Case(INNER, near / 4)]
    return found


def chain(length: int) -> list[Function]:
    found: list[Function] = []
    for number in range(length):
        found.append(blur(f"b{number}", found[-1] if found else IMAGE))
    return found


def decider_of(pipeline: Pipeline, **options: Any) -> Decider:
    return Decider(pipeline, replace(ZEN3, cores=2), {}, Options(**options), InstalledLibraries())


def consecutive(decider: Decider) -> list[tuple[str, ...]]:
    names, count = decider.dag.names, len(decider.dag.names)
    return [names[low:high] for low in range(count) for high in range(low + 1, count + 1)]


@with_memo
def prices(decider: Decider) -> Iterator[list[float]]:
    """What groups cost, and what they cost by themselves."""
    groups = consecutive(decider)
    yield [decider.cost(stages) for stages in groups]
    yield [decider._best(stages).cost for stages in groups]


def compare_prices(decider: Decider) -> int:
    """See that groups cost what they are priced at by themselves; how many needed no price of their own."""
    found = prices(decider)
    costs, priced = next(found), len(decider.plans)
    assert costs == next(found)
    return len(costs) - priced


def test_groups_of_a_chain_of_copies_are_priced_by_their_length() -> None:
    decider = decider_of(build([chain(6)[-1]], inputs=[IMAGE]))
    assert decider.alike.first(("b1", "b2")) == ("b1", "b2")
    assert decider.alike.first(("b2", "b3")) == ("b1", "b2")
    assert decider.alike.first(("b4", "b5")) == ("b4", "b5")  # which has the output in it
    assert compare_prices(decider) == 21 - 11


def test_what_tells_groups_apart() -> None:
    """Other distances, types, arrays of other sizes, outputs, and who reads their stages."""
    a = chain(4)
    wide, narrow = blur("wide", a[1], right=0), blur("narrow", a[1], dtype=Float)
    small = Function(([i, j], [Interval(Int, 0, N - 2)] * 2), Double, "small")
    small.defn = [a[0](i, j)]
    of_small = Function(([i, j], [Interval(Int, 0, N - 2)] * 2), Double, "of_small")
    of_small.defn = [small(i, j)]
    of_large = Function(([i, j], [Interval(Int, 0, N - 2)] * 2), Double, "of_large")
    of_large.defn = [a[0](i, j)]
    outputs = [a[3], wide, narrow, of_small, of_large]
    decider = decider_of(build(outputs, inputs=[IMAGE]))
    first = {name: decider.alike.first((name,)) for name in decider.dag.names}
    alone = {name: (name,) for name in decider.dag.names}
    assert first == {**alone, "b1": ("b0",), "b2": ("b0",)}
    assert decider.alike.first(("b1", "b2")) == ("b1", "b2")
    assert decider.alike.first(("b0", "b1")) == ("b1", "b2")
    assert decider.alike.first(("b2", "b3")) == ("b2", "b3")
    compare_prices(decider)


def test_why_a_group_is_refused_says_of_which_group_that_is() -> None:
    """Each point reads the first row and the last column of the stage before."""
    made: list[Any] = [IMAGE]
    for place in range(4):
        stage = Function(([i, j], WHOLE), Double, f"r{place}")
        stage.defn = [made[-1](0, j) + made[-1](i, N - 1)]
        made.append(stage)
    decider = decider_of(build([made[-1]], inputs=[IMAGE]))
    told = {each.stages: each.terms for each in decider.schedule(decider.grouping()).considered}
    first, later = told["r0", "r1"], told["r1", "r2"]
    assert first.startswith("refused: ")
    assert "r0" in first
    assert later == f"{first} (of r0 + r1, which it is like)"


@pytest.mark.parametrize(
    ("kernel", "size"), [("heat-3d", 2), ("jacobi-2d", 3), ("jacobi-1d", 4), ("fdtd-2d", 4)]
)
def test_bands_of_steps_cost_what_they_cost_one_by_one(kernel: str, size: int) -> None:
    described = next(iter(find_kernel(kernel).builds.values()))()
    pipeline = build(described.outputs, inputs=described.inputs)
    steps = circle_steps(pipeline, next(iter(recurrences(pipeline))))
    assert steps is not None
    chosen = bandable(pipeline, steps)
    assert chosen is not None
    sections = in_sections(banded(pipeline, chosen, size))
    assert isinstance(sections, Stepwise)
    levels = [each.level for each in sections.sections if isinstance(each.level, Pipeline)]
    band = max(levels, key=lambda level: len(level.stages))
    assert len(band.stages) == size * len(steps.members)
    assert compare_prices(decider_of(band)) > 0


@pytest.mark.drawn(5)
@pytest.mark.parametrize("number", range(12))
def test_random_chains(number: int, seed: int) -> None:
    """Of stages that read one or two of those before, some of them outputs, in drawn options."""
    rng = random.Random(f"{seed} {number}")
    made: list[Any] = [IMAGE]
    for place in range(rng.randint(4, 7)):
        stage = blur(f"s{place}", made[-1], right=rng.choice((1, 1, 0)))
        if rng.random() < 0.4:
            further = rng.choice(made)
            stage = Function(([i, j], WHOLE), Double, f"s{place}", default=1.0)
            stage.defn = [Case(INNER, made[-1](i, j - 1) * 2.0 + further(i, j))]
        made.append(stage)
    outputs = [made[-1], *(stage for stage in made[1:-1] if rng.random() < 0.2)]
    options = {"vector": rng.random() < 0.8, "rolling": rng.random() < 0.5, "inline": False}
    compare_prices(decider_of(build(outputs, inputs=[IMAGE]), **options))
