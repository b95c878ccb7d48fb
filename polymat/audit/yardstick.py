"""Whether the processor computes as fast as it did before: what else runs on a core halves what is measured.

Of a virtual machine the other thread of a core may be somebody else's, for seconds or minutes: the clock and
latencies stay, and all that fills the units of a core takes half as long again.  Predictions are of a core
alone.
"""

from __future__ import annotations

import time
from dataclasses import field

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass

SIDE = 48  # of the matrices: a product takes some 5 us, in the first-level cache, on one thread
TIMES = 3  # of which the least counts, for what interrupts one
DISTURBED = 1.15  # times the least there ever was, beyond which something else computes there, too


@dataclass(slots=True)
class Yardstick:
    """A product of matrices that is timed again and again.

    least: seconds of the quickest one so far.
    """

    least: float = float("inf")
    _operands: tuple[npt.NDArray[np.float64], ...] = field(
        default_factory=lambda: tuple(np.ones((SIDE, SIDE)) for _ in range(3))
    )

    def is_calm(self) -> bool:
        """Time it; whether it takes about as long as ever."""
        now = min(self._seconds() for _ in range(TIMES))
        self.least = min(self.least, now)
        return now <= DISTURBED * self.least

    def _seconds(self) -> float:
        left, right, result = self._operands
        begin = time.perf_counter()
        np.matmul(left, right, out=result)
        return time.perf_counter() - begin


YARDSTICK = Yardstick()
