"""A program whose tiles need margins, and plans without them: mistakes for what finds mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from polymat import Double, Function, Int, Interval, Parameter, Variable, Vector
from polymat.plan.tile import TilePlan

N = Parameter(Int, "N")
i = Variable(Int, "i")
x = Vector(Double, "x", [N])


def stencils() -> Function:
    """Two stages in one tile, the second of which reads the first one's neighbours."""
    f = Function(([i], [Interval(Int, 1, N - 2)]), Double, "f")
    f.defn = [x(i - 1) + x(i + 1)]
    g = Function(([i], [Interval(Int, 2, N - 3)]), Double, "g")
    g.defn = [f(i - 1) * f(i + 1)]
    return g


def without_margins(plan: Any) -> Any:
    """Tiles that compute too little of what their last stage reads; other plans as they are."""
    if not isinstance(plan, TilePlan):
        return plan
    return replace(plan, members=tuple(replace(each, margins=((0, 0),)) for each in plan.members))
