"""Values that are not finite stay where steps one by one leave them; a product has no rows beside these."""

from __future__ import annotations

import numpy as np
import pytest

from polymat import Double
from tests.eliminations import PROGRAMS, ArrayOf, in_blocks, interpreted, start

ROWS, EVERY = 8, 3
BEHIND = (
    (0, np.inf),
    (2, -np.inf),
    (4, np.inf),
    (7, np.inf),
    (0, np.nan),
    (5, np.nan),
)  # one for each column
ANYWHERE = ((0, 0), (2, 3), (6, 5))
NO_PIVOT = (0, 4, 7)


def spoilt() -> dict[str, ArrayOf]:
    """Matrices with values that are not finite behind the square, NaN in it, or a column of zeros."""
    found = {"behind": start(ROWS, len(BEHIND), Double)}
    for column, (row, value) in enumerate(BEHIND):
        found["behind"][row, ROWS + column] = value
    for place in ANYWHERE:
        found[f"NaN at {place}"] = start(ROWS, 3, Double)
        found[f"NaN at {place}"][place] = np.nan
    for column in NO_PIVOT:
        found[f"no pivot in {column}"] = start(ROWS, 3, Double)
        found[f"no pivot in {column}"][:, column] = 0
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_finite_step_by_step_is_so_in_blocks(name: str) -> None:
    level, blocked = in_blocks(PROGRAMS[name](), EVERY)
    for what, given in spoilt().items():
        one, other = interpreted(level, given), interpreted(blocked, given)
        finite = np.isfinite(one)
        np.testing.assert_array_equal(np.isfinite(other), finite, err_msg=what)
        np.testing.assert_allclose(other[finite], one[finite], rtol=1e-9, atol=1e-9)
