"""The learned ranker: its inputs, its tournament, and the weights that are shipped."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benchmarks import rankertrain
from benchmarks.rankertrain import (
    figures_of,
    folds,
    shares_of_best,
    shares_of_chance,
    shares_of_ways,
    table,
    with_working_sets_alone,
)
from benchmarks.variantlog import read_log
from polymat.machine.known import GENERIC
from polymat.model.pairwise import (
    HIDDEN,
    WEIGHTS,
    Ranker,
    VariantFigures,
    activated,
    learned_order,
    pair_features,
    shipped_ranker,
    softmax,
)

LEVELS = ("L1", "L2", "L3", "memory")
LOG = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "ranker" / "variants.jsonl"


def figures(copied: float, scale: float = 1.0, levels: tuple[str, ...] = LEVELS) -> VariantFigures:
    each = {level: scale * (number + 1.0) for number, level in enumerate(levels)}
    return VariantFigures(each, dict(each), copied)


def fewer_copies() -> Ranker:
    """A network for which a variant wins that copies clearly less: copies are the last inputs of both."""
    widths = (18, *HIDDEN, 2)
    layers = [(np.zeros(shape), np.zeros(shape[1])) for shape in pairwise(widths)]
    layers[0][0][16, 0] = layers[0][0][17, 1] = 1.0
    for weights, _ in layers[1:4]:
        weights[0, 0] = weights[1, 1] = 1.0
    layers[4][0][:2] = [[-9.0, 9.0], [9.0, -9.0]]
    return Ranker(LEVELS, tuple(layers), {})


def test_inputs_are_shares_of_what_both_have_of_each_kind() -> None:
    first, second = np.arange(1.0, 10.0)[None], np.arange(9.0, 0.0, -1.0)[None]
    (found,) = pair_features(first, second)
    assert found[:4] == pytest.approx(np.arange(1.0, 5.0) / 40.0)
    assert found[:8].sum() == pytest.approx(1.0)
    assert found[8:16].sum() == pytest.approx(1.0)
    assert found[16:] == pytest.approx([0.9, 0.1])
    assert not pair_features(np.zeros((1, 9)), np.zeros((1, 9))).any()


def test_layers_are_those_of_the_paper() -> None:
    values = np.array([-3.0, 1.0])
    assert [activated(number, values).tolist() for number in range(5)] == [
        [0.0, 1.0],
        [0.0, 1.0],
        [-0.75, 0.5],
        [0.0, 1.0],
        [-3.0, 1.0],
    ]
    assert softmax(np.array([[1000.0, 1000.0]])).tolist() == [[0.5, 0.5]]


def test_every_variant_plays_every_other_one() -> None:
    variants = [figures(30.0), figures(1.0), figures(8.0), figures(8.1)]
    assert fewer_copies().wins(variants) == [0, 6, 2, 2]
    assert learned_order(variants, [1.0, 2.0, 4.0, 3.0], fewer_copies()) == [1, 3, 2, 0]
    assert learned_order([], [], fewer_copies()) == []


def test_no_variant_plays_itself() -> None:
    layers = [*fewer_copies().layers]
    layers[-1] = (layers[-1][0], np.array([2.0, 0.0]))  # of two equal variants the first one wins
    biased = Ranker(LEVELS, tuple(layers), {})
    assert biased.wins([figures(8.0)]) == [0]
    assert biased.wins([figures(8.0), figures(8.0), figures(8.0)]) == [2, 2, 2]


def test_without_a_ranker_for_these_levels_the_equation_decides() -> None:
    costs = [3.0, 1.0, 2.0]
    near = [figures(copied, levels=("L1", "L2", "memory")) for copied in (1.0, 2.0, 3.0)]
    assert learned_order(near, costs, fewer_copies()) == [1, 2, 0]
    assert learned_order([figures(copied) for copied in (1.0, 2.0, 3.0)], costs, None) == [1, 2, 0]


def test_the_weights_that_are_shipped_say_how_they_were_made() -> None:
    found = shipped_ranker()
    assert found is not None
    assert found.levels == LEVELS
    assert {*found.made} == {"machine", "date", "cases", "loss", "how"}
    assert all(found.made.values())


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"layers": []},
        {"levels": ["L1", "memory"]},
        {"layers": [{"weights": [[float("nan")]], "bias": [0.0]}]},
        {"made": None},
    ],
)
def test_a_file_that_is_none_is_none(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    path.write_text(json.dumps({**json.loads(WEIGHTS.read_text("utf-8")), **change}))
    assert shipped_ranker(path) is None
    assert shipped_ranker(tmp_path / "nowhere.json") is None


def test_the_weights_and_the_log_that_they_were_trained_on_belong_together() -> None:
    ranker, programs = shipped_ranker(), read_log(LOG)
    assert ranker is not None
    first = []
    for each in programs:
        order = learned_order(figures_of(each), [0.0] * len(each.seconds), ranker)
        assert sorted(order) == [*range(len(each.seconds))]
        first.append(shares_of_best(each, order)[0])
    assert np.mean(first) > np.mean([shares_of_chance(each)[0] for each in programs]) + 0.05
    kinds = {each.kind for each in programs}
    assert all(kind in ranker.made["cases"] for kind in kinds)


def test_families_are_held_out_whole_and_each_once() -> None:
    programs = read_log(LOG)
    parts = folds(programs, 3, seed=1)
    assert sorted(each.name for part in parts for each in part) == sorted(each.name for each in programs)
    for part in parts:
        own = {(each.kind, each.family) for each in part}
        assert not own & {(each.kind, each.family) for each in programs if each not in part}


def test_chance_is_the_mean_of_all_draws() -> None:
    program = replace(read_log(LOG)[0], seconds=[1.0, 2.0, 4.0, 4.0, 4.0, 4.0])
    one, five = shares_of_chance(program)
    assert one == pytest.approx((1.0 + 0.5 + 4 * 0.25) / 6)
    assert five == pytest.approx(5 / 6 * 1.0 + 1 / 6 * 0.5)
    assert shares_of_best(program, [2, 1, 3, 4, 5, 0]) == (0.25, 0.5)


def test_the_worst_random_choice_is_the_slowest_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankertrain, "calibrated_machine", lambda: GENERIC)
    program = read_log(LOG)[0]
    seconds = [2.0, 1.0, *(4.0 for _ in program.seconds[2:])]
    ways = shares_of_ways(replace(program, seconds=seconds), fewer_copies())
    assert ways["random"][2] == 0.25
    assert ways["model of data movement"] == (0.5, 0.5, 0.5)
    assert table([ways]).splitlines()[-1].endswith("| 0.25 |")


def test_working_sets_alone_are_shares_of_nothing_else() -> None:
    alone = figures_of(with_working_sets_alone(read_log(LOG)[0]))
    assert all(each.sums and not any(each.moved.values()) and not each.copied for each in alone)
    assert fewer_copies().fits(alone)
