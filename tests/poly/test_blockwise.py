"""Blocks of iterations that go to elements of their own."""

from __future__ import annotations

import pytest

from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.blockwise import blocks_are_parallel, blocks_never_meet
from polymat.poly.domain import Domain

i, j, N = Affine.name("i"), Affine.name("j"), Affine.name("N")


@pytest.mark.parametrize(
    ("target", "first", "size", "apart"),
    [
        (i.floordiv(8), 0, 8, True),
        (i.floordiv(8) + 2, 0, 16, True),
        (i.floordiv(8), 0, 12, False),
        (i.floordiv(8), 3, 8, False),
        ((i - 3).floordiv(8), 3, 8, True),
        (i.floordiv(8) + j, 0, 8, False),
        (i.floordiv(8) + i.floordiv(4), 0, 8, True),
    ],
)
def test_blocks(target: Affine, first: int, size: int, apart: bool) -> None:
    low = Affine((), first)
    box = Domain.box(("N",), ("i", "j"), [(low, N - 1), (Affine(), N - 1)])
    assert blocks_are_parallel(Access.of(box, (target,)), "i", low, size) is apart


@pytest.mark.parametrize(
    ("one", "other", "size", "apart"),
    [
        (i, i, 1, True),
        (i, i + 1, 1, False),
        (2 * i, 2 * i + 1, 1, True),
        (i, i - N, 1, True),
        (i.floordiv(8), i.floordiv(8), 8, True),
        (i.floordiv(8), i.floordiv(8) + 1, 8, False),
    ],
)
def test_two_accesses(one: Affine, other: Affine, size: int, apart: bool) -> None:
    box = Domain.box(("N",), ("i", "j"), [(Affine(), N - 1), (Affine(), N - 1)])
    writes, others = Access.of(box, (one,)), Access.of(box, (other,))
    assert blocks_never_meet(writes, others, "i", Affine(), size) is apart
