"""Copies of BLAS and FFT libraries that belong to polymat alone, so that nobody else's settings meet ours.

The dynamic loader answers with a library that is loaded already when it hears of the same file again, with
the threads that somebody else gave it, or with a planner that somebody else uses.  Another file with
the same contents is another library.  It is called after polymat: tools that go through a process and set
threads go by names.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import logging
import os
import re
import shutil
import stat
import struct
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from polymat.machine.keptfile import open_regular
from polymat.runtime.cachedir import cache_directory, new_workplace, prepare_directory
from polymat.runtime.settings import settings

_log = logging.getLogger("polymat.libraries")
DIRECTORY = "libraries"
_TRUSTING = "polymat-copy"  # the name of a thread
_PIECE = 1 << 20
_ELF = b"\x7fELF"
_64_BIT, _LITTLE_ENDIAN = 2, 1  # in the fifth and the sixth byte
_HEADER, _SEGMENT = 64, 56  # bytes of them in 64-bit libraries
_RTLD_LOCAL_NOW = os.RTLD_NOW | os.RTLD_LOCAL


def open_private(path: Path, environment: Mapping[str, str]) -> ctypes.CDLL:
    """Load a copy of a library under further environment variables; OSError when that cannot be.

    The variables are seen by the library alone: the process gets its environment back.  The library stays
    loaded.
    """
    _check_library(path)
    with _copy(path) as copy, _variables(environment):
        return ctypes.CDLL(str(copy), mode=_RTLD_LOCAL_NOW)


def _check_library(path: Path) -> None:
    """OSError for what is not worth a copy: another file's contents, or a device, which may have no end."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    with path.open("rb") as file:
        header = file.read(_HEADER)
        if not header.startswith(_ELF):
            raise OSError(errno.ENOEXEC, "it is no shared library")
        if status.st_size < _stated_size(header, file):
            raise OSError(errno.ENOEXEC, "it is cut off")


def _stated_size(header: bytes, file: BinaryIO) -> int:
    """Bytes that a library of 64-bit code says it has; the process dies when it is loaded and lacks some."""
    if len(header) < _HEADER:
        return _HEADER
    if header[4] != _64_BIT:
        return 0
    order = "<" if header[5] == _LITTLE_ENDIAN else ">"
    table: int = struct.unpack_from(f"{order}Q", header, 32)[0]
    size, count = map(int, struct.unpack_from(f"{order}HH", header, 54))
    file.seek(table)
    segments = file.read(size * count)
    if size < _SEGMENT or len(segments) < size * count:
        return table + size * count + _SEGMENT
    parts = (segments[at : at + size] for at in range(0, len(segments), size))
    ends: Iterator[int] = (sum(struct.unpack_from(f"{order}Q16xQ", part, 8)) for part in parts)
    return max(ends, default=0)


@contextlib.contextmanager
def _copy(path: Path) -> Iterator[Path]:
    """A file with these contents; kept with the compiled libraries, or else only as long as it is used."""
    status = path.stat()
    identity = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}"
    stem = re.sub(r"^(lib)?(scipy_)?|\.so.*$", "", path.name)
    name = f"polymat-{stem}-{hashlib.sha256(identity.encode(errors='surrogateescape')).hexdigest()[:16]}.so"
    kept = None
    if settings().cache_mode == "on":
        with contextlib.suppress(OSError):  # `ToolchainError` is one: the directory cannot be used
            kept = _kept(path, name)
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="polymat-") as directory:
        yield Path(shutil.copyfile(path, Path(directory) / name))


def _kept(path: Path, name: str) -> Path:
    place = cache_directory()
    directory = place / DIRECTORY
    prepare_directory(place)
    prepare_directory(directory)
    kept = directory / name
    with contextlib.suppress(OSError):
        if _is_copy(kept, path):
            return kept
        _log.info("%s is not what was copied from %s: copied anew", kept, path)
    workplace = new_workplace(place, name)
    try:
        partial = workplace / name
        source = path.stat()
        shutil.copyfile(path, partial)  # within the kernel, where that can be
        os.chmod(partial, 0o700)
        copy = os.stat(partial)
        os.replace(partial, kept)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    waits = threading.Thread(target=_trust, args=(kept, copy, source), name=_TRUSTING, daemon=True)
    with contextlib.suppress(RuntimeError):  # no further thread: who uses it next compares it
        waits.start()
    return kept


def _trust(kept: Path, copy: os.stat_result, source: os.stat_result) -> None:
    """Mark a copy once the disk has it, which takes long, unless it changed."""
    with contextlib.suppress(OSError), open_regular(kept) as file:
        os.fsync(file.fileno())
        now = os.fstat(file.fileno())
        if (now.st_ino, now.st_mtime_ns) == (copy.st_ino, copy.st_mtime_ns):
            _mark(file, source)


def _is_copy(kept: Path, path: Path) -> bool:
    """Whether a file has the contents of another one: the process dies of a library that is damaged.

    A copy has the time of what it was copied from as soon as the disk has it, until somebody writes to it; of
    those tens of megabytes nothing is read while they are alike.
    """
    if kept.is_symlink():
        return False
    with open_regular(kept) as copy, path.open("rb") as source:
        now, before = os.fstat(copy.fileno()), os.fstat(source.fileno())
        if now.st_size != before.st_size:
            return False
        if now.st_mtime_ns == before.st_mtime_ns:
            return True
        while piece := source.read(_PIECE):
            if copy.read(_PIECE) != piece:
                return False
        _mark(copy, before)
    return True


def _mark(copy: BinaryIO, source: os.stat_result) -> None:
    """Give a copy, which has the right contents, the time of its source, unless it is another user's.

    The disk has it then: a file cut off by a power failure would kill who loads it.
    """
    with contextlib.suppress(OSError):
        os.fsync(copy.fileno())
        os.utime(copy.fileno(), ns=(source.st_atime_ns, source.st_mtime_ns))


@contextlib.contextmanager
def _variables(environment: Mapping[str, str]) -> Iterator[None]:
    """Have these variables in the environment of C, which libraries read; `os.environ` never shows them."""
    for name, value in environment.items():
        os.putenv(name, value)
    try:
        yield
    finally:
        for name in environment:
            before = os.environ.get(name)
            if before is None:
                os.unsetenv(name)
            else:
                os.putenv(name, before)
