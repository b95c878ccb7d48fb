"""The plan of a stage that a library computes."""

from __future__ import annotations

from dataclasses import dataclass

from polymat.graph.plan import NestPlan
from polymat.graph.stage import Stage
from polymat.idiom.call import Idiom
from polymat.idiom.transform import Transform


@dataclass(frozen=True, slots=True, eq=False)
class CallPlan(NestPlan):
    """Calls of library routines that compute a stage.

    idiom: the calls.  stage: the stage with what it absorbs put into it, as one reduction.
    loops: the plan of that for what no routine does: empty ranges, a scale of 0 (which must not hide a NaN),
    extents beyond 32 bits, and problems of fewer than `least` points, which the loops are quicker at.
    within: the stages of the group that have no array.  relative: the time of an operation in a call, in
    units of that in a loop.
    """

    idiom: Idiom
    stage: Stage
    loops: NestPlan
    least: float = 0.0
    within: tuple[str, ...] = ()
    relative: float = 1.0

    @property
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that it computes along with the last one, and that have no array."""
        return self.within

    @property
    def slowdown(self) -> float:
        """How many times slower than in a vectorised loop an operation is."""
        return self.relative

    @property
    def routines(self) -> tuple[str, ...]:
        """What is called, without the letter of the type."""
        return tuple(call.routine for call in self.idiom.calls)

    def __str__(self) -> str:
        text = f"{'+'.join(self.group.stages)}: {', '.join(self.routines)}"
        return f"{text} omp({self.parallel})" if self.parallel else text


@dataclass(frozen=True, slots=True, eq=False)
class TransformPlan(NestPlan):
    """A stage as Fourier transforms by a library.

    transform: what is computed.  stage, loops: the same as a sum and its plan, for empty ranges and where the
    library makes no plan.  measured: whether the library may try its plans out.  within: the stages of the
    group that have no array.  relative: the time of an operation of the sum, in units of that in a loop.
    """

    transform: Transform
    stage: Stage
    loops: NestPlan
    measured: bool
    within: tuple[str, ...] = ()
    relative: float = 1.0

    @property
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that it computes along with the last one, and that have no array."""
        return self.within

    @property
    def slowdown(self) -> float:
        """How many times slower than in a vectorised loop an operation is."""
        return self.relative

    @property
    def routines(self) -> tuple[str, ...]:
        """What is called."""
        return ("fft",)

    def __str__(self) -> str:
        text = f"{'+'.join(self.group.stages)}: fft"
        return f"{text} omp({self.parallel})" if self.parallel else text
