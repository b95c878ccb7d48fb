"""A lock between processes that helps and is never needed: without it work is done twice, not wrongly."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_log = logging.getLogger("polymat.cache")
_WAIT_SECONDS = 60.0
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05


@contextmanager
def bucket_lock(path: Path, wait_seconds: float = _WAIT_SECONDS) -> Iterator[bool]:
    """Hold the lock file `path`; yields False when locks do not work or a holder does not let go in time."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        _log.debug("no lock %s: %s", path, error)
        yield False
        return
    try:
        locked = _acquire(descriptor, wait_seconds)
        try:
            yield locked
        finally:
            # In so many words: a child forked meanwhile shares the descriptor and would hold the lock on.
            if locked:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, wait_seconds: float) -> bool:
    """Poll rather than block, so that a stopped holder cannot stop everyone else."""
    deadline = time.monotonic() + wait_seconds
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() >= deadline:
                _log.debug("no lock: %s", error)
                return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
