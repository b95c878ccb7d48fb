"""Trains the learned ranker of variants on a log, and says how good its choices are on other programs.

    python -m benchmarks.rankertrain LOG [--output polymat/model/ranker.json] [--folds 4] [--seed N]
    python -m benchmarks.rankertrain LOG --working-sets [--folds 4] [--seed N]

LOG: of `benchmarks.variantlog`.  Families of programs are held out by turns, one fold at a time: a network is
trained on all pairs of variants of each other program that differ by more than NEAR, and judged on those held
out as PolyDL does: the best time as a share of that of the first choice, and of the best of the first five,
beside the choices of the equation, of the model of data movement, of fewest bytes and fewest copies, and of
chance.  What is written is trained on all programs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.report import geometric_mean
from benchmarks.variantlog import Logged, read_log
from polymat.model.pairwise import (
    FORMAT,
    HIDDEN,
    SOFTSIGN,
    Ranker,
    VariantFigures,
    activated,
    figure_rows,
    learned_order,
    pair_features,
    softmax,
)
from polymat.model.workingset import weighed_sums
from polymat.runtime.calibration import calibrated_machine

NEAR = 1.03  # times as long: pairs that differ by less are no examples
LEVELS = ("L1", "L2", "L3", "memory")
STEPS, BATCH, RATE = 1500, 128, 2e-3
DECAY = 1e-3  # of the weights, a step

Floats = npt.NDArray[np.float64]
Shares = tuple[float, float, float]
"""The best time as a share of that of the first choice, of the best of five, of the worst first choice."""


def examples(programs: Sequence[Logged]) -> tuple[Floats, Floats, Floats]:
    """Pairs in both orders, 1 where the first is quicker, and a weight: programs count alike."""
    inputs, quicker, weights = [], [], []
    for each in programs:
        rows = figure_rows(figures_of(each), LEVELS)
        pairs = [
            (a, b)
            for a, b in combinations(range(len(rows)), 2)
            if not 1 / NEAR < each.seconds[a] / each.seconds[b] < NEAR
            and not np.array_equal(rows[a], rows[b])
        ]
        for a, b in [*pairs, *((b, a) for a, b in pairs)]:
            inputs.append(pair_features(rows[a : a + 1], rows[b : b + 1])[0])
            quicker.append(float(each.seconds[a] < each.seconds[b]))
            weights.append(1.0 / len(pairs))
    found = np.array(weights)
    return np.array(inputs), np.array(quicker), found / found.mean()


def trained(programs: Sequence[Logged], seed: int) -> tuple[Ranker, float]:
    """A network, by Adam on the cross-entropy of batches, and its mean loss over all examples."""
    inputs, quicker, weights = examples(programs)
    rng = np.random.default_rng(seed)
    widths = (inputs.shape[1], *HIDDEN, 2)
    values = []
    for rows, columns in pairwise(widths):
        values += [rng.standard_normal((rows, columns)) * np.sqrt(2.0 / rows), np.zeros(columns)]
    moments = [(np.zeros_like(value), np.zeros_like(value)) for value in values]
    for step in range(1, STEPS + 1):
        at = rng.integers(len(inputs), size=BATCH)
        for value, slope, (mean, square) in zip(
            values, slopes(values, inputs[at], quicker[at], weights[at]), moments, strict=True
        ):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            rate = RATE * min(1.0, 2.0 * (1.0 - step / STEPS))
            value -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            value -= rate * DECAY * value if value.ndim == 2 else 0.0
    ranker = Ranker(LEVELS, tuple(zip(values[::2], values[1::2], strict=True)), {})
    shares = softmax(ranker.outputs(inputs))
    right = np.where(quicker > 0, shares[:, 0], shares[:, 1])
    return ranker, float(np.average(-np.log(np.maximum(right, 1e-12)), weights=weights))


def slopes(values: Sequence[Floats], inputs: Floats, quicker: Floats, weights: Floats) -> list[Floats]:
    """Derivatives of the mean loss of some examples by every weight and bias."""
    layers = list(zip(values[::2], values[1::2], strict=True))
    reached, before = [inputs], []
    for number, (matrix, bias) in enumerate(layers):
        before.append(reached[-1] @ matrix + bias)
        reached.append(activated(number, before[-1]))
    wanted = np.stack([quicker, 1.0 - quicker], axis=1)
    slope = (softmax(reached[-1]) - wanted) * weights[:, None] / len(inputs)
    found: list[Floats] = []
    for number in range(len(layers) - 1, -1, -1):
        if number < len(HIDDEN):
            own = before[number]
            slope = slope * (1.0 / (1.0 + np.abs(own)) ** 2 if number == SOFTSIGN else (own > 0))
        found = [reached[number].T @ slope, slope.sum(axis=0), *found]
        slope = slope @ layers[number][0].T
    return found


def shares_of_best(program: Logged, order: Sequence[int]) -> tuple[float, float]:
    """The best time as a share of that of the first choice, and of the best of the first five."""
    best = min(program.seconds)
    return best / program.seconds[order[0]], best / min(program.seconds[number] for number in order[:5])


def shares_of_chance(program: Logged) -> tuple[float, float]:
    """What choices at random have on average."""
    best, ordered = min(program.seconds), sorted(program.seconds)
    count = len(ordered)
    kept = min(5, count)
    # The quickest of five drawn is the one at a place in the order where the others are behind it.
    weights = [comb(count - place - 1, kept - 1) / comb(count, kept) for place in range(count)]
    return (
        float(np.mean([best / each for each in ordered])),
        sum(weight * best / each for weight, each in zip(weights, ordered, strict=True)),
    )


def shares_of_ways(program: Logged, ranker: Ranker) -> dict[str, Shares]:
    """The shares of the best of a program by way to choose."""
    figures, machine = figures_of(program), calibrated_machine()
    costs = [weighed_sums(each.sums, machine) for each in figures]
    orders: dict[str, Sequence[int]] = {
        "learned": learned_order(figures, costs, ranker),
        "equation 1": learned_order(figures, costs, None),
        "model of data movement": [0],
    }
    if any(each.moved[LEVELS[0]] for each in figures):
        orders["fewest bytes out of the first level"] = _by([each.moved[LEVELS[0]] for each in figures])
        orders["fewest copied elements"] = _by([each.copied for each in figures])
    found: dict[str, Shares] = {}
    for name, order in orders.items():
        first, five = shares_of_best(program, order)
        found[name] = first, five, first
    worst = min(program.seconds) / max(program.seconds)
    return {**found, "random": (*shares_of_chance(program), worst)}


def _by(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda number: values[number])


def folds(programs: Sequence[Logged], count: int, seed: int) -> list[list[Logged]]:
    """The programs in so many parts: whole families."""
    families = sorted({(each.kind, each.family) for each in programs})
    np.random.default_rng(seed).shuffle(families)
    parts = [{tuple(each) for each in families[number::count]} for number in range(count)]
    return [[each for each in programs if (each.kind, each.family) in part] for part in parts]


def validated(programs: Sequence[Logged], count: int, seed: int) -> list[dict[str, Shares]]:
    """How good choices are for each program by a network that was trained without its family."""
    found = []
    for held in folds(programs, count, seed):
        ranker, _ = trained([each for each in programs if each not in held], seed)
        found += [shares_of_ways(each, ranker) for each in held]
    return found


def table(shares: Sequence[dict[str, Shares]]) -> str:
    """How good choices are: geometric means, and the worst of the first choices, by chance of all."""
    lines = [
        f"| choice, {len(shares)} programs | top 1 | top 5 | worst top 1 |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in shares[0]:
        first, five, worst = zip(*(each[name] for each in shares), strict=True)
        lines.append(
            f"| {name} | {geometric_mean(first):.3f} | {geometric_mean(five):.3f} | {min(worst):.2f} |"
        )
    return "\n".join(lines)


def figures_of(program: Logged) -> list[VariantFigures]:
    """What the models said of its variants."""
    return [VariantFigures(**each) for each in program.figures]


def with_working_sets_alone(program: Logged) -> Logged:
    """The program without the other figures, which are nothing: inputs as in the paper."""
    nothing: dict[str, Any] = {"moved": dict.fromkeys(LEVELS, 0.0), "copied": 0.0}
    return replace(program, figures=[{**each, **nothing} for each in program.figures])


def written(ranker: Ranker, made: dict[str, str]) -> str:
    """The file of a network."""
    layers = [
        {
            "weights": [[float(f"{v:.5g}") for v in row] for row in matrix],
            "bias": [float(f"{v:.5g}") for v in bias],
        }
        for matrix, bias in ranker.layers
    ]
    return json.dumps({"format": FORMAT, "made": made, "levels": ranker.levels, "layers": layers}) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Train, judge and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--output", type=Path, help="where the weights are written")
    either.add_argument("--working-sets", action="store_true", help="as inputs alone, as in the paper")
    parser.add_argument("--folds", type=int, default=4, help="parts of the families, held out by turns")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(argv)
    programs = read_log(asked.log)
    if asked.working_sets:
        programs = [with_working_sets_alone(each) for each in programs]
    judged = table(validated(programs, asked.folds, asked.seed))
    ranker, loss = trained(programs, asked.seed)
    print(f"{judged}\n\ntrained on all {len(programs)}: loss {loss:.3f}")
    if asked.output is not None:
        kinds = Counter(each.kind for each in programs)
        made = {
            "machine": programs[0].machine,
            "date": max(each.date for each in programs),
            "cases": ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            + f"; {sum(len(each.seconds) for each in programs)} variants, one thread",
            "loss": f"{loss:.3f}, cross-entropy of pairs that differ by more than {NEAR - 1:.0%}",
            "how": f"benchmarks/rankertrain.py: Adam, {STEPS} steps of {BATCH} pairs, seed {asked.seed}",
        }
        asked.output.write_text(written(ranker, made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
