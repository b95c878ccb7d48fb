"""Estimated sizes, and what follows from them for a stage, found once.

A partition of many stages prices thousands of groups, each of which asks the same of its stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from polymat.graph.stage import Stage
from polymat.model.nest import Statement

Result = TypeVar("Result")


class Estimates(dict[str, int]):
    """Sizes by name, which do not change, with what was found for them.

    found: by function and stage.  statements: of stages in a nest, by stage and alignment.  loops: of stages
    inside tiles, by the planner's own keys.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__(sizes)
        self.found: dict[tuple[Callable[..., Any], Stage], Any] = {}
        self.statements: dict[object, tuple[Statement, ...]] = {}
        self.loops: dict[object, Any] = {}


def once_a_stage(
    function: Callable[[Stage, Mapping[str, int]], Result],
) -> Callable[[Stage, Mapping[str, int]], Result]:
    """Let a function of a stage and of estimates keep its results in `Estimates`, where it is given those."""

    @wraps(function)
    def remembering(stage: Stage, estimates: Mapping[str, int]) -> Result:
        if not isinstance(estimates, Estimates):
            return function(stage, estimates)
        key = (function, stage)
        if key not in estimates.found:
            estimates.found[key] = function(stage, estimates)
        result: Result = estimates.found[key]
        return result

    return remembering
