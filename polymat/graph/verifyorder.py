"""What is said of stages that need themselves or each other in no order."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.errors import CycleError
from polymat.graph.circlepoints import CircleOfReads, circle_of_reads, read_text, reads_among
from polymat.graph.circlesteps import circle_steps
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointtext import point_text
from polymat.graph.recurrence import recurrence_statements
from polymat.graph.stage import Stage
from polymat.poly.order import Circle, find_order

MOST_SHOWN = 4  # reads of a message
EARLIER = "a function may read points that come earlier in some order only"


def check_circle(pipeline: Pipeline, stage: Stage) -> None:
    """Refuse, at the first of them, stages that need each other in no order of steps."""
    if stage.name != stage.circle[0] or circle_steps(pipeline, stage.circle) is not None:
        return
    names = " and ".join(pipeline.called(name) for name in stage.circle)
    found = circle_of_reads(pipeline, stage.circle)
    if found is not None:
        _refuse(f"{names} need each other in a circle", found)
    raise CycleError(
        f"{names} need each other, and no dimension of each was found along which all can take steps: "
        f"{_reads_text(pipeline, stage.circle)}",
        at=stage.at,
        hint="let every one have the dimension that counts the steps, and read at it minus a number",
    )


def check_order(pipeline: Pipeline, stage: Stage) -> None:
    """Refuse a stage that needs itself in no order of its points."""
    context, name = pipeline.context, pipeline.called(stage.name)
    found = find_order(recurrence_statements(stage, context), context)
    if not isinstance(found, Circle):
        return
    point = found.example
    sizes = None if point is None else {size: point[size] for size in context.params}
    circle = circle_of_reads(pipeline, (stage.name,), sizes)
    if circle is not None:
        _refuse(f"{name} needs its own value", circle)
    what = f"no affine order of the points of {name} was found"
    if point is not None:
        what = f"{name} needs its own value at {point_text(point, (*stage.dims, *context.params))}"
    raise CycleError(f"{what}: {_reads_text(pipeline, (stage.name,))}", at=stage.at, hint=EARLIER)


def _refuse(what: str, found: CircleOfReads) -> None:
    first, *others = dict.fromkeys(read.load.at for read in found.reads)
    places = [str(place) for place in others if place is not None]
    also = f"; the other reads of the circle are at {', '.join(places)}" if places else ""
    raise CycleError(
        f"{what}: {found.text}",
        at=first,
        hint=f"{EARLIER}{also}",
    )


def _reads_text(pipeline: Pipeline, names: Sequence[str]) -> str:
    """`f reads f(i + 1), g(i); g reads f(i)`, for the first reads."""
    reads = reads_among(pipeline, names)
    told = list(dict.fromkeys((read.stage.name, read_text(pipeline, read.load)) for read in reads))
    shown: dict[str, list[str]] = {}
    for name, text in told[:MOST_SHOWN]:
        shown.setdefault(name, []).append(text)
    texts = [f"{pipeline.called(name)} reads {', '.join(each)}" for name, each in shown.items()]
    left = len(told) - MOST_SHOWN
    return "; ".join([*texts, f"and {left} more"] if left > 0 else texts)
