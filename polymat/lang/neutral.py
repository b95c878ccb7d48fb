"""Neutral elements of the reduction operations."""

from __future__ import annotations

import math

import numpy as np

from polymat.lang import later
from polymat.lang.expr import Const
from polymat.lang.reduction import Op
from polymat.lang.types import Bool, ScalarType


@later.neutral.given
def neutral(op: Op, dtype: ScalarType) -> Const:
    """The value that a reduction starts from: 0, 1, the largest (Min) or the smallest value (Max)."""
    if op in (Op.Sum, Op.Mul):
        one = int(op is Op.Mul)
        return Const(one if dtype.kind in "iu" else float(one) if dtype.kind == "f" else complex(one), dtype)
    if dtype.kind == "f":
        return Const(math.inf if op is Op.Min else -math.inf, dtype)
    if dtype == Bool:
        return Const(int(op is Op.Min), dtype)
    limits = np.iinfo(dtype.dtype)
    return Const(int(limits.max if op is Op.Min else limits.min), dtype)
