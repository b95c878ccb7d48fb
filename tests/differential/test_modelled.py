"""Contractions in the schemes that the model of data movement chooses, against the interpreter."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import polymat as pm
from polymat import Double
from polymat.product.scheme import Scheme, SchemeLoop
from polymat.product.schemetext import read_scheme
from tests.differential.randomschemes import extent
from tests.differential.schememaker import Maker
from tests.differential.schemeprograms import PROGRAMS, K, L, M, N
from tests.tolerance import assert_close

ODD = [(1, 1, 1, 1), (0, 3, 2, 5), (5, 4, 0, 2), (13, 17, 11, 3)]


@pytest.mark.parametrize("case", range(2))
def test_what_the_model_chooses_computes_what_the_definition_says(case: int, seed: int) -> None:
    rng, dtype = Random(f"{seed} {case}"), (Double, pm.Float)[case]
    found = [make(Maker(rng, f"out{number}", dtype, 4)) for number, make in enumerate(PROGRAMS[:7])]
    outputs = [out for each in found for out in each.outputs]
    estimates = {M: rng.choice([24, 70, 900]), N: rng.choice([40, 700]), K: rng.choice([12, 300]), L: 5}
    options = pm.Options(blocks="model", threads=1 + case, share=False, cflags=("-O1",))
    inputs = [array for each in found for array in each.inputs]
    compiled = pm.compile(
        outputs, name=f"modelled{case}", inputs=inputs, options=options, estimates=estimates
    )
    groups = compiled.explain().groups
    assert {group.kind for group in groups} == {"scheme"}
    tile = rng.choice(_tiles(groups[0].reason))
    values = np.random.default_rng(case)
    for m, n, k, l in [*ODD, *((tile + by, tile + by, tile + by, 2) for by in (-1, 0, 1))]:  # noqa: E741
        sizes = dict(zip((M, N, K, L), (m, n, k, l), strict=True))
        shapes = [[extent(form, sizes) for form in shape] for each in found for shape in each.extents]
        arrays = [values.random(shape).astype(dtype.dtype) for shape in shapes]
        every = zip(outputs, compiled(*arrays), compiled.reference(*arrays), strict=True)
        for out, got, wanted in every:
            assert_close(got, wanted, roundings=2 * k * l + 3, name=f"{out.name} {m, n, k, l}")


def _tiles(reason: str) -> list[int]:
    """The sizes of the tiles and blocks of the scheme in a reason, as far as they make small arrays."""
    scheme = read_scheme(reason.split("], ")[0] + "]")
    assert isinstance(scheme, Scheme)
    return [atom.size for atom in scheme.atoms if isinstance(atom, SchemeLoop) and 1 < atom.size < 50] or [8]
