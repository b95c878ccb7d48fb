"""Sixty blurs one after the other: what compiling a large pipeline is timed with."""

from __future__ import annotations

from benchmarks.polybench.kernel import Description, parameters, variables
from polymat import Float, Function, Image, Interval
from polymat import Int as Integer

STAGES = 60


def build(reach: int = 1) -> Description:
    """Blurs along rows and columns in turn; every stage also reads the one `reach` before."""
    R, C = sizes = parameters("R C")
    i, j = variables("i j")
    image = Image(Float, "image", [R, C])
    stages: list[Function | Image] = [image]
    result: Function | None = None
    for k in range(STAGES):
        spans = [Interval(Integer, k + 1, extent - 2 - k) for extent in (R, C)]
        result = Function(([i, j], spans), Float, f"s{k}")
        last, before = stages[-1], stages[-min(reach, len(stages))]
        down, across = k % 2, 1 - k % 2
        near = last(i - down, j - across) + last(i + down, j + across)
        result.defn = [near * 0.25 + before(i, j) * 0.5]
        stages.append(result)
    assert result is not None
    return Description((result,), (image,), sizes)
