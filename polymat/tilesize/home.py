"""Where the arrays of a pipeline live between its groups, and how fast these come from there.

before:  1.1 MiB do not fit a second level of 1 MiB, so that all comes from the third
after:   four fifths of the lines are in the second level, whose places others have not taken
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import exp

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import MEMORY, Machine
from polymat.memo import remembered
from polymat.plan.tile import Plan
from polymat.tilesize.traffic import home_bytes, nearest_level

_STEPS = 12  # of Newton's method, by which a share is known to three digits and more


@dataclass(frozen=True, slots=True)
class Home:
    """The arrays that groups find their data in: their bytes, and the nearest level that holds them all.

    as_measured: the last level holds as much as was measured, others leaving it free.  Who decides counts on
    the part that the machine states, since others may take the rest; who tells how long a call takes goes by
    the other.
    """

    bytes: float
    level: int
    as_measured: bool = False

    @staticmethod
    def of(
        pipeline: Pipeline,
        machine: Machine,
        estimates: Mapping[str, int],
        plan: Plan | None = None,
        *,
        as_measured: bool = False,
    ) -> Home:
        """Of a pipeline, where a plan keeps planes of states apart that would be one array."""
        size = home_bytes(pipeline, machine, estimates, plan)
        level = nearest_level(machine, size)
        reached = as_measured and level == MEMORY and len(machine.caches) > 2 and size <= machine.reach(3)
        return Home(size, 3 if reached else level, as_measured)

    def seconds(self, moved: float, machine: Machine, threads: int) -> float:
        """To move so many bytes, of which each level has what nearer ones could not keep.

        Threads share the arrays out, so that caches of their own hold more together.
        """
        return moved * _seconds_a_byte(self, machine, threads)


@remembered
def _seconds_a_byte(home: Home, machine: Machine, threads: int) -> float:
    total, beyond = 0.0, 1.0
    for cache in machine.caches:
        room = cache.bytes if cache.shared else cache.bytes * threads
        room = max(room, machine.reach(cache.level)) if home.as_measured else room
        farther = min(beyond, missed(round(home.bytes / room, 2)))
        total += (beyond - farther) / machine.bandwidth(cache.level, threads)
        beyond = farther
    return total + beyond / machine.bandwidth(MEMORY, threads)


# Of a number, for all pipelines alike.
@lru_cache(maxsize=4096)
def missed(times: float) -> float:
    """The share of lines that a cache does not have any more when all of so many times its size come again.

    A line that is fetched takes the place of any other one.  Of m times as many lines as there are places one
    stays with a probability of exp(-m), and m is `times` the share that is fetched.
    """
    if times <= 1.0:
        return 0.0
    share = 1.0
    for _ in range(_STEPS):
        kept = exp(-times * share)
        share += (1.0 - share - kept) / (1.0 - times * kept)
    return share
