"""Blocks for the caches: how large, and in which order, at sizes on either side of what decides."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat.machine.known import ZEN3
from polymat.product.asked import FACTS, NUMBERS, place
from polymat.product.blocks import blocks_of
from polymat.product.cuts import batch, broad, gathered, ordered, tall
from polymat.product.cutting import cut_of, is_joinable
from polymat.product.formula import Values
from polymat.product.matching import contraction_of
from tests.idiom.recognise import pipeline

MACHINE = ("rows", "vectors", "lanes", "kc", "mc", "nc", "small")
BLOCKS = blocks_of(ZEN3, 8)  # 6 x 8, kc 1024, mc 30, nc 1120, 65536 elements in the second level


def asked(**given: float) -> Values:
    """A product of 600 x 600 x 600 that is packed, but for what is given."""
    values = dict.fromkeys((*(each.name for each in FACTS), "gathers", "follows", "place"), 0.0)
    values |= {each.name: 1.0 for each in NUMBERS if each is not place} | dict.fromkeys("mnk", 600.0)
    machine = {name: float(getattr(BLOCKS, name)) for name in MACHINE}
    return values | machine | given


def test_depth_is_cut_evenly_and_segments_follow_each_other() -> None:
    assert cut_of(BLOCKS, 600, 600, 1025)[2] == 513
    assert cut_of(BLOCKS, 600, 600, 100, segments=4)[2] == 400
    assert cut_of(BLOCKS, 600, 600, 100, segments=20)[2] == 1000


def test_blocks_are_no_larger_than_the_product() -> None:
    assert cut_of(BLOCKS, 1, 1, 1) == (1, 1, 1)
    assert cut_of(BLOCKS, 7, 9, 0) == (7, 9, 1)


def test_several_segments_of_rows_are_not_walked_along() -> None:
    one, several = asked(m=4096, n=32, k=2048, down=1), asked(m=512, row_segments=8, n=32, k=2048, down=1)
    assert (tall.at(one), tall.at(several)) == (2, 5)


def test_neighbouring_segments_of_columns_are_packed_together() -> None:
    lying = {"n": 20.0, "column_segments": 40.0, "k": 16.0, "m": 100.0}
    beside, in_order = asked(**lying), asked(**lying, in_order=1)
    assert (batch.at(beside), gathered.at(beside)) == (8 * 3, True)
    assert broad.at(beside) == 1120 * 64 // 8
    assert (batch.at(in_order), gathered.at(in_order)) == (128, False)
    assert batch.at(asked(**lying, down=1)) == 1


@pytest.mark.parametrize(
    "changed", [{}, {"place": 3}, {"handed": 1}, {"past": 0}, {"row_segments": 1}, {"k": 4000}]
)
def test_a_large_result_of_several_segments_is_written_in_order(changed: dict[str, float]) -> None:
    """One that is no triangle and not handed to readers, of a left operand that is packed as a whole."""
    large = {"m": 100.0, "row_segments": 12.0, "n": 800.0, "k": 100.0, "past": 1.0} | changed
    assert bool(ordered.at(asked(**large))) is not bool(changed)


def test_whole_segments_are_written_where_they_follow_each_other() -> None:
    large = {"m": 100.0, "row_segments": 12.0, "n": 800.0, "k": 100.0, "past": 1.0}
    assert (tall.at(asked(**large)), tall.at(asked(**large, follows=1))) == (2, 17)


@pytest.mark.parametrize(
    ("spec", "share", "handed", "joined"),
    [
        ("abk,kn->abn", [], False, True),
        ("abk,kn->abn", ["a"], False, True),
        ("abk,kn->abn", ["b"], False, False),
        ("abk,kn->abn", [], True, False),
        ("abk,kn->anb", [], False, False),
        ("ak,kn->an", [], False, False),
    ],
)
def test_segments_of_rows_that_follow_each_other_are_joined(
    spec: str, share: list[str], handed: bool, joined: bool
) -> None:
    """Two dimensions of rows, neither cut within a segment by threads nor handed on in parts."""
    sizes = {letter: pm.Parameter(pm.Int, letter.upper()) for letter in "abkn"}
    terms = spec.split("->")[0].split(",")
    operands = [pm.Image(pm.Double, f"X{term}", [sizes[x] for x in term]) for term in terms]
    built = pipeline(pm.einsum(spec, *operands))
    (stage,) = built.stages
    found = contraction_of(stage, built.context, dict.fromkeys("ABKN", 30))
    assert found is not None
    assert is_joinable(found, share=share, handed=handed) is joined
