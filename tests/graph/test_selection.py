"""Choices are data: what is written is read again, and what is none is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polymat.graph.selection import GroupChoice, Selection, choice_data, choice_of

CHOICE = Selection(
    (
        GroupChoice(("f", "g"), "tiles along i", (32, 512)),
        GroupChoice(("h",), "kernel loops", (), (64, 48, 96, 1024)),
    ),
    ((8, 6, 2),),
)


def test_a_choice_is_read_as_it_was_written() -> None:
    assert choice_of(json.loads(json.dumps(choice_data(CHOICE)))) == CHOICE


def test_a_choice_says_what_was_chosen() -> None:
    assert str(CHOICE) == (
        "f+g: tiles along i, tiles of 32 x 512; h: kernel loops, blocks of kc 64, mc 48, nc 96, "
        "near below 1024; register blocks of 6 rows x 2 vectors"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"groups": [{"stages": ["f"], "way": "x", "sizes": [0], "blocks": []}]},
        {"groups": [{"stages": ["f"], "way": "x", "sizes": [True], "blocks": []}]},
        {"groups": [{"stages": ["f"], "way": "x", "sizes": [], "blocks": [1, 2]}]},
        {"groups": [{"stages": [], "way": "x", "sizes": [], "blocks": []}]},
        {"groups": [{"stages": [1], "way": "x", "sizes": [], "blocks": []}]},
        {"groups": [{"way": "x", "sizes": [], "blocks": []}]},
        {"registers": [[8, 6]]},
        {"registers": None},
    ],
)
def test_what_is_no_choice_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no choice: "):
        choice_of({**choice_data(CHOICE), **change})
