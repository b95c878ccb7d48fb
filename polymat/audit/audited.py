"""What an audit finds, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polymat.dataclass import dataclass

NEAR_LOSS, NEAR_PREDICTION = 1.1, 1.5  # of the least time; of the measured one, either way
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_WIDEST = 60  # letters of a group's name in a table


@dataclass(frozen=True, slots=True)
class TimedPlan:
    """One way to compute a group, with its predicted and its least measured seconds.

    wrong: what is wrong with the results of the program with it, in words; it is not measured then.
    """

    summary: str
    predicted: float
    measured: float
    wrong: str = ""

    @property
    def off(self) -> float:
        """The factor between prediction and measurement, whichever is larger; 1 is exact."""
        shorter, longer = sorted((self.predicted, self.measured))
        return longer / shorter if shorter > 0.0 else float("inf")


@dataclass(frozen=True, slots=True)
class Audited:
    """One group: the way that was chosen, and others that were predicted not to be much slower."""

    stages: tuple[str, ...]
    choice: TimedPlan
    others: tuple[TimedPlan, ...]

    @property
    def right(self) -> tuple[TimedPlan, ...]:
        """The other ways that compute the same."""
        return tuple(other for other in self.others if not other.wrong)

    @property
    def wrong(self) -> tuple[TimedPlan, ...]:
        """The other ways that do not."""
        return tuple(other for other in self.others if other.wrong)

    @property
    def loss(self) -> float:
        """How many times as long the choice takes as the best of all that were measured."""
        best = min((self.choice.measured, *(other.measured for other in self.right)))
        return self.choice.measured / best if best > 0.0 else 1.0


def as_json(found: Audited) -> dict[str, Any]:
    """A group for programs that read figures."""
    return {**asdict(found), "loss": found.loss}


def write_json(path: str, groups: Sequence[Audited]) -> None:
    """Write the groups of a program to a file."""
    Path(path).write_text(json.dumps([as_json(group) for group in groups], indent=1) + "\n")


def table_lines(groups: Sequence[Audited]) -> Iterator[str]:
    """A line for every group, and below it one for each other way."""
    yield f"{'predicted':>10} {'measured':>10} {'off by':>7} {'loss':>6}  group"
    for group in groups:
        name = "+".join(group.stages)
        name = name if len(name) <= _WIDEST else f"{name[:_WIDEST]}..."
        loss = f"{group.loss:6.2f}" if group.right else f"{'':>6}"
        yield f"{_figures(group.choice)} {loss}  {name}: {group.choice.summary}"
        for other in group.right:
            yield f"{_figures(other)} {'':>6}    or {other.summary}"
        for other in group.wrong:
            yield f"WRONG {name} as {other.summary}: {other.wrong}"


def _figures(way: TimedPlan) -> str:
    return f"{seconds_text(way.predicted):>10} {seconds_text(way.measured):>10} {way.off:7.2f}"


def seconds_text(seconds: float) -> str:
    """Three digits and a unit."""
    scale, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def summary_line(groups: Sequence[Audited]) -> str:
    """How many choices were good, the worst one, and how many predictions; wrong results first of all.

    Losses are told of groups that have another way.
    """
    choices = [group for group in groups if group.right]
    near = sum(group.loss <= NEAR_LOSS for group in choices)
    worst = max((group.loss for group in choices), default=1.0)
    predicted = sum(group.choice.off <= NEAR_PREDICTION for group in groups)
    wrong = sum(len(group.wrong) for group in groups)
    texts = [f"WRONG: {wrong}"] if wrong else []
    texts += [f"within 10 %: {near} of {len(choices)}", f"worst loss: {worst:.2f}"]
    return "; ".join([*texts, f"predicted within 1.5: {predicted} of {len(groups)}"])
