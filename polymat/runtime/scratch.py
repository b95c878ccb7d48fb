"""Directories for the files of one compilation, in the system's place for temporary ones."""

from __future__ import annotations

import tempfile
from pathlib import Path

from polymat.errors import ToolchainError

_HINT = "TMPDIR names another directory"


def scratch_directory(prefix: str) -> Path:
    """A new directory, to be removed by whoever asks for it; a `ToolchainError` where none can be made."""
    try:
        return Path(tempfile.mkdtemp(prefix=prefix))
    except OSError as error:
        raise ToolchainError(f"cannot create a temporary directory: {error}", hint=_HINT) from error


def no_room(what: str, directory: Path, error: OSError) -> ToolchainError:
    """Say that something could not be written to a temporary directory."""
    return ToolchainError(f"cannot write {what} to {directory}: {error.strerror or error}", hint=_HINT)
