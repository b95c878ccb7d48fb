"""Points and sizes in the messages of what verifies a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.poly.domain import Domain


def point_text(point: Mapping[str, int], names: Sequence[str]) -> str:
    """`i = 3, j = 0`, of these names."""
    return ", ".join(f"{name} = {point[name]}" for name in names if name in point)


def with_sizes(point: Mapping[str, int], context: Domain) -> str:
    """` (with N = 3)`, or nothing where there are no sizes."""
    text = point_text(point, context.params)
    return f" (with {text})" if text else ""
