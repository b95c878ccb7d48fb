"""The store of compiled libraries: content-addressed, verified before use, bounded, safe between processes.

An entry is one file, `<key>.so`, or `<key>.o` for an object file that several libraries share, or
`<key>.outline` for what `polymat.runtime.outlines` keeps: the ELF image, then the SHA-256 of key and image,
then a magic number.  What follows an image does not matter to the loader,
so the file is loaded as it is; the digest is checked before, because the loader dies on a truncated or
damaged file.  A file that fails the check is rebuilt and replaced.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.machine.keptfile import trusted
from polymat.runtime.cachedir import (
    DIRECTORY_HINT,
    cache_directory,
    directory_trusted,
    new_workplace,
    prepare_directory,
)
from polymat.runtime.cacheroom import (
    LIBRARY,
    OBJECT,
    evict,
)
from polymat.runtime.filelock import bucket_lock
from polymat.runtime.settings import settings
from polymat.runtime.workplaces import no_room, scratch_directory

__all__ = [
    "Fetched",
    "cache_directory",
    "cache_key",
    "fetch",
    "fetch_or_build",
    "replace_kept",
]

_log = logging.getLogger("polymat.cache")
_FORMAT = "polymat-cache-1"
_MAGIC = b"\0polymat\x01"
_TRAILER_BYTES = hashlib.sha256().digest_size + len(_MAGIC)
_LOCKS = {LIBRARY: "lock", OBJECT: "part"}  # who makes a library holds its lock while its parts are made
_TOUCH_SECONDS = 60.0
_BUCKETS = 64

Builder = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A library ready to be loaded.

    image: its ELF bytes, which outlive the file.
    scratch: a private directory that holds a file outside the cache; whoever loads it removes this after.
    """

    path: Path
    image: bytes
    hit: bool
    scratch: Path | None = None


def cache_key(source: str, flags: tuple[str, ...], compiler_identity: str, cpu: str) -> str:
    """Hash of everything that can change the compiled code, in hexadecimal."""
    digest = hashlib.sha256()
    for part in (_FORMAT, source, compiler_identity, cpu, *flags):
        data = part.encode("utf-8", errors="surrogateescape")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def fetch_or_build(key: str, build: Builder, suffix: str = LIBRARY) -> Fetched:
    """Fetch the file kept as `key`, when it is there and whole, else store the one that `build(path)` makes.

    With POLYMAT_CACHE=off, or for a miss when it is readonly, the file lies in `Fetched.scratch`.
    """
    mode = settings().cache_mode
    if mode == "off":
        return _build_in_scratch(build)
    directory = cache_directory()
    if mode == "readonly":
        image = _verified_image(directory / (key + suffix), key) if directory_trusted(directory) else None
        if image is None:
            return _build_in_scratch(build)
        return Fetched(directory / (key + suffix), image, hit=True)
    prepare_directory(directory)
    path = directory / (key + suffix)
    image = _hit(path, key, warn=False)  # what is wrong is said below, where it is mended
    if image is not None:
        return Fetched(path, image, hit=True)
    with bucket_lock(directory / f"{_LOCKS[suffix]}-{int(key[:8], 16) % _BUCKETS:02d}"):
        image = _hit(path, key)
        if image is not None:
            return Fetched(path, image, hit=True)
        image = _build_and_store(path, key, build, again=True)
    evict(directory, settings().cache_limit_bytes, keep=[path])
    return Fetched(path, image, hit=False)


def fetch(key: str, suffix: str, *, warn: bool = True) -> Fetched | None:
    """The file kept as `key`, when it is there and whole; warn: say so where it is not whole."""
    directory, mode = cache_directory(), settings().cache_mode
    if mode == "off" or not directory_trusted(directory):
        return None
    path = directory / (key + suffix)
    image = (_verified_image if mode == "readonly" else _hit)(path, key, warn=warn)
    return None if image is None else Fetched(path, image, hit=True)


def replace_kept(key: str, image: bytes, suffix: str, beside: Path) -> None:
    """Keep these bytes as `key`, whatever was kept so before, and the file that is useful with them."""
    directory = cache_directory()
    prepare_directory(directory)
    path = directory / (key + suffix)
    _build_and_store(path, key, lambda to: _write(to, image), again=True)
    evict(directory, settings().cache_limit_bytes, keep=[path, beside])


def _write(path: Path, image: bytes) -> None:
    path.write_bytes(image)


def _hit(path: Path, key: str, *, warn: bool = True) -> bytes | None:
    image = _verified_image(path, key, warn=warn)
    if image is not None:
        _touch(path)
        _log.debug("hit %s", path)
    return image


def _silent(*_: object) -> None:
    pass


def _verified_image(path: Path, key: str, *, warn: bool = True) -> bytes | None:
    """The ELF image of an entry, or None when it is missing, not ours or not whole."""
    complain = _log.warning if warn else _silent
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or not trusted(status):
                complain("ignored %s: not a file that only its owner can write", path)
                return None
            data = stream.read()
    except OSError as error:
        complain("ignored %s: %s", path, error)
        return None
    image, trailer = data[:-_TRAILER_BYTES], data[-_TRAILER_BYTES:]
    if trailer != _trailer(key, image):
        complain("ignored %s: damaged, will be rebuilt", path)
        return None
    return image


def _trailer(key: str, image: bytes) -> bytes:
    return hashlib.sha256(key.encode() + image).digest() + _MAGIC


def _touch(path: Path) -> None:
    """Note the use of an entry, at most once a minute."""
    try:
        if time.time() - os.stat(path).st_mtime > _TOUCH_SECONDS:
            os.utime(path)
    except OSError:
        pass


def _build_and_store(path: Path, key: str, build: Builder, *, again: bool = False) -> bytes:
    """Build beside the entry, add the trailer and move into place in one step.

    again: once more where the directory is gone meanwhile: somebody cleared it with other tools.
    """
    try:
        # A directory, because a linker may create its output so that others can write to it.
        workplace = new_workplace(path.parent, key[:16])
    except OSError as error:
        raise _storage_error(path.parent, error) from error
    partial = workplace / ("library" + path.suffix)
    try:
        build(partial)
        image = partial.read_bytes()
        with partial.open("ab") as stream:
            stream.write(_trailer(key, image))
        os.chmod(partial, 0o700)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        os.replace(partial, path)
    except OSError as error:  # `ToolchainError` is one
        if again and not workplace.is_dir():
            _log.info("%s is gone: compiling once more", workplace)
            prepare_directory(path.parent)
            return _build_and_store(path, key, build)
        if isinstance(error, ToolchainError):
            raise
        raise _storage_error(path.parent, error) from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    _log.debug("stored %s", path)
    return image


def _build_in_scratch(build: Builder) -> Fetched:
    scratch = scratch_directory("polymat-library-")
    try:
        path = scratch / ("library" + LIBRARY)
        build(path)
        return Fetched(path, path.read_bytes(), hit=False, scratch=scratch)
    except BaseException as error:
        shutil.rmtree(scratch, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, ToolchainError):
            raise no_room("the library", scratch, error) from error
        raise


def _storage_error(directory: Path, error: OSError) -> ToolchainError:
    return ToolchainError(f"cannot write to {directory}: {error.strerror or error}", hint=DIRECTORY_HINT)
