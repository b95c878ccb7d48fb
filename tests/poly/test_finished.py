"""What tells some points from others: conditions of which each point has one."""

from __future__ import annotations

import pytest

from polymat.lang.affine import Affine
from polymat.poly.domain import Domain
from polymat.poly.finished import conditions

i, N = Affine.name("i"), Affine.name("N")
ROW = Domain.box(("N",), ("i",), [(Affine(), N - 1)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([i - 3], [N - 3 - i]),
        ([i - 3, 10 - i], [i - 6, N - 5 - i]),
        ([2 - i], [i - 9]),
        ([i], [i - N]),
    ],
    ids=["ends", "middles", "apart", "none"],
)
def test_each_point_has_one_condition(one: list[Affine], other: list[Affine]) -> None:
    """Of a union of parts that overlap: what is computed where a condition holds is computed once there."""
    found = conditions(ROW.at_least_zero(one).union(ROW.at_least_zero(other)), ROW)
    assert found is not None
    for size in range(16):
        for point in range(size):
            at = {"N": size, "i": point}
            among = any(all(form.evaluate(at) >= 0 for form in part) for part in (one, other))
            holding = [
                all(
                    (value == 0 if equal else value >= 0)
                    for form, equal in each
                    for value in [form.evaluate(at)]
                )
                for each in found
            ]
            assert sum(holding) == among
