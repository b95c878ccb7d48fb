"""Small files that keep measurements: read whole or not at all, written in one step."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def read_text(path: Path, *, most_bytes: int) -> str:
    """The text of a file; an `OSError` when there is none, a `ValueError` when it is too long or no text."""
    with path.open("rb") as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError("too long")
    return data.decode()


def write_text(path: Path, text: str) -> None:
    """Write a file in one step, readable for its owner; an `OSError` when that cannot be."""
    descriptor, partial = tempfile.mkstemp(prefix=path.stem + "-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise
