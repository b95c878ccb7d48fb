"""Plans of tiles: which of them threads share by number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.plan.tile import TilePlan
from tests.product.test_schemegroups import blurred, plans


@pytest.mark.parametrize(
    ("private", "numbered"), [([], True), (["across"], False), (["Q"], False), (["across", "Q"], False)]
)
def test_tiles_of_a_thread_stay_together_where_any_stage_adds_into_its_own_copy(
    private: list[str], numbered: bool
) -> None:
    """Tiles of two dimensions, which any thread may take else."""
    plan = plans(blurred(), {"Q": "[fuse(across), Par(i*k), T(i, 8), T(k, 64)]"})["Q"]
    assert isinstance(plan, TilePlan)
    members = tuple(replace(member, private=member.stage in private) for member in plan.members)
    assert replace(plan, members=members).is_numbered is numbered
