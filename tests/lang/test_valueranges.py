"""Between which limits expressions lie."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Cast, Clamp, Condition, Int, Long, Max, Min, Select, UChar
from polymat.lang.valueranges import never_wraps, ranges_of

N = pm.Parameter(Int, "N")
i = pm.Variable(Int, "i")
level, number = pm.Vector(UChar, "level", [N]), pm.Vector(Int, "number", [N])
large, real = pm.Vector(Long, "large", [N]), pm.Vector(pm.Float, "real", [N])
place = pm.Vector(Int, "place", [N], values=(0, N - 1))
INT, LONG = "-2147483648..2147483647", "-9223372036854775808..9223372036854775807"


def text(expr: Any) -> str:
    """The alternatives, with a comma between limits that all hold."""
    sides = [(",".join(map(str, each.lows)), ",".join(map(str, each.highs))) for each in ranges_of(expr)]
    return " or ".join(f"{low}..{high}" for low, high in sides)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (level(i), "0..255"),
        (level(i) + 1, "0..255"),  # it wraps around
        (Cast(Int, level(i)) + 1, "1..256"),
        (3 - Cast(Int, level(i)), "-252..3"),
        (Cast(Int, level(i)) * -2, "-510..0"),
        (Cast(Int, level(i)) * Cast(Int, level(i)), "0..65025"),
        (Cast(Int, level(i)) // 16, "0..15"),
        (number(i) % 7, "0..6"),
        (number(i) & 255, "0..255"),
        (255 & large(i), "0..255"),
        (level(i) & 15 | 64, "64..127"),
        (level(i) >> 4, "0..15"),
        (number(i) >> 28, "-8..7"),
        (number(i) >> large(i), "-2147483648..2147483647"),
        (level(i) >> level(i), "0..255"),
        (Cast(Int, level(i)) << 2, "0..1020"),
        (number(i) << 2, INT),
        ((level(i) & 3) ^ (level(i) & 12), "0..15"),
        (~Cast(Int, level(i)), "-256..-1"),
        (number(i) % 16, "0..15"),
        (Cast(UChar, number(i), saturate=True), "0..255"),
        (Cast(UChar, real(i), saturate=True), "0..255"),
        (number(i), INT),
        (number(i) + 1, INT),
        (large(i) - 1, LONG),
        (Cast(Int, real(i)), INT),
        (Cast(UChar, number(i)), "0..255"),
        (Cast(pm.Int8, level(i)), "-128..127"),
        (Clamp(number(i), 0, 9), "0..9"),
        (Min(level(i), 10), "0..10"),
        (Max(number(i), level(i)), "0..2147483647"),
        (Clamp(large(i), 0, 9) + 2, "2..11"),
        (Clamp(large(i), 0, N - 1), "0..N - 1 or N - 1..N - 1"),
        (Cast(Long, place(i)) + 1, "1..2147483648,N"),
        (place(i), "0..2147483647,N - 1"),
        (Select(Condition(real(i), ">", 0), 3, 5), "3..3 or 5..5"),
        (abs(Clamp(number(i), -3, 2)), "0..3"),
        (i + 1, "i + 1..i + 1"),
    ],
)
def test_alternatives(expr: Any, expected: str) -> None:
    assert text(expr) == expected


def test_many_alternatives_keep_what_all_of_them_say() -> None:
    expr: Any = Clamp(large(i), 0, N - 1)
    for step in range(5):
        expr = Select(Condition(real(i), ">", step), expr + step, Clamp(large(i) + step, step, N))
    inside = ranges_of(Clamp(expr, 0, N - 1))
    assert all(each.lows and each.highs for each in inside)


def test_what_wraps_is_no_sum() -> None:
    assert never_wraps(Cast(Int, level(i)) + 1)
    assert not never_wraps(level(i) + 1)
    assert not never_wraps(number(i) + 1)
    assert never_wraps(Clamp(number(i), 0, 9) + 1)
