"""A sample of the forty programs in random schemes, against the interpreter: several in one library."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest

import polymat as pm
from polymat.driver import request_for
from polymat.product.scheme import Scheme
from polymat.product.schemetext import read_scheme
from polymat.runtime import toolchain
from tests.differential.randomschemes import PATIENT, TOGETHER, WAYS, failures, is_said_by, misread
from tests.differential.schememaker import Maker
from tests.differential.schemeprograms import PROGRAMS, h, k, l, r, s, w
from tests.differential.schemes import random_scheme
from tests.tolerance import assert_close

WRONG = 24


@pytest.mark.parametrize("case", range(2))
def test_random_schemes_compute_what_the_definition_says(
    case: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "_COMPILE_SECONDS", PATIENT)
    kinds = Random(seed).sample(range(len(PROGRAMS)), 2 * TOGETHER)[case::2]
    numbers = [1000 * len(PROGRAMS) * (case + 1) + kind for kind in kinds]
    assert [*failures(seed, numbers, WAYS["plain"])] == []


def test_schemes_with_something_changed_are_schemes_or_say_what_is_wrong(seed: int) -> None:
    assert [*misread(seed, range(WRONG))] == []


def test_tiles_that_are_drawn_in_tiles_are_smaller() -> None:
    for number in range(300):
        text = random_scheme(Random(number), "ij", "k", {"A": "ik", "B": "kj"}, 8)
        for dim in "ijk":
            sizes = [int(size) for size in re.findall(rf"T\({dim}, (\d+)\)", text)]
            assert sizes == sorted({*sizes}, reverse=True), text


def test_what_runs_has_the_atoms_of_a_scheme() -> None:
    scheme = read_scheme("[fuse(P), Par(i), roll(i), T(k, 1), T(i, 8), R(i), R(j), V(j, 4)]")
    assert isinstance(scheme, Scheme)
    runs = scheme.atoms
    said = ["[T(i, 8), R(i), R(j), V(j)]", "[Par(i), T(i, 8), roll(i)]", "[R(i), V(j, 8)]", "[R(k), T(i, 8)]"]
    unsaid = [
        "[back(i), T(i, 8)]",
        "[T(i, 7)]",
        "[R(j), R(i)]",
        "[R(i), R(i)]",
        "[T(i, 8), U(i, 2)]",
        "[R(i)",
    ]
    assert all(is_said_by(text, runs) for text in said)
    assert not any(is_said_by(text, runs) for text in unsaid)


def test_the_convolution_of_the_papers_runs_in_its_scheme() -> None:
    """Two sizes of blocks of 34 rows, 11 + 11 + 12, six loops around them (Tollenaere and others, section 4)."""
    float_lanes = request_for(pm.Matrix(pm.Float, "A", [4, 4]) * 1.0).machine.lanes(4)
    maker = Maker(Random(1), "paper", pm.Float, float_lanes)
    image, taps = maker.array("I", 36, 36, 5), maker.array("W", 3, 3, 5, 4 * float_lanes)
    spans, summed = {h: (0, 33), w: (0, 33), k: (0, 4 * float_lanes - 1)}, {r: (0, 2), s: (0, 2), l: (0, 4)}
    out = maker.sum("O", spans, summed, image(h + r, w + s, l) * taps(r, s, l, k))
    block = f"seq(h: 12 | 11), U(k, {2 * float_lanes}), V(k, {float_lanes})"
    scheme = f"[R(k), R(h), T(w, 2), R(s), R(r), R(w), R(l), {block}]"
    options = pm.Options(scheme={"O_paper": scheme}, threads=1, cflags=("-O1",))
    compiled = pm.compile(out, inputs=[image, taps], options=options)
    assert compiled.explain().schemes == {"O_paper": scheme}
    values = np.random.default_rng(3)
    arrays = [values.random(shape, dtype=np.float32) for shape in maker.extents]
    windows = np.lib.stride_tricks.sliding_window_view(arrays[0], (3, 3), axis=(0, 1))
    wanted = np.einsum("hwlrs,rslk->hwk", windows.astype(float), arrays[1].astype(float))
    assert_close(compiled(*arrays), wanted.astype(np.float32), roundings=50)
