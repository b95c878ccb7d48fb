"""What FFTW learned by measuring plans, kept beside the compiled libraries for later processes."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import os
import tempfile
from functools import partial
from pathlib import Path

from polymat.runtime.cachedir import cache_directory, directory_trusted, prepare_directory, trusted
from polymat.runtime.calibration import fingerprint
from polymat.runtime.measured import measured_path
from polymat.runtime.planner import measured_plans
from polymat.runtime.providers import Provider
from polymat.runtime.settings import settings

_log = logging.getLogger("polymat.libraries")
_PREFIXES = ("fftw", "fftwf")
_known: set[int] = set()


def use_wisdom(fftw: Provider) -> None:
    """Give the library what earlier processes learned, and keep at the end what this one does; once."""
    if id(fftw) in _known:
        return
    _known.add(id(fftw))  # providers stay as long as the process
    for prefix in _PREFIXES:
        path = wisdom_path(fftw, prefix)
        if settings().cache_mode != "off" and _is_ours(path):
            _call(fftw, f"{prefix}_import_wisdom_from_filename", path)
    atexit.register(partial(keep_wisdom, fftw))


def keep_wisdom(fftw: Provider) -> None:
    """Write what was learned, if any plan was measured and the cache may be written."""
    with contextlib.suppress(OSError):
        if not measured_plans() or settings().cache_mode != "on":
            return
        prepare_directory(cache_directory())
        for prefix in _PREFIXES:
            _export(fftw, prefix, wisdom_path(fftw, prefix))


def wisdom_path(fftw: Provider, prefix: str) -> Path:
    """The file of one precision, for this library on this processor."""
    return measured_path("wisdom", f"{fingerprint()}|{fftw}|{prefix}", suffix=".txt")


def _is_ours(path: Path) -> bool:
    try:
        return directory_trusted(path.parent) and trusted(path.stat())
    except OSError:
        return False


def _export(fftw: Provider, prefix: str, path: Path) -> None:
    """In one step: a file beside it, then renamed."""
    descriptor, partial_name = tempfile.mkstemp(prefix=path.stem + "-", suffix=".tmp", dir=path.parent)
    os.close(descriptor)
    try:
        if _call(fftw, f"{prefix}_export_wisdom_to_filename", Path(partial_name)):
            os.replace(partial_name, path)
            _log.debug("kept what was learned about transforms in %s", path)
            return
    except BaseException:
        os.unlink(partial_name)
        raise
    os.unlink(partial_name)


def _call(fftw: Provider, routine: str, path: Path) -> bool:
    """Call a routine that takes the name of a file and tells whether it succeeded."""
    address = fftw.address(routine)
    if address is None:
        return False
    return bool(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(address)(os.fsencode(path)))
