"""Whether schemes say what runs without them: then steps run in the order that they have without them, too.

Steps in an order of their own, in segments or point by point, do so in the loops of usual plans alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polymat.graph.pipeline import Pipeline
from polymat.plan.tile import Plan
from polymat.tilesize.namedgroups import all_counting
from polymat.tilesize.schemetiles import says

Usual = Callable[[Pipeline, tuple[str, ...]], Sequence[Plan]]
"""The plans of a group where nobody gives schemes, the first of which runs."""


def is_usual(pipeline: Pipeline, stages: tuple[str, ...], given: Mapping[str, str], usual: Usual) -> bool:
    """Whether schemes of the stages of a group, if there are any, are those that it has without."""
    counting = all_counting(stages, given)
    if not counting:
        return True
    plans = usual(pipeline, stages)
    return bool(plans) and all(any(says(plans[0], name, t) for t in each) for name, each in counting.items())
