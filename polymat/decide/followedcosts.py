"""What a step costs that is taken together with others: an answer of `followprices`, for who tells of it."""

from __future__ import annotations

from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.machine.calibrate import LEVELS
from polymat.model.movement import Movement, Traffic
from polymat.tilesize.cost import PlanCost

NEAR = 2  # the level of the cache of one core that holds the rows of steps at work


@dataclass(frozen=True, slots=True, eq=False)
class FollowedCosts:
    """The predicted cost of a step, a stage each, where so many steps share a pass over the arrays."""

    steps: int
    costs: tuple[PlanCost, ...]

    @property
    def seconds(self) -> float:
        """Of a step."""
        return sum(cost.seconds for cost in self.costs)

    def movement(self, alone: Movement) -> Movement:
        """The movement of a step where all share what comes from beyond the cache of a core."""
        traffic = tuple(
            _part(each, self.steps) if each.level in LEVELS[NEAR:] else each for each in alone.traffic
        )
        return replace(alone, traffic=traffic)


def _part(traffic: Traffic, steps: int) -> Traffic:
    volumes = tuple((array, volume / steps) for array, volume in traffic.volumes)
    return Traffic(traffic.level, volumes, traffic.bytes / steps, traffic.seconds / steps)
