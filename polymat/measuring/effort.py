"""How long samples are measured: until no time improves any more, or until times agree."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.measuring.sample import Sample
from polymat.measuring.samples import WANTED_MEMORY

Progress = Callable[[float], None]
"""Told the part of the work that is done, from 0.0 to 1.0."""

_IMPROVEMENT = 0.97
_LEAST_ROUNDS = 5
# The third best time over the best one; and at the end, when a figure still says more than an estimate does.
_AGREEMENT, _MOST_DISAGREEMENT = 1.2, 1.5


@dataclass(frozen=True, slots=True)
class Effort:
    """Time and memory that measuring may take.

    seconds: of all rounds together; most_seconds: where others use the machine, so that figures still change.
    memory: bytes that are swept over.
    short: nobody asked for it: without register blocks, whose rates decide only where they are exact, with
    `most_seconds` for the compilation of the program as well, and times that do not agree are a
    `ToolchainError`, but for those of loops, which are left out then.
    """

    seconds: float = 2.0
    most_seconds: float = 4.0
    memory: int = WANTED_MEMORY
    short: bool = False


LONG = Effort()
SHORT = Effort(seconds=0.6, most_seconds=3.3, memory=128 << 20, short=True)


def measure_rounds(samples: Sequence[Sample], effort: Effort, progress: Progress | None) -> None:
    """Measure all in turn until none has become better during the second half of the time."""
    begin = time.perf_counter()
    done = improved = 0
    while True:
        if any([sample.measure() < _IMPROVEMENT for sample in samples]):  # a list: every one is measured
            improved = done
        done += 1
        spent = time.perf_counter() - begin
        settled = spent >= effort.seconds and done >= max(_LEAST_ROUNDS, 2 * improved)
        if settled or (spent >= effort.most_seconds and done >= _LEAST_ROUNDS):
            return
        if progress is not None:
            progress(min(0.99, spent / max(effort.seconds, spent)))


def measure_until_agreed(samples: Mapping[str, Sample], seconds: float, deadline: float) -> None:
    """Measure all in turn, and then those alone whose three best times do not agree.

    Disturbance differs from time to time, so that times which agree are those of nearly no disturbance.
    deadline: by `time.perf_counter`; a `ToolchainError` names those whose times differ much then.
    """
    begin = time.perf_counter()
    done = 0
    left = tuple(samples.values())
    while left:
        for sample in left:
            sample.measure()
            if time.perf_counter() > deadline:
                _check_agreement(samples)
                return
        done += 1
        if done >= _LEAST_ROUNDS and time.perf_counter() - begin >= seconds:
            left = tuple(sample for sample in left if not sample.agrees(_AGREEMENT))


def _check_agreement(samples: Mapping[str, Sample]) -> None:
    names = [name for name, sample in samples.items() if not sample.agrees(_MOST_DISAGREEMENT)]
    if names:
        shown = ", ".join(names[:3]) + ("" if len(names) <= 3 else f" and {len(names) - 3} more")
        raise ToolchainError(f"times differ too much ({shown}): others use the processor")
