"""What `benchmarks.audit` audits: tasks of the sections, contractions, and random programs."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import Case
from benchmarks.peers.audits import RANDOM
from benchmarks.schemes import extents_of
from benchmarks.section import Section
from benchmarks.sections import SECTIONS
from benchmarks.sections.contractions import CONTRACTIONS, QUICK, contraction_case
from benchmarks.task import Task

SECTIONS_AUDITED = (
    *("blas2", "products", "cubes", "sizes", "crossover", "layer", "stencils", "channels", "networks"),
    *("convolutions", "fir", "dsp", "recursive", "transforms", "rows"),
)
LEFT_OUT = "EXTRALARGE"
FLOPS, QUICK_FLOPS = 8e8, 1e8  # of a contraction, about
SEED, DRAWN, QUICK_DRAWN = 11, 60, 4  # of random programs: seed and number


def suite(quick: bool, only: str = "") -> Iterator[tuple[str, Task]]:
    """The tasks whose names, with their sections, contain a text; made one by one, since some are large."""
    return ((name, task) for name, task in _all(quick) if only in name)


def _all(quick: bool) -> Iterator[tuple[str, Task]]:
    for name in SECTIONS_AUDITED:
        for case in _ends(SECTIONS[name]) if quick else SECTIONS[name].cases(False):
            if case.group != LEFT_OUT:
                yield f"{name}: {case.name}", case.task
    for name in QUICK[:1] if quick else CONTRACTIONS:
        extents = extents_of(name, QUICK_FLOPS if quick else FLOPS)
        yield f"contractions: {name}", contraction_case(name, extents).task
    for index in range(QUICK_DRAWN if quick else DRAWN):
        yield f"random: {SEED}/{index}", Task(RANDOM, {}, {"seed": SEED, "index": index})


def _ends(section: Section) -> list[Case]:
    """The first and the last case of those for an orientation."""
    cases = [*section.cases(True)]
    return [cases[0], cases[-1]]
