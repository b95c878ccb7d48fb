"""A call into arrays that are there touches no page for the first time once scratch memory is there."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Matrix, Parameter, Signal, Vector
from polymat.lang.types import Int
from polymat.runtime.settings import settings

N, M, K = (Parameter(Int, name) for name in "NMK")
Program = tuple[Any, dict[Parameter, int], dict[str, tuple[int, ...]]]


def product() -> Program:
    """Packs both operands."""
    A, B = Matrix(Double, "A", [N, K]), Matrix(Double, "B", [K, M])
    return A @ B, {N: 700, M: 900, K: 800}, {"A": (700, 800), "B": (800, 900)}


def long_filter() -> Program:
    """Transforms of blocks, with plans and spectra of a library."""
    x, h = Signal(Double, "x", N), Vector(Double, "h", [3001])
    return x.fir(h, mode="valid"), {N: 300_000}, {"x": (300_000,), "h": (3001,)}


PROGRAMS = {"product": product, "long_filter": long_filter}
THREADS = (1, 2)
OWN = pm.Options(blas="never")  # which packs operands itself, whatever is known of the machine


def pages_met(compiled: pm.Compiled, arrays: list[np.ndarray], result: np.ndarray) -> int:
    """The operating system may take pages away between two calls, so that one count alone says little."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    compiled(*arrays, out=result)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def pages_of_calls() -> Iterator[tuple[str, int, list[int]]]:
    """Pages that eleven calls of each program met, on so many threads, sorted."""
    for name, program in PROGRAMS.items():
        definition, estimates, shapes = program()
        compiled = pm.compile(definition, name=name, estimates=estimates, options=OWN)
        rng = np.random.default_rng(1)
        arrays = [rng.standard_normal(shapes[array.name]) for array in compiled.signature.inputs]
        for threads in THREADS:
            with pm.threads(threads):
                result = compiled(*arrays)
                for _ in range(2):
                    compiled(*arrays, out=result)
                yield name, threads, sorted(pages_met(compiled, arrays, result) for _ in range(11))


@pytest.fixture(scope="module")
def met() -> dict[tuple[str, int], list[int]]:
    """Those of a process of its own.

    Whether what FFTW allocates within a transform goes back to the system depends on what was done before.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "tests.test_faults"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {(name, threads): pages for name, threads, pages in json.loads(done.stdout)}


@pytest.mark.covering
@pytest.mark.skipif(settings().memory_checker, reason="the tool writes notes of its own")
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_third_call_meets_no_new_page(
    met: dict[tuple[str, int], list[int]], program: str, threads: int
) -> None:
    assert met[program, threads][5] == 0, f"pages that eleven calls met: {met[program, threads]}"


if __name__ == "__main__":
    print(json.dumps(list(pages_of_calls())))
