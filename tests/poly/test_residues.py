"""Sets of which every other point is there, alone and together."""

from __future__ import annotations

import pytest

from polymat.poly.domain import Domain
from polymat.poly.readonce import set_of
from polymat.poly.residues import remainder, taking_turns


def domain(condition: str) -> Domain:
    return Domain(("N",), ("i", "j"), set_of(f"[N] -> {{ [i, j] : 0 <= i < N and {condition} }}"))


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("3 <= j < N and j mod 2 = 0", (2, 0)),
        ("3 <= j < N and (j + 5) mod 4 = 0", (4, 3)),
        ("3 <= j < N", None),
        ("3 <= j < N and (i + j) mod 2 = 0", None),
        ("3 <= j < N and i mod 2 = 0", None),
    ],
)
def test_remainders(condition: str, found: tuple[int, int] | None) -> None:
    assert remainder(domain(condition), "j") == found


def test_points_that_take_turns() -> None:
    parts = [domain(f"3 <= j < N and j mod 3 = {k}") for k in range(3)]
    joined = taking_turns(parts, "j")
    assert joined is not None
    assert joined.equals(domain("3 <= j < N"))
    assert taking_turns(parts[::-1], "j") is None
    assert taking_turns(parts[:2], "j") is None


def test_rows_that_take_turns_stay_apart() -> None:
    parts = [domain(f"3 <= j < N and j mod 2 = {k} and i mod 2 = 1") for k in range(2)]
    joined = taking_turns(parts, "j")
    assert joined is not None
    assert joined.equals(domain("3 <= j < N and i mod 2 = 1"))


def test_parts_of_different_extents_take_no_turns() -> None:
    parts = [domain("3 <= j < N and j mod 2 = 0"), domain("3 <= j < N - 4 and j mod 2 = 1")]
    assert taking_turns(parts, "j") is None
