"""Schemes that are explained of the benchmarks' programs are taken back: the C is the same."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.problems import describe
from benchmarks.sections import SECTIONS
from benchmarks.task import Array, Task
from polymat import Options
from polymat.codegen.program import Program
from tests.fixed import NARROW, WIDE, compiled_levels, own_c, report_of

PARTS, DRAWN = 6, 1  # tests, and programs of each
SECTIONS_TRIED = (
    *("stencils", "recurrences", "images", "dsp", "fir", "recursive", "transforms", "data", "npbench"),
    *("blas2", "products", "factorisations"),
)


def without_elements(array: Array) -> Array:
    """An array of that type and shape in the memory of one element: those of all programs take a gigabyte."""
    return np.broadcast_to(array.dtype.type(0), array.shape)


@cache
def tasks() -> dict[str, Task]:
    """By name."""
    return {
        f"{section}: {case.name}": replace(
            case.task, arrays={name: without_elements(array) for name, array in case.task.arrays.items()}
        )
        for section in SECTIONS_TRIED
        for case in SECTIONS[section].cases(True)
    }


def asked_by(task: Task) -> dict[str, Any]:
    described, _ = describe(task)
    sizes = task.values.get("sizes", {})
    return {
        "outputs": [*described.outputs],
        "inputs": [*described.inputs],
        "constraints": described.constraints,
        "estimates": {size: sizes[size.name] for size in described.sizes if size.name in sizes} or None,
    }


def without_remarks(asked: dict[str, Any], options: Options) -> str:
    """The C of a program without comments, which say what a scheme has decided."""
    program = compiled_levels(**asked, options=options)["codegen"]
    assert isinstance(program, Program)
    return re.sub(r"/\*.*?\*/", "", own_c(program), flags=re.DOTALL)


@pytest.mark.parametrize("part", range(PARTS))
def test_schemes_that_are_explained_give_the_same_c(part: int, seed: int) -> None:
    """Of a few programs that the seed draws, for a machine and threads that it draws, too."""
    drawn = random.Random(f"{part} {seed}")
    for name in drawn.sample(sorted(tasks())[part::PARTS], DRAWN):
        asked = asked_by(tasks()[name]) | {"machine": drawn.choice((NARROW, WIDE))}
        threads = drawn.choice((1, 2))
        told = report_of(**asked, options=Options(threads=threads)).schemes
        assert told, f"{name}: every group says what runs"
        by_default = without_remarks(asked, Options(threads=threads))
        assert without_remarks(asked, Options(threads=threads, scheme=told)) == by_default, name
