"""Results of loops written past the caches, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from polymat.options import Options
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SMALL = replace(GENERIC, vector_bits=512, vector_registers=32, l3_bytes=64)  # everything is too large for it
LENGTHS = [0, 1, 127, 128, 129, 255, 256, 257, *range(270, 290), 515]
PAST = "_pm_past"


def compiled_map(value: Callable[[Any], Any], kind: Any, border: int = 0, **options: Any) -> pm.Compiled:
    image = pm.Image(kind, "image", [R, C])
    spans = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, border, C - 1 - border)]
    found = pm.Function(([i, j], spans), kind, "found")
    found.defn = [value(image)]
    chosen = Options(parallel_threshold=0, threads=2, **options)
    with compiling_for(SMALL):
        return pm.compile(found, inputs=[image], options=chosen, trim=border > 0)


def doubled(x: Any) -> Any:
    return 2.0 * x(i, j) + x(i, j) * x(i, j)


def blurred(x: Any) -> Any:
    return 0.1 * x(i, j - 2) + 0.2 * x(i, j - 1) - x(i, j) / 3.0 + 0.2 * x(i, j + 1) + 0.1 * x(i, j + 2)


@pytest.mark.covering
@pytest.mark.parametrize("kind", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize(("value", "border"), [(doubled, 0), (blurred, 2)])
def test_rows_of_every_length(value: Callable[[Any], Any], border: int, kind: Any) -> None:
    compiled = compiled_map(value, kind, border)
    assert PAST in compiled.source
    for columns in LENGTHS:
        array = np.random.default_rng(columns).random((5, columns)).astype(kind.dtype)
        assert_close(compiled(array), compiled.reference(array), roundings=12, magnitude=4.0)


@pytest.mark.parametrize("start", [0, 1, 7, 15])
def test_nothing_beside_the_result_is_written(start: int) -> None:
    compiled = compiled_map(doubled, pm.Float)
    array = np.random.default_rng(start).random((3, 301), dtype=np.float32)
    memory = np.full(array.size + 40, 7.0, np.float32)
    out = memory[start : start + array.size].reshape(array.shape)
    compiled(array, out=out)
    assert_close(out, compiled.reference(array), roundings=4, magnitude=4.0)
    assert (memory[:start] == 7.0).all()
    assert (memory[start + array.size :] == 7.0).all()


def test_over_its_input() -> None:
    compiled = compiled_map(doubled, pm.Double)
    for columns in LENGTHS:
        array = np.random.default_rng(columns).random((4, columns))
        wanted = compiled.reference(array)
        compiled(array, out=array)
        assert_close(array, wanted, roundings=4, magnitude=4.0)


def test_explained() -> None:
    assert "written past the caches" in str(compiled_map(doubled, pm.Float).explain())
    assert "past the caches" not in str(compiled_map(doubled, pm.Float, vector=False).explain())


def test_what_the_call_reads_again_stays_in_the_caches() -> None:
    image = pm.Image(pm.Float, "image", [R, C])
    spans = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, C - 1)]
    first, second = (pm.Function(([i, j], spans), pm.Float, name) for name in ("first", "second"))
    first.defn, second.defn = [doubled(image)], [first(R - 1 - i, j) * 0.5]
    with compiling_for(SMALL):
        compiled = pm.compile([first, second], inputs=[image], options=Options(inline=False, fuse=False))
    assert compiled.source.count(f"const int {PAST}") == 1
    array = np.random.default_rng(0).random((5, 400), dtype=np.float32)
    for one, other in zip(compiled(array), compiled.reference(array), strict=True):
        assert_close(one, other, roundings=6, magnitude=4.0)


def test_results_that_are_never_large_enough_are_not_asked_for_their_size() -> None:
    machine = replace(SMALL, l3_bytes=8 << 10)
    image = pm.Image(pm.Float, "image", [R, C])
    found = pm.Function(
        ([i, j], [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, C - 1)]), pm.Float, "found"
    )
    found.defn = [doubled(image)]
    with compiling_for(machine):
        texts = [pm.compile(found, inputs=[image], sizes={R: 64, C: c}).source for c in (128, 129)]
    assert [PAST in text for text in texts] == [False, True]  # of 32 KiB, and more
