"""Small files that keep measurements: read whole or not at all, written in one step."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

_MARK = b"# sha256 "
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def open_regular(path: Path, *, ours: bool = True) -> BinaryIO:
    """Open a regular file; an `OSError` for anything else.

    ours: only one that nobody but this user, or root, can have written.  A pipe under that name would be
    waited for without end, a device read without end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if ours and not trusted(status):
            raise PermissionError(errno.EPERM, "somebody else may have written it")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def trusted(status: os.stat_result) -> bool:
    """Tell whether only this user, or root, can have written what has this status."""
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS_WRITE


def read_text(path: Path, *, most_bytes: int) -> str:
    """The text of a file that `write_text` wrote; one without its digest is none.

    An `OSError` when there is none, or what is no file of ours; a `ValueError` when it is too long, no text,
    or not what was written.
    """
    with open_regular(path) as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError("too long")
    text, mark, digest = data.rpartition(_MARK)
    if not mark:
        raise ValueError("damaged: it ends without its SHA-256")
    if digest.strip() != hashlib.sha256(text).hexdigest().encode():
        raise ValueError("damaged: its SHA-256 is another one")
    return text.decode()


def marked(text: bytes) -> bytes:
    """Give the bytes of a file that keeps this text: the text, and its digest."""
    return text + _MARK + hashlib.sha256(text).hexdigest().encode() + b"\n"


def write_text(path: Path, text: str) -> None:
    """Write a file and its digest in one step, readable for its owner; an `OSError` when that cannot be."""
    descriptor, partial = tempfile.mkstemp(prefix=path.stem + "-", suffix=".tmp", dir=path.parent)
    data = marked(text.encode())
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise
