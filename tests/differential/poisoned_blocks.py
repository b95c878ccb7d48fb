"""Steps in segments, sums in blocks, lone points and rows as lanes in storage full of NaN.

`python -m tests.differential.poisoned_blocks`, with the sanitizers loaded first: a program of each kind for a
seed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.differential.poisoned_steps import POISONED
from tests.differential.sanitized import FLAGS

LENGTHS = (0, 1, 7, 61, 100, 211, 499)


def segments(seed: int) -> None:
    """Random systems of one dimension, around the least lines that go in segments."""
    import polymat as pm
    from polymat.decide import segmentedsteps
    from tests.decide.test_segmentedsteps import SIZES, drawn

    rng = np.random.default_rng([seed, 97])
    dtype, single = (pm.Float, True) if seed % 2 else (pm.Double, False)
    threads, threshold = (2, 0) if seed % 3 else (1, None)
    with patch.multiple(segmentedsteps, CLEARLY=1e9, FEWEST_STEPS=2, LEAST_ROWS=1):
        options = pm.Options(cflags=FLAGS, threads=threads, parallel_threshold=threshold)
        run = pm.compile(drawn(rng, dtype), name="segments", options=options, estimates=SIZES)
    assert "_pm_segments_s" in run.source
    for points in LENGTHS:
        arrays = [(rng.random(points) - 0.5).astype("f4" if single else "f8") for _ in range(3)]
        if points > 100:
            arrays[0][points // 3] = np.nan
        for steps in (0, 1, 2, 5, 8):
            with np.errstate(all="ignore"):
                expected = run.reference(*arrays, T=steps)
            scale = float(np.nanmax(np.abs(expected), initial=1.0)) * (2e-6 if single else 1e-13)
            np.testing.assert_allclose(run(*arrays, T=steps), expected, atol=scale, equal_nan=True)


def sums(seed: int) -> None:
    """Random tables in blocks of one to four steps, of elements some of which are no numbers."""
    import polymat as pm
    from polymat.rewrite import sumblocks
    from tests.rewrite.test_random_sumblocks import drawn

    side = 1 + seed % 4
    with patch.multiple(sumblocks, STEPS=side, SIDE=side, CLEARLY=1e9, FEWEST=1):
        output, rng = drawn(seed)
        options = pm.Options(threads=1 + seed % 2, cflags=FLAGS)
        run = pm.compile(output, name="sums", options=options)
    for size in (0, 1, 2, 5, 7, 11):
        given = rng.random((size, size)) - 0.5
        for _ in range(2):
            with np.errstate(all="ignore"):
                expected = run.reference(given)
            np.testing.assert_allclose(run(given), expected, rtol=2e-5, atol=1e-5, equal_nan=True)
            given[size // 2 :, size // 3 : size // 3 + 1] = np.nan


def points(seed: int) -> None:
    """Points that need no others, some of which leave off."""
    from polymat import Double, Long
    from tests.decide import test_lonepoints as lone

    kinds: list[tuple[Callable[..., Any], Any]] = [
        (lone.grows, Long),
        (lone.turns, Double),
        (lone.divides, Long),
        (lone.waits, Long),
    ]
    step, kind = kinds[seed % len(kinds)]
    rank = 1 + seed % 3
    run = lone.compiled(step, kind, rank, threads=1 + seed % 3, parallel_threshold=0, cflags=FLAGS)
    assert lone.POINTS in run.source
    lone.check(run, kind, rank)


def lanes(seed: int) -> None:
    """Rows of bands as lanes of one or two vectors, some of whose elements are no numbers."""
    import polymat as pm
    from tests.decide import test_lanedrows as rows

    kind, wide = ("cholesky", "ldlt", "scaled")[seed % 3], seed % 2 == 0
    dtype = pm.Float if seed % 4 > 1 else pm.Double
    options = pm.Options(threads=1, cflags=FLAGS, skip=("sums",))
    estimates = {rows.N: 4000, rows.K: 600 if wide else 20}
    run = pm.compile(rows.banded(kind, dtype), name="lanes", options=options, estimates=estimates)
    assert rows.LANED in run.source
    rng = np.random.default_rng([seed, 5])
    for count, width in ((0, 3), (1, 0), (8, 2), (19, 0), (40, 7), (33, 12), (50, 60)):
        given = rows.bands(count, width, dtype.dtype)
        for _ in range(2):
            with np.errstate(all="ignore"):
                expected = run.reference(given)
            np.testing.assert_allclose(run(given), expected, rtol=1e-3, atol=1e-4, equal_nan=True)
            if count:
                given[rng.integers(count), rng.integers(width + 1)] = np.nan


KINDS = {"segments": segments, "sums": sums, "points": points, "lanes": lanes}


def main() -> int:
    """Compile and compare; a wrong result or access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("kinds", nargs="*")
    asked = parser.parse_args()
    from polymat.codegen.c import kernels
    from tests.codegen.sanitized_scratch import write_kernels

    with tempfile.TemporaryDirectory() as folder, patch.object(kernels, "FOLDER", Path(folder)):
        write_kernels(Path(folder), {"workspace": POISONED})
        for kind in asked.kinds or KINDS:
            for seed in range(asked.seed, asked.seed + asked.count):
                KINDS[kind](seed)
            print(kind, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
