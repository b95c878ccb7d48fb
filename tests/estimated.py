"""Estimates for several pipelines, of which each has some of the sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polymat as pm
from polymat.graph.build import build


def estimates_of(outputs: Any, values: Mapping[pm.Parameter, int]) -> dict[pm.Parameter, int]:
    """Those of the values whose size the pipeline of these outputs has: others would be refused."""
    listed = list(outputs) if isinstance(outputs, Sequence) else [outputs]
    known = {size.name for size in build(listed).sizes}
    return {size: value for size, value in values.items() if size.name in known}
