"""Where measurements are kept: files beside the compiled libraries, one for each thing that was measured."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from polymat.errors import ToolchainError
from polymat.runtime.cachedir import DIRECTORY_HINT, cache_directory, prepare_directory
from polymat.runtime.settings import settings


def measured_path(kind: str, identity: str, *, suffix: str = ".json") -> Path:
    """The file of what was measured of something; identity tells it from others that share the directory."""
    name = hashlib.sha256(identity.encode("utf-8", errors="surrogateescape")).hexdigest()[:16]
    return cache_directory() / f"{kind}-{name}{suffix}"


def keep_measured(path: Path, write: Callable[[Path], None]) -> Path | None:
    """Have a file written and return it; None when the cache is off or readonly.

    A `ToolchainError` names a file that cannot be written.
    """
    if settings().cache_mode != "on":
        return None
    prepare_directory(path.parent)
    try:
        write(path)
    except OSError as error:
        raise ToolchainError(
            f"cannot write {path}: {error.strerror or error}", hint=DIRECTORY_HINT
        ) from error
    return path
