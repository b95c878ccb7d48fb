"""Filters compute in vectors that registers hold: of wider ones gcc keeps every value in memory."""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from polymat.codegen.c.needs import Need
from polymat.codegen.prelude import prelude
from polymat.codegen.signals.filterblocks import FilterShape
from polymat.codegen.signals.recursiveblocks import RecursiveShape
from polymat.machine.known import GENERIC, HASWELL, ZEN4
from polymat.machine.model import Machine
from polymat.tilesize.filterblock import filter_block

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or shutil.which("gcc") is None,
    reason="for gcc on x86-64",
)
# Whether gcc has instructions for the vectors of a text is what it is asked here.
COMMAND = (
    *("gcc", "-std=gnu11", "-O2", "-fopenmp", "-fkeep-static-functions", "-c", "-o", "/dev/null"),
    *("-Wvector-operation-performance", "-Werror", "-Wno-unused-function", "-Wno-psabi"),
)
SIZES = {"f32": 4, "f64": 8}
MACHINES = {"x86-64": replace(GENERIC, vector_bits=128), "x86-64-v3": HASWELL, "x86-64-v4": ZEN4}


def complaints(need: Need, target: str, folder: Path) -> str:
    """What gcc says of the vectors in a need's text."""
    source = folder / "vectors.c"
    source.write_text(prelude(frozenset({need})))
    ran = subprocess.run(
        [*COMMAND, f"-march={target}", str(source)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode == 0) == (ran.stderr == ""), ran.stderr
    return ran.stderr


def filters(machine: Machine, suffix: str) -> tuple[FilterShape, RecursiveShape]:
    """Filters of both kinds as they are computed on a machine."""
    block = filter_block(machine, SIZES[suffix])
    return (
        FilterShape(suffix, block.lanes, block.rows, block.taps, block.width),
        RecursiveShape(suffix, block.lanes, (0, 1, 2), (1, 2), block.width),
    )


@pytest.mark.covering
@pytest.mark.parametrize("suffix", SIZES)
@pytest.mark.parametrize("target", MACHINES)
def test_there_are_instructions_for_all_vectors(target: str, suffix: str, tmp_path: Path) -> None:
    for need in filters(MACHINES[target], suffix):
        assert complaints(need, target, tmp_path) == ""


def test_vectors_that_are_too_wide_are_noticed(tmp_path: Path) -> None:
    for need in filters(HASWELL, "f64"):
        assert need.width == 4
        assert "piecewise" in complaints(replace(need, width=8), "x86-64-v3", tmp_path)
