"""Times of variants of contractions: what the learned ranker is trained on and judged by.

    python -m benchmarks.variantlog FILE [--programs 36] [--variants 20] [--only TEXT]

Of each program (contractions, convolutions, banks of filters, products) variants of order, tiles and loop of
one register block are compiled, compared with what the first of them computes, and timed by turns on one
thread.  A program is one line of FILE, written and synced when it is done: a later run goes on behind it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np

import polymat as pm
from benchmarks.measure import progress
from benchmarks.sections import contractions, convolutions
from benchmarks.task import Task
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.describe import stage_nest
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.product.scheme import Scheme
from polymat.product.schemevariants import scheme_figures, scheme_variants
from polymat.request import Request
from polymat.runtime.calibration import calibrated_machine

SEED = 1
SAMPLE = 0.003  # seconds of processor time that a sample takes at least
ROUNDS = 9

FAMILIES: dict[str, tuple[dict[str, int], ...]] = {
    "ab-ac-cb": tuple(
        dict(zip("abc", n, strict=True)) for n in ((384, 384, 384), (96, 1536, 768), (1200, 48, 2400))
    ),
    "ab-acd-dbc": ({"a": 96, "b": 96, "c": 48, "d": 96}, {"a": 240, "b": 24, "c": 96, "d": 72}),
    "abc-acd-db": ({"a": 48, "b": 96, "c": 48, "d": 96}, {"a": 24, "b": 24, "c": 192, "d": 240}),
    "abc-ad-bdc": ({"a": 96, "b": 48, "c": 96, "d": 48}, {"a": 192, "b": 48, "c": 24, "d": 192}),
    "abc-bda-dc": ({"a": 96, "b": 96, "c": 24, "d": 192}, {"a": 48, "b": 192, "c": 24, "d": 96}),
    "abcd-aebf-dfce": (dict.fromkeys("abcdef", 24), {"a": 48, "b": 24, "c": 24, "d": 48, "e": 16, "f": 16}),
    "abcd-aecf-fbed": (dict.fromkeys("abcdef", 24), {"a": 12, "b": 48, "c": 12, "d": 48, "e": 36, "f": 36}),
    "abcd-ea-ebcd": (
        {"a": 96, "b": 24, "c": 24, "d": 48, "e": 96},
        {"a": 24, "b": 48, "c": 24, "d": 96, "e": 48},
    ),
    "abcd-dbea-ec": (
        {"a": 48, "b": 24, "c": 48, "d": 48, "e": 48},
        {"a": 24, "b": 48, "c": 192, "d": 24, "e": 96},
    ),
    "abcd-eafb-fdec": (
        dict.fromkeys("abcdef", 24),
        {"a": 48, "b": 12, "c": 12, "d": 48, "e": 24, "f": 48},
    ),
    "abcde-efbad-cf": ({"a": 24, "b": 12, "c": 24, "d": 24, "e": 24, "f": 24},),
    "abcdef-dega-gfbc": ({"a": 12, "b": 8, "c": 16, "d": 12, "e": 12, "f": 8, "g": 24},),
    "abcdef-efgc-gdab": ({"a": 12, "b": 16, "c": 8, "d": 12, "e": 12, "f": 8, "g": 24},),
}
"""Contractions, float64, at some sizes each; what has one name is one family."""
LAYERS = {
    "3x3": ((64, 32, 48, 3, 1), (96, 96, 24, 3, 1), (192, 192, 12, 3, 1), (32, 3, 192, 3, 1)),
    "1x1": ((96, 192, 48, 1, 1), (384, 384, 24, 1, 1), (192, 768, 24, 1, 1)),
    "stride 2": ((96, 48, 96, 3, 2), (64, 3, 192, 7, 2), (192, 96, 48, 3, 2)),
    "5x5": ((64, 64, 24, 5, 1), (32, 48, 48, 5, 1)),
}
"""Convolutions, float32: output channels, input channels, height and width, filter, stride."""
BANKS = ((384, 768, 3, 8), (192, 384, 5, 16), (96, 480, 9, 8))
"""Banks of filters of one image, float64: rows, columns, the side of the windows, and how many there are."""


@dataclass(frozen=True)
class Program:
    """One program: its kind, the family whose members are held out together, its output and its arrays."""

    kind: str
    family: str
    name: str
    output: pm.Function
    sizes: Mapping[Any, int]
    arrays: Mapping[str, Any]


@dataclass
class Logged:
    """What is kept of a program: schemes, what the models say of them, and seconds of a call."""

    kind: str
    family: str
    name: str
    machine: str
    date: str
    flops: float
    schemes: list[str]
    figures: list[dict[str, Any]]
    seconds: list[float]


def programs() -> Iterator[Program]:
    """All programs, families by turns."""
    waiting = [_contractions(), _layers(), _banks()]
    while waiting:
        for each in [*waiting]:
            found = next(each, None)
            if found is None:
                waiting.remove(each)
            else:
                yield found


def _contractions() -> Iterator[Program]:
    for number in range(max(map(len, FAMILIES.values()))):
        for name, every in FAMILIES.items():
            if number < len(every):
                case = contractions.contraction_case(name, every[number])
                text = " ".join(f"{dim}{size}" for dim, size in every[number].items())
                yield _program(
                    "contraction", name, f"{name} {text}", contractions.describe(case.task), case.task
                )


def _layers() -> Iterator[Program]:
    for number in range(max(map(len, LAYERS.values()))):
        for family, every in LAYERS.items():
            if number < len(every):
                layer = every[number]
                case = convolutions.convolution_case("layer", layer)
                text = "K{} C{} H{} R{} stride {}".format(*layer)
                yield _program("convolution", family, text, convolutions.describe(case.task), case.task)


def _banks() -> Iterator[Program]:
    for rows, columns, side, count in BANKS:
        H, W, R, K = (pm.Parameter(pm.Int, name) for name in "HWRK")
        h, w, k, r, s = (pm.Variable(pm.Int, name) for name in "hwkrs")
        image = pm.Image(pm.Double, "I", [H + R - 1, W + R - 1])
        weights = pm.Image(pm.Double, "P", [R, R, K])
        domain = [pm.Interval(pm.Int, 0, size - 1) for size in (H, W, K, R, R)]
        O = pm.Reduction(([h, w, k], domain[:3]), ([h, w, k, r, s], domain), pm.Double, "O")  # noqa: E741
        O.defn = [pm.Reduce(O(h, w, k), image(h + r, w + s) * weights(r, s, k), pm.Op.Sum)]
        rng = np.random.default_rng(1)
        shapes = {"I": (rows + side - 1, columns + side - 1), "P": (side, side, count)}
        arrays = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
        sizes = {H: rows, W: columns, R: side, K: count}
        yield Program("filters", f"side {side}", f"H{rows} W{columns} R{side} K{count}", O, sizes, arrays)


def _program(kind: str, family: str, name: str, found: Any, task: Task) -> Program:
    sizes = {size: task.values["sizes"][size.name] for size in found.sizes}
    return Program(kind, family, name, found.outputs[0], sizes, task.arrays)


def logged(program: Program, count: int) -> Logged:
    """Compile, compare and time some variants of a program."""
    stage, schemes, figures, machine, flops = _variants(program, count)
    calls: list[Callable[[], Any]] = []
    first: Any = None
    for scheme in schemes:
        options = pm.Options(scheme={stage: str(scheme)}, threads=1)
        compiled = pm.compile(program.output, sizes=program.sizes, options=options)
        result = compiled(**program.arrays)
        first = result if first is None else first
        if not np.allclose(result, first, rtol=1e-4 if result.dtype == np.float32 else 1e-9, atol=1e-3):
            raise SystemExit(f"{program.name}: {scheme} computes something else")
        calls.append(lambda compiled=compiled, out=result: compiled(**program.arrays, out=out))  # type: ignore[misc]
        progress(".")
    seconds = timed(calls)
    date = time.strftime("%Y-%m-%d")
    texts = [str(scheme) for scheme in schemes]
    return Logged(
        program.kind, program.family, program.name, machine.name, date, flops, texts, figures, seconds
    )


def _variants(program: Program, count: int) -> tuple[str, list[Scheme], list[dict[str, Any]], Machine, float]:
    """The stage, the model's scheme and some of its variants, their figures, the machine, operations."""
    asked = request_for(
        program.output, estimates=program.sizes, options=pm.Options(blocks="model", threads=1)
    )
    pipeline, plan = planned(asked)
    (name,) = plan.group.stages
    nest = stage_nest(pipeline.stage(name), assumed_sizes(pipeline, asked.estimates))
    extents = {dim: nest.extents[dim] for dim in plan.contraction.bounds}
    first, *others = scheme_variants(plan.scheme, plan.contraction, extents)
    drawn = Random(f"{SEED} {program.name}").sample(others, min(count - 1, len(others)))
    schemes = [first, *drawn]
    figures = [asdict(scheme_figures(nest, plan.contraction, each.own, asked.machine)) for each in schemes]
    return name, schemes, figures, asked.machine, nest.flops


def planned(asked: Request) -> tuple[Pipeline, SchemePlan]:
    """The pipeline of a request, and the plan of its first stage in the loops of a scheme."""
    schedule = next(level for _, level in levels(asked) if isinstance(level, Schedule))
    plan = next(each for each in schedule.plans if isinstance(each, SchemePlan))
    return schedule.grouping.pipeline, plan


def timed(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Processor seconds of a call of each: the median ratio to the first one, which runs before it.

    What else the processor does changes both alike: least times of each would be of different moments.
    """
    first = calls[0]
    repeats = [max(1, int(SAMPLE / _seconds(call, 1))) for call in calls]
    known: list[float] = []
    ratios: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for number, call in enumerate(calls):
            known.append(_seconds(first, repeats[0]))
            ratios[number].append(_seconds(call, repeats[number]) / known[-1])
    whole = median(known)
    return [whole * median(each) if number else whole for number, each in enumerate(ratios)]


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    begin = time.thread_time()
    for _ in range(repeats):
        call()
    return (time.thread_time() - begin) / repeats


def read_log(path: Path) -> list[Logged]:
    """The programs of a log."""
    if not path.exists():
        return []
    return [Logged(**json.loads(line)) for line in path.read_text().splitlines()]


def main(argv: Sequence[str] | None = None) -> int:
    """Log what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--programs", type=int, default=1000, help="no more than so many")
    parser.add_argument("--variants", type=int, default=20, help="of each program")
    parser.add_argument("--only", default="", help="programs whose name contains this text")
    asked = parser.parse_args(argv)
    kept = read_log(asked.file)
    others = {each.machine for each in kept} - {calibrated_machine().name}
    if others:
        raise SystemExit(f"{asked.file} is of {', '.join(others)}: name another file")
    there = {each.name for each in kept}
    for program in islice(programs(), asked.programs):
        if program.name in there or asked.only not in program.name:
            continue
        progress(f"{program.kind} {program.name} ")
        try:
            found = logged(program, asked.variants)
        except pm.OptionError as error:
            progress(f"left out: {error}\n")
            continue
        with asked.file.open("a") as log:
            log.write(json.dumps(asdict(found)) + "\n")
            log.flush()
            os.fsync(log.fileno())
        best, worst = min(found.seconds), max(found.seconds)
        rates = [found.flops / each / 1e9 for each in (best, found.seconds[0], worst)]
        progress(" {:.1f} best, {:.1f} of the model, {:.1f} worst\n".format(*rates))
    return 0


if __name__ == "__main__":
    sys.exit(main())
