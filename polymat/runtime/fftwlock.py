"""The lock of FFTW's planner, which all compiled libraries of this process share."""

from __future__ import annotations

import ctypes
import os
from functools import cache

# `_pm_planner_state` in polymat.codegen.routines.fftw: a counter, then the lock.
_LOCK_OFFSET = 8


# One lock that all planners of the process share.
@cache
def planner_state() -> int:
    """The address of the planner's state; who forks holds its lock, so that a child finds it free.

    It is never freed, since libraries that are still loaded when the process ends use it.
    """
    libc = ctypes.PyDLL(None)
    libc.calloc.restype = ctypes.c_void_p
    libc.calloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
    address = libc.calloc(1, 256)  # a mutex of zeros is one at rest, here as in glibc's initialiser
    if not address:
        raise MemoryError
    # A CDLL lets go of the interpreter while it waits: who plans may need it to go on.
    mutex = ctypes.CDLL(None)
    lock = address + _LOCK_OFFSET
    for name in ("pthread_mutex_lock", "pthread_mutex_unlock"):
        getattr(mutex, name).argtypes = (ctypes.c_void_p,)
    os.register_at_fork(
        before=lambda: mutex.pthread_mutex_lock(lock),
        after_in_child=lambda: mutex.pthread_mutex_unlock(lock),
        after_in_parent=lambda: mutex.pthread_mutex_unlock(lock),
    )
    return int(address)


def measured_plans() -> int:
    """How many plans were found by measuring."""
    return ctypes.c_int.from_address(planner_state()).value
