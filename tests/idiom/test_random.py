"""Random sums near BLAS's routines: the normal form, and every call found, against the interpreter."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from polymat.graph.product import product_of_group
from polymat.idiom.find import idiom_of
from tests.graph.products import evaluate
from tests.idiom.carry_out import carry_out
from tests.idiom.carry_out_signals import filtered
from tests.idiom.random_sums import RandomSum
from tests.idiom.recognise import SCALARS, pipeline, values_of
from tests.tolerance import assert_close

BATCH = 40
SIZES = ((1, 1, 1, 1), (3, 2, 4, 2), (5, 4, 2, 3))


@pytest.mark.parametrize("number", range(4))
def test_random_sums(seed: int, number: int) -> None:
    found: Counter[str] = Counter()
    for index in range(number * BATCH, (number + 1) * BATCH):
        found += _check(f"{seed} {index}")
    assert found["product"] > BATCH // 2
    assert found["idiom"] > BATCH // 8


def _check(word: str) -> Counter[str]:
    """Compare one random sum at several sizes; how much of it was recognised."""
    built = pipeline(RandomSum(random.Random(word)).output())
    names = [stage.name for stage in built.stages]
    product = product_of_group(built.stages, built.context)
    found = idiom_of(names, built)
    for sizes in SIZES:
        params = dict(zip("MNKL", sizes, strict=True)) | SCALARS
        values = values_of(built, params)
        given = {name: array for name, array in values.items() if name not in names}
        results: list[Any] = []
        if product is not None:
            results.append(evaluate(product, given, params)[0])
        if found.idiom is not None:
            results += [carry_out(found.idiom, built, values, params, cut) for cut in (0, 2)]
        if found.filter is not None:
            results.append(filtered(found.filter, values, params))
        for result in results:
            expected = values[names[-1]]
            magnitude = 1e3 * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            assert_close(result, expected, roundings=500, magnitude=magnitude, name=f"{word}: {found}")
    return Counter({"product": int(product is not None), "idiom": int(found.idiom is not None)})
