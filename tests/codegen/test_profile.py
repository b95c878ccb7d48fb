"""What a profile says."""

from __future__ import annotations

from math import inf

import pytest

from polymat.codegen.profile import GroupProfile, Profile, seconds_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.0, "2 s"),
        (0.00123456, "1.23 ms"),
        (5e-6, "5 us"),
        (2e-10, "0.2 ns"),
        (0.0, "0 ns"),
        (inf, "unknown"),
    ],
)
def test_seconds_have_three_digits_and_a_unit(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_rates_stand_behind_times() -> None:
    groups = (
        GroupProfile(("a", "b"), 1e-3, 2e-3, 4e6, 8e6),
        GroupProfile(("c",), 1e-3, 1e-3, 4e6, None),
        GroupProfile(("d",), 0.0, 1e-3, 4e6, 1e6, kept=True),
    )
    found = Profile("f", groups, {"N": 7}, 1, 3)
    assert str(found).splitlines() == [
        "f at N 7 on 1 thread: 2 ms, predicted 3 ms",
        "  a + b: 1 ms, predicted 2 ms, 8 GFLOP/s, 4 GB/s",
        "  c: 1 ms, predicted 1 ms, 4 GB/s",
        "  d: computed by the first call alone, and kept",
    ]
    assert repr(found) == str(found)
