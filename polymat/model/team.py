"""When a parallel region pays: estimated scalar operations that take as long as sharing work does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.machine.model import Machine

OPERATIONS_A_CYCLE = 1.5  # and a vector lane, loads counted: what sums over the second-level cache reach
BLOCKS = 4.0  # times as many in the register blocks of products, ours or a library's, that nobody priced
REGION_SHARE = 4.0  # what sharing work costs in all, as a multiple of an empty region, at the least
DOUBLE_BYTES = 8


@dataclass(frozen=True, slots=True)
class TeamCost:
    """The cost of a parallel region, in scalar operations of vectorised loops.

    awake: when the threads still wait for work.  asleep: when they have to be woken.  meeting: the time in
    which all threads meet, and nothing is shared.  lanes: how many operations of a vectorised loop take as
    long as one of a loop that is not.
    speeds: operations a second of groups, by their stages, as a multiple of those of vectorised loops.
    """

    awake: float
    asleep: float
    meeting: float
    lanes: int
    speeds: tuple[tuple[tuple[str, ...], float], ...] = ()

    def speed(self, stages: Sequence[str], otherwise: float) -> float:
        """The speed of a group as it was predicted, or `otherwise` of one that nobody priced."""
        return dict(self.speeds).get(tuple(stages), otherwise)

    @property
    def least(self) -> float:
        """Work of a call that is worth no region, whichever of its groups does it."""
        return self.worth(min((1 / self.lanes, *(speed for _, speed in self.speeds))))[0]

    def worth(self, speed: float) -> tuple[float, float]:
        """Work at some speed that takes as long as a region whose threads wait for it, or are asleep.

        To four digits: those of two times two, without what rounding adds to them in C.
        """
        return float(f"{self.awake * speed:.4g}"), float(f"{self.asleep * speed:.4g}")


UNKNOWN = TeamCost(100_000.0, 1_000_000.0, 25_000.0, 4)  # of a machine that nothing is known about


def sharing_seconds(machine: Machine) -> float:
    """The cost of sharing work out to threads that are awake: they meet, and data changes cores.

    No less than `REGION_SHARE` says: what is timed are the same few pages again and again, by threads that do
    nothing else.
    """
    return max(machine.share_seconds, REGION_SHARE * machine.region_seconds)


def operations_a_second(machine: Machine) -> float:
    """Operations of vectorised loops on doubles."""
    return OPERATIONS_A_CYCLE * machine.lanes(DOUBLE_BYTES) * machine.hertz


def team_cost(machine: Machine, speeds: Mapping[tuple[str, ...], float] | None = None) -> TeamCost:
    """The cost of parallel regions on a machine, to two digits."""
    rate, awake = operations_a_second(machine), sharing_seconds(machine)
    return TeamCost(
        rounded(awake * rate),
        rounded((awake + machine.wake_seconds) * rate),
        rounded(machine.region_seconds * rate),
        machine.lanes(DOUBLE_BYTES),
        tuple((speeds or {}).items()),
    )


def rounded(value: float) -> float:
    """Two digits are known; more would only make the C text differ from one calibration to the next."""
    return float(f"{value:.1e}")
