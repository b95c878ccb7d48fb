"""Which files the store of libraries holds, and which go when they are too many."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from polymat.dataclass import dataclass
from polymat.runtime.cachedir import PARTIAL_SUFFIX, cache_directory
from polymat.runtime.private import DIRECTORY as COPIES

_log = logging.getLogger("polymat.cache")
LIBRARY, OBJECT, OUTLINE = ".so", ".o", ".outline"
_KEPT = (LIBRARY, OBJECT, OUTLINE)
_PARTIAL_SECONDS = 3600.0
# A process that found room looks at a directory again when it has stored such a share of that itself: a look
# at thousands of files took as long as a compiler's start, and other processes may have stored as much.
_SHARE = 8
# By directory and limit: bytes that may be stored until then.
_UNTIL_NEXT_LOOK: dict[tuple[Path, int], int] = {}


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A library, object file or outline; `last_used` is seconds since the epoch, right to a minute."""

    key: str
    path: Path
    bytes: int
    last_used: float


def entries() -> tuple[CacheEntry, ...]:
    """Every stored file, the longest unused first; whether each is whole is not checked."""
    return tuple(sorted(_scan(cache_directory()), key=lambda entry: (entry.last_used, entry.key)))


def clear() -> int:
    """Remove what is stored, the copies of BLAS and FFT libraries, and what killed processes left.

    Return how many stored files went.
    """
    directory = cache_directory()
    removed = sum(_remove(entry.path) for entry in _scan(directory))
    _remove_partials(directory, abandoned=True)
    shutil.rmtree(directory / COPIES, ignore_errors=True)
    return removed


def _scan(directory: Path) -> Iterator[CacheEntry]:
    try:
        listing = list(os.scandir(directory))
    except OSError:
        return
    for item in listing:
        if item.name.endswith(_KEPT):
            try:
                status = item.stat(follow_symlinks=False)
            except OSError:
                continue
            path = Path(item.path)
            yield CacheEntry(path.stem, path, status.st_size, status.st_mtime)


def evict(directory: Path, limit: int, keep: Collection[Path]) -> None:
    """Remove the longest unused entries until the rest fits the limit; those just built stay.

    A process looks when it stores for the first time, and then as often as little room is left; at names and
    sizes alone where there is room.
    """
    left = _UNTIL_NEXT_LOOK.get((directory, limit), 0) - sum(map(_bytes, keep))
    if left >= 0:
        _UNTIL_NEXT_LOOK[directory, limit] = left
        return
    stored, partials = _stored(directory)
    _UNTIL_NEXT_LOOK[directory, limit] = max(limit - stored, 0) // _SHARE
    if stored > limit:
        _evict_oldest(directory, limit, keep)
    if partials:
        _remove_partials(directory)


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _stored(directory: Path) -> tuple[int, bool]:
    """Bytes of all entries, and whether somebody works there, or was killed at it."""
    stored, partials = 0, False
    try:
        with os.scandir(directory) as listing:
            for item in listing:
                if item.name.endswith(_KEPT):
                    with suppress(OSError):  # another process removed it
                        stored += item.stat(follow_symlinks=False).st_size
                partials |= item.name.endswith(PARTIAL_SUFFIX)
    except OSError:
        pass
    return stored, partials


def _evict_oldest(directory: Path, limit: int, keep: Collection[Path]) -> None:
    found = sorted(_scan(directory), key=lambda entry: (entry.last_used, entry.key))
    excess = sum(entry.bytes for entry in found) - limit
    for entry in found:
        if excess <= 0:
            break
        if entry.path not in keep and _remove(entry.path):
            _log.debug("evicted %s", entry.path)
            excess -= entry.bytes


def _remove_partials(directory: Path, *, abandoned: bool = False) -> None:
    """Remove what killed processes left behind long ago; abandoned: whenever they have ended."""
    now = time.time()
    for partial in directory.glob("*" + PARTIAL_SUFFIX):
        try:
            old = now - partial.stat().st_mtime >= _PARTIAL_SECONDS
            if old or (abandoned and not _is_worked_in(partial)):
                shutil.rmtree(partial, ignore_errors=True)
        except OSError:
            continue


def _is_worked_in(workplace: Path) -> bool:
    """Whether the process that made a workplace, which is named in it, runs."""
    owner, *_ = workplace.name.split("-")[-2:]
    if not owner.isdecimal():
        return False
    try:
        os.kill(int(owner), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True
