"""What audits found, in tables: the worst losses and predictions, what is wrong, and how much is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.auditing.lines import CLOCK_SECONDS, Line, long_enough
from benchmarks.auditing.scatter import Points, scatter
from polymat.audit.audited import NEAR_LOSS, NEAR_PREDICTION, Audited, TimedPlan, seconds_text, summary_line

WORST = 25  # rows of a table
_WIDEST = 48  # letters of a group's name


def report(lines: Sequence[Line]) -> Iterator[str]:
    """The lines of the report."""
    yield from ("## Choices that lose most", "", *_losses(lines))
    yield from ("", "## Predictions that are furthest off", "", *_predictions(lines))
    bad = [*_bad(lines)]
    if bad:
        yield from ("", "## Wrong", "", *bad)
    yield from ("", "## Summary", "")
    for conditions in dict.fromkeys(line.conditions for line in lines):
        groups = long_enough([line for line in lines if line.conditions == conditions])
        yield f"- {conditions}: {summary_line(groups)}"
    short = sum(len(line.groups) for line in lines) - len(long_enough(lines))
    yield f"- all: {summary_line(long_enough(lines))}"
    yield f"- not counted: {short} groups of less than {seconds_text(CLOCK_SECONDS)}"


def picture(lines: Sequence[Line], head: str) -> str:
    """Predicted over measured seconds of all plans, as SVG; head: the lines of `header`."""
    groups = long_enough(lines)
    others = [(plan.measured, plan.predicted) for group in groups for plan in group.right]
    chosen = [(group.choice.measured, group.choice.predicted) for group in groups]
    known = dict(line.removeprefix("- ").split(": ", 1) for line in head.splitlines())
    threads = " and ".join(map(str, sorted({line.threads for line in lines})))
    on = [known["machine"].partition(", L1d")[0], known["compiler"].partition(";")[0]]
    on += [f"{threads} thread{'s' * (threads != '1')}", known["date"]]
    return scatter(
        f"Seconds of groups; shaded: within {NEAR_PREDICTION}",
        "; ".join(on),
        ("measured", "predicted"),
        (Points("plans not taken", "cross", "#999999", others), Points("chosen", "dot", "#222222", chosen)),
        NEAR_PREDICTION,
    )


def _losses(lines: Sequence[Line]) -> Iterator[str]:
    plan = ("predicted", "measured")
    yield _row(["audit", "conditions", "group", "chosen", *plan, "better", *plan, "loss"])
    yield "| --- | --- | --- | --- | ---: | ---: | --- | ---: | ---: | ---: |"
    found = [(group.loss, line, group) for line in lines for group in line.measured]
    for loss, line, group in sorted(found, key=lambda each: -each[0])[:WORST]:
        if loss > NEAR_LOSS:
            better = min(group.right, key=lambda plan: plan.measured)
            yield _row([*_named(line, group), *_plan(group.choice), *_plan(better), f"{loss:.2f}"])


def _predictions(lines: Sequence[Line]) -> Iterator[str]:
    yield _row(["audit", "conditions", "group", "chosen", "predicted", "measured", "predicted / measured"])
    yield "| --- | --- | --- | --- | ---: | ---: | ---: |"
    found = [(group.choice.off, line, group) for line in lines for group in line.measured]
    for off, line, group in sorted(found, key=lambda each: -each[0])[:WORST]:
        if off > NEAR_PREDICTION:
            ratio = f"{group.choice.predicted / group.choice.measured:.3g}"
            yield _row([*_named(line, group), *_plan(group.choice), ratio])


def _bad(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        if line.failed:
            yield f"- {line.name}, {line.conditions}: FAILED: {line.failed}"
        for group in line.groups:
            name = "+".join(group.stages)
            yield from (
                f"- {line.name}, {line.conditions}: WRONG {name} as {plan.summary}: {plan.wrong}"
                for plan in group.wrong
            )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _named(line: Line, group: Audited) -> list[str]:
    name = "+".join(group.stages)
    return [line.name, line.conditions, name if len(name) <= _WIDEST else f"{name[:_WIDEST]}..."]


def _plan(plan: TimedPlan) -> list[str]:
    return [plan.summary, seconds_text(plan.predicted), seconds_text(plan.measured)]
