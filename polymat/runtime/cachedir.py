"""Where compiled libraries are kept, and whether that place can be trusted."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from polymat.errors import ToolchainError
from polymat.machine.keptfile import trusted
from polymat.runtime.settings import settings

DIRECTORY_HINT = "POLYMAT_CACHE_DIR names another directory; POLYMAT_CACHE=off does without one"
PARTIAL_SUFFIX = ".partial"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_directory() -> Path:
    """POLYMAT_CACHE_DIR, else XDG_CACHE_HOME/polymat, else ~/.cache/polymat, else one for this user alone.

    The last lies in the temporary directory, for processes without a home.
    """
    asked = settings()
    if asked.cache_dir:
        return Path(os.path.abspath(os.path.expanduser(asked.cache_dir)))
    if os.path.isabs(asked.xdg_cache_home):
        return Path(asked.xdg_cache_home) / "polymat"
    if os.path.isabs(asked.home) and os.path.isdir(asked.home):
        return Path(asked.home) / ".cache" / "polymat"
    return Path(tempfile.gettempdir()) / f"polymat-{os.geteuid()}"


def prepare_directory(directory: Path) -> None:
    """Make the directory exist, for its owner alone; a `ToolchainError` names it when that cannot be."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.stat(directory)
        if status.st_uid == os.geteuid() and status.st_mode & _OTHERS_WRITE:
            os.chmod(directory, stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)
            status = os.stat(directory)
        no_exec = os.statvfs(directory).f_flag & os.ST_NOEXEC
    except OSError as error:
        raise ToolchainError(
            f"cannot use the cache directory {directory}: {error.strerror or error}", hint=DIRECTORY_HINT
        ) from error
    if not trusted(status):
        raise ToolchainError(
            f"the cache directory {directory} belongs to user {status.st_uid} or can be written by others, "
            "who could put their code into this process",
            hint=DIRECTORY_HINT,
        )
    if no_exec:
        raise ToolchainError(
            f"the cache directory {directory} is mounted noexec: no library in it can be loaded",
            hint=DIRECTORY_HINT,
        )


def new_workplace(directory: Path, name: str) -> Path:
    """A directory to make something in that is kept under this name.

    Others find this process in its name: what a killed one left goes when the cache is cleared, or is old.
    """
    prefix = f"{name}-{os.getpid()}-"
    return Path(tempfile.mkdtemp(suffix=PARTIAL_SUFFIX, prefix=prefix, dir=directory))


def directory_trusted(directory: Path) -> bool:
    """Tell whether the directory exists and `trusted` holds for it."""
    try:
        return trusted(os.stat(directory))
    except OSError:
        return False
