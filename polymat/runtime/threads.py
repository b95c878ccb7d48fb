"""How many threads a call uses."""

from __future__ import annotations

import operator
from types import TracebackType
from typing import SupportsIndex

import numpy as np

from polymat.errors import ArgumentError
from polymat.machine.cpus import usable_cpus
from polymat.options import MOST_THREADS
from polymat.runtime import _launch
from polymat.runtime.openmp import quiet_openmp
from polymat.runtime.settings import settings

__all__ = ["default_num_threads", "get_num_threads", "quiet_openmp", "set_num_threads", "threads"]


def set_num_threads(n: SupportsIndex) -> None:
    """Set how many threads calls use, in every Python thread that has not said otherwise with `threads`."""
    _launch.set_num_threads(_checked(n))


def get_num_threads() -> int:
    """The number of threads a call from here would use."""
    return _launch.get_num_threads()


class threads:  # noqa: N801 - used as a statement: `with threads(2):`
    """Use `n` threads for calls inside the `with`, in this Python thread only; may be nested and reused."""

    def __init__(self, n: SupportsIndex) -> None:
        self._count = _checked(n)
        self._previous: list[int] = []

    def __enter__(self) -> threads:
        self._previous.append(_launch.push_threads(self._count))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _launch.pop_threads(self._previous.pop())


def default_num_threads() -> int:
    """OMP_NUM_THREADS, else the processors this process may use; never above OMP_THREAD_LIMIT."""
    asked = settings()
    count = min(asked.omp_num_threads or usable_cpus(), MOST_THREADS)
    return min(count, asked.omp_thread_limit or count)


def _checked(n: SupportsIndex) -> int:
    try:
        count = -1 if isinstance(n, bool | np.bool_) else operator.index(n)
    except TypeError:
        count = -1
    if not 1 <= count <= MOST_THREADS:
        raise ArgumentError(
            f"the number of threads is {n!r:.60}: an integer from 1 to {MOST_THREADS} is needed",
            hint=f"this process may use {usable_cpus()} processors",
        )
    return count


# The launcher starts with one thread; it cannot read the environment or the control groups itself.
_launch.set_num_threads(default_num_threads())
