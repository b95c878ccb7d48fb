"""When a parallel region pays: estimated scalar operations that take as long as entering one does."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.machine.model import Machine

OPERATIONS_A_CYCLE = 1.5  # and a vector lane, loads counted: what sums over the second-level cache reach
BLOCKS = 4.0  # times as many in the register blocks of products, ours or a library's
REGION_SHARE = 4.0  # what sharing work costs in all, as a multiple of an empty region: data changes cores
DOUBLE_BYTES = 8


@dataclass(frozen=True, slots=True)
class TeamCost:
    """The cost of a parallel region, in scalar operations of vectorised loops.

    awake: when the threads still wait for work.  asleep: when they have to be woken.  lanes: how many
    operations of a vectorised loop take as long as one of a loop that is not.
    """

    awake: float
    asleep: float
    lanes: int

    @property
    def meeting(self) -> float:
        """The time in which all threads meet, and nothing is shared."""
        return self.awake / REGION_SHARE


UNKNOWN = TeamCost(100_000.0, 1_000_000.0, 4)  # of a machine that nothing is known about


def team_cost(machine: Machine) -> TeamCost:
    """The cost of parallel regions on a machine, to two digits."""
    lanes = machine.lanes(DOUBLE_BYTES)
    rate = OPERATIONS_A_CYCLE * lanes * machine.hertz
    awake = REGION_SHARE * machine.region_seconds
    return TeamCost(_rounded(awake * rate), _rounded((awake + machine.wake_seconds) * rate), lanes)


def _rounded(value: float) -> float:
    """Two digits are known; more would only make the C text differ from one calibration to the next."""
    return float(f"{value:.1e}")
