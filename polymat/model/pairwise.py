"""The learned ranker of variants: a network that compares two of them by what the models say of both.

PolyDL, section 4.2.2: the working sets of two variants by level of memory, each as a share of all of both, go
through hidden layers of 64, 32, 16 and 8 neurons (relu, relu, softsign, relu) to two outputs (softmax).
Where one is above a threshold its variant has won; every variant plays every other one, and who wins most
comes first.  Beside the working sets the inputs are here, as shares likewise, the bytes that move out of each
level and those that are copied.  The weights are those of `ranker.json`, which
`benchmarks/rankertrain.py` writes beside what they were trained on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass

HIDDEN = (64, 32, 16, 8)
SOFTSIGN = 2  # the number of the hidden layer that has it
THRESHOLD = 0.6  # of an output, above which its variant has won
WEIGHTS = Path(__file__).with_name("ranker.json")
FORMAT = 1

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """Figures of a variant by the models, in bytes.

    sums: working sets by the level of memory that serves them.  moved: out of each level.  copied: elements
    that copies write, as often as they do.
    """

    sums: Mapping[str, float]
    moved: Mapping[str, float]
    copied: float


@dataclass(frozen=True, slots=True, eq=False)
class Ranker:
    """A trained network.

    levels: of memory whose figures it reads, nearest first.  layers: weights and biases, inputs as rows.
    made: how, in words.
    """

    levels: tuple[str, ...]
    layers: tuple[tuple[Floats, Floats], ...]
    made: Mapping[str, str]

    def fits(self, variants: Sequence[VariantFigures]) -> bool:
        """Whether these are figures like those that it was trained on."""
        return all(tuple(each.sums) == tuple(each.moved) == self.levels for each in variants)

    def wins(self, variants: Sequence[VariantFigures]) -> list[int]:
        """How often each variant wins against the others."""
        figures, count = figure_rows(variants, self.levels), len(variants)
        first, second = np.nonzero(~np.eye(count, dtype=bool))
        shares = softmax(self.outputs(pair_features(figures[first], figures[second])))
        won, lost = (shares > THRESHOLD).T
        scores = np.bincount(first[won], minlength=count) + np.bincount(second[lost], minlength=count)
        return [int(each) for each in scores]

    def outputs(self, inputs: Floats) -> Floats:
        """The two outputs before the softmax, a row for each row of inputs."""
        values = inputs
        for number, (weights, bias) in enumerate(self.layers):
            values = activated(number, values @ weights + bias)
        return values


def activated(number: int, values: Floats) -> Floats:
    """The values behind a layer: of hidden ones relu, relu, softsign and relu; the outputs as they are."""
    if number == len(HIDDEN):
        return values
    if number == SOFTSIGN:
        return np.asarray(values / (1.0 + np.abs(values)))
    return np.maximum(values, 0.0)


def softmax(outputs: Floats) -> Floats:
    """Rows of positive numbers whose sum is 1."""
    raised = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def figure_rows(variants: Sequence[VariantFigures], levels: Sequence[str]) -> Floats:
    """The figures of variants as rows: working sets, bytes that move, bytes that are copied."""
    rows = [
        [*(each.sums[level] for level in levels), *(each.moved[level] for level in levels), each.copied]
        for each in variants
    ]
    return np.array(rows, dtype=float).reshape(len(rows), 2 * len(levels) + 1)


def pair_features(first: Floats, second: Floats) -> Floats:
    """The inputs for pairs of variants, rows of their figures: shares of what both have of each kind."""
    levels = (first.shape[1] - 1) // 2
    found = []
    for kind in (slice(0, levels), slice(levels, 2 * levels), slice(2 * levels, None)):
        both = np.hstack([first[:, kind], second[:, kind]])
        total = both.sum(axis=1, keepdims=True)
        found.append(both / np.where(total > 0.0, total, 1.0))
    return np.hstack(found)


# A file of the package, which stays as it is while a process runs.
@cache
def shipped_ranker(path: Path = WEIGHTS) -> Ranker | None:
    """The network of a file; None where it is not there or is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        layers = tuple(
            (np.array(each["weights"], dtype=float), np.array(each["bias"], dtype=float))
            for each in found["layers"]
        )
        levels = tuple(map(str, found["levels"]))
        made = {str(name): str(text) for name, text in found["made"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    widths = (2 * (2 * len(levels) + 1), *HIDDEN, 2)
    shapes = [*pairwise(widths)]
    fits = [weights.shape for weights, _ in layers] == shapes and all(
        bias.shape == weights.shape[1:] and bool(np.isfinite(weights).all() and np.isfinite(bias).all())
        for weights, bias in layers
    )
    return Ranker(levels, layers, made) if fits and found.get("format") == FORMAT else None


def learned_order(
    variants: Sequence[VariantFigures], costs: Sequence[float], ranker: Ranker | None
) -> list[int]:
    """Numbers of variants, the best first: by wins, then by cost; by cost alone without a ranker for them.

    costs: by equation 1.
    """
    numbers = range(len(variants))
    if ranker is None or not ranker.fits(variants):
        return sorted(numbers, key=lambda number: costs[number])
    wins = ranker.wins(variants)
    return sorted(numbers, key=lambda number: (-wins[number], costs[number]))
