"""Points in domains, beside what isl says of each."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from polymat.poly.domain import Domain
from polymat.poly.membership import members

TEXTS = (
    "0 <= _i < _N and 0 <= _j <= _i",
    "0 <= _i and 2 * _i <= _N and _j = 3",
    "(0 <= _i < _N and _j > _N) or (_i = _j and _i >= 2)",
    "_i mod 3 = 1 and 0 <= _j < _N",
    "_j <= floor((_N + 2 * _i) / 5) and _i >= floor(floor(_N / 2) / 3)",
    "exists (e : _i = 2 * e and _j <= e + _N)",
    "false",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [0, 1, 5, 7])
def test_each_point(text: str, size: int) -> None:
    found = isl.Set(f"[_N] -> {{ [_i, _j] : {text} }}")
    i, j = (each.ravel() for each in np.meshgrid(np.arange(-3, 11), np.arange(-3, 11)))
    fixed = found.fix_val(isl.dim_type.param, 0, isl.Val(size))
    expected = [
        not fixed.fix_val(isl.dim_type.set, 0, isl.Val(int(a)))
        .fix_val(isl.dim_type.set, 1, isl.Val(int(b)))
        .is_empty()
        for a, b in zip(i, j, strict=True)
    ]
    domain = Domain(("N",), ("i", "j"), found)
    np.testing.assert_array_equal(members(domain, {"N": size, "i": i, "j": j}), expected)


def test_a_point_without_dimensions() -> None:
    domain = Domain(("N",), (), isl.Set("[_N] -> { [] : _N >= 2 }"))
    assert members(domain, {"N": 2})
    assert not members(domain, {"N": 1})
