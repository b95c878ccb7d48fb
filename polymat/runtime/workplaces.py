"""Directories for the files of one compilation, in the system's place for temporary ones."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

from polymat.errors import ToolchainError

_PREFIXES = ("polymat-cc-", "polymat-link-", "polymat-library-")
_KEPT_SECONDS = 24 * 3600.0  # for who reads the source of a compilation that failed
_HINT = "TMPDIR names another directory"


def scratch_directory(prefix: str) -> Path:
    """A new directory, to be removed by whoever asks for it; a `ToolchainError` where none can be made."""
    try:
        _sweep(tempfile.gettempdir())
        return Path(tempfile.mkdtemp(prefix=prefix))
    except OSError as error:
        raise ToolchainError(f"cannot create a temporary directory: {error}", hint=_HINT) from error


# Files of other processes, left long ago: once a process is often enough.
@cache
def _sweep(place: str) -> None:
    """Remove what killed processes and failed compilations of this user left long ago; once a process."""
    before = time.time() - _KEPT_SECONDS
    with contextlib.suppress(OSError), os.scandir(place) as found:
        for item in found:
            if item.name.startswith(_PREFIXES):
                with contextlib.suppress(OSError):
                    status = item.stat(follow_symlinks=False)
                    if status.st_uid == os.geteuid() and status.st_mtime < before:
                        shutil.rmtree(item.path, ignore_errors=True)


def no_room(what: str, directory: Path, error: OSError) -> ToolchainError:
    """Say that something could not be written to a temporary directory."""
    return ToolchainError(f"cannot write {what} to {directory}: {error.strerror or error}", hint=_HINT)
