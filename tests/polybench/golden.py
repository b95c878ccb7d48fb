"""The golden data: signatures of what PolyBench's own C prints at MINI and SMALL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.polybench.kernel import Array
from benchmarks.polybench.signature import TOLERANCE, differences, sign

GOLDEN_DATASETS = ("MINI", "SMALL")
SINGLE = 1e-5
"""The tolerance of float32, whose products may be rounded once or twice."""
_FILE = Path(__file__).parent.parent / "data" / "polybench_golden.json"


@cache
def _data() -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    with _FILE.open() as file:
        data: dict[str, dict[str, dict[str, dict[str, float]]]] = json.load(file)
    return data


def golden_signatures(name: str, dataset: str) -> dict[str, dict[str, float]]:
    """The signatures of a problem's results, by array."""
    return _data()[name][dataset]


def assert_golden(results: Mapping[str, Array], name: str, dataset: str) -> None:
    """Fail unless the results, as dumped, have the signatures on file."""
    expected = golden_signatures(name, dataset)
    assert list(results) == list(expected)
    for array, values in results.items():
        tolerance = SINGLE if values.dtype == np.float32 else TOLERANCE
        found = list(differences(sign(values), expected[array], tolerance=tolerance))
        assert not found, f"{name} {dataset} {array}: " + "; ".join(found)
