"""Comparisons of extents, `A.shape[0] == 3`: answers where forms alone tell, else conditions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr
from polymat.lang.indices import affine_form

_TELL: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@later.compared_extents.given
def compared_extents(op: str, extent: Affine, other: Any) -> Any:
    """Whether `extent op other`, where forms tell it, and `==` whether they are the same; else a condition.

    before:  A.shape[0] < A.shape[0] + 1;  A.shape[0] == M;  A.shape[0] == 3
    after:   True;  True;  Condition(M, "==", 3)
    """
    if isinstance(other, bool) or not isinstance(other, Affine | Expr | np.number | int | float):
        return NotImplemented
    if extent.is_constant and not isinstance(other, Affine | Expr):
        return _TELL[op](extent.const, other)
    form = affine_form(other) if isinstance(other, Expr) else other
    if isinstance(form, Affine) and op in ("==", "!="):
        return (extent == form) == (op == "==")
    if isinstance(form, Affine | int):
        difference = extent - form
        if difference.is_constant:
            return _TELL[op](difference.const, 0)
    return Condition(extent, op, other)
