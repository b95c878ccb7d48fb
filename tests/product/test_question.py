"""What is asked of products follows from how their operands lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polymat import Double, Image, Matrix
from polymat.machine.known import ZEN3
from polymat.product.blocks import blocks_of
from polymat.product.contraction import Contraction
from polymat.product.matching import contraction_of
from polymat.product.question import facts, facts_number, has_constant_extents, is_unrolled, question, strides
from tests.codegen.test_halves import inputs_of, structured
from tests.idiom.recognise import K, L, M, N, i, j, k, l, pipeline, total, upto
from tests.product.test_triangleways import of_symmetric

SIZES = {"M": 5, "N": 7, "K": 3, "L": 2}
BLOCKS = blocks_of(ZEN3, 8)
RESULT, SUMMED = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]
LIES = {
    "AB": (Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])),
    "ATB": (Matrix(Double, "A", [K, M]), Matrix(Double, "B", [K, N])),
    "ABT": (Matrix(Double, "A", [M, K]), Matrix(Double, "B", [N, K])),
}


def matched(output: Any) -> Contraction:
    """The contraction that an output is."""
    built = pipeline(output)
    found = contraction_of(built.stages[-1], built.context, SIZES)
    assert found is not None
    return found


def product(lies: str) -> Contraction:
    A, B = LIES[lies]
    left = A(k, i) if "AT" in lies else A(i, k)
    right = B(j, k) if "BT" in lies else B(k, j)
    return matched(total("C", RESULT, SUMMED, left * right))


@pytest.mark.parametrize("lies", LIES)
def test_strides_are_those_of_arrays(lies: str) -> None:
    a = np.empty((3, 5) if "AT" in lies else (5, 3))
    b = np.empty((7, 3) if "BT" in lies else (3, 7))
    rows, depth = a.T.strides if "AT" in lies else a.strides
    along, columns = b.T.strides if "BT" in lies else b.strides
    assert strides(product(lies), SIZES) == tuple(each // 8 for each in (rows, depth, along, columns))


@pytest.mark.parametrize("lies", LIES)
def test_facts_say_along_what_operands_are_contiguous(lies: str) -> None:
    values = question(product(lies), BLOCKS, SIZES)
    assert (values["along"], values["rowwise"]) == ((0.0, 1.0) if "AT" in lies else (1.0, 0.0))
    assert (values["in_order"], values["down"]) == ((0.0, 1.0) if "BT" in lies else (1.0, 0.0))
    assert (values["m"], values["n"], values["k"]) == (5.0, 7.0, 3.0)


def test_a_step_of_several_rows_is_as_long() -> None:
    A, B = Image(Double, "A", [M, L, K]), Matrix(Double, "B", [K, N])
    found = matched(total("C", [(i, upto(M)), (l, upto(L)), (j, upto(N))], SUMMED, A(i, l, k) * B(k, j)))
    row, step, _, _ = strides(found, SIZES)
    assert (found.rows, row, step) == ("i", 6, 1)
    values = question(found, BLOCKS, SIZES)
    assert values["m"] * values["row_segments"] == 10.0


def test_a_thread_asks_with_its_share() -> None:
    found = product("AB")
    whole, part = question(found, BLOCKS, SIZES), question(found, BLOCKS, SIZES, share={found.rows: 2.0})
    assert (whole["m"], part["m"]) == (5.0, 2.0)
    assert {name for name in whole if whole[name] != part[name]} == {"m"}


@pytest.mark.parametrize(("place", "number"), [("left", 1), ("right", 2), ("result", 3)])
def test_triangles_are_told_by_their_place(place: str, number: int) -> None:
    found = matched(structured(place, "lower", inputs_of(place, Double), Double))
    values = facts(found, BLOCKS, handed=False, ended=False)
    assert values["place"] == number
    assert facts_number(values) & 3 == number
    assert not values["mirrored"]


def test_facts_are_different_numbers() -> None:
    found = matched(of_symmetric("left"))
    values = facts(found, BLOCKS, handed=False, ended=False)
    assert values["mirrored"]
    numbers = {
        facts_number(values | {"handed": handed, "ended": ended, "past": past})
        for handed in (0.0, 1.0)
        for ended in (0.0, 1.0)
        for past in (0.0, 1.0)
    }
    assert len(numbers) == 8


def test_only_products_of_constant_extents_are_straight_code() -> None:
    A, B = Matrix(Double, "A", [4, 3]), Matrix(Double, "B", [3, 4])
    small = total("C", [(i, upto(4)), (j, upto(4))], [(k, upto(3))], A(i, k) * B(k, j))
    found = matched(small)
    assert has_constant_extents(found)
    assert is_unrolled(found, BLOCKS, {})
    assert not has_constant_extents(product("AB"))
    assert not is_unrolled(product("AB"), BLOCKS, SIZES)
