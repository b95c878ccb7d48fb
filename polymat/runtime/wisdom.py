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

from polymat.machine.keptfile import read_text, write_text
from polymat.runtime.cachedir import cache_directory, directory_trusted, prepare_directory
from polymat.runtime.calibration import fingerprint
from polymat.runtime.fftwlock import measured_plans
from polymat.runtime.measurementfiles import measured_path
from polymat.runtime.providers import Provider
from polymat.runtime.settings import settings

_log = logging.getLogger("polymat.libraries")
_PREFIXES = ("fftw", "fftwf")
_MOST_BYTES = 1 << 24
_known: set[int] = set()


def use_wisdom(fftw: Provider) -> None:
    """Give the library what earlier processes learned, and keep at the end what this one does; once."""
    if id(fftw) in _known:
        return
    _known.add(id(fftw))  # providers stay as long as the process
    for prefix in _PREFIXES:
        path = wisdom_path(fftw, prefix)
        if settings().cache_mode != "off" and directory_trusted(path.parent):
            _import(fftw, prefix, path)
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


def _import(fftw: Provider, prefix: str, path: Path) -> None:
    """Hand on what a file has, unless it is not what was written."""
    try:
        text = read_text(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        _log.debug("no plans of transforms: %s", error)
    except ValueError as error:
        _log.warning("ignored %s: %s", path, error)
    else:
        address = fftw.address(f"{prefix}_import_wisdom_from_string")
        if address is not None:
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(address)(text.encode())


def _export(fftw: Provider, prefix: str, path: Path) -> None:
    """In one step: a file beside it, then renamed."""
    routine = fftw.address(f"{prefix}_export_wisdom_to_filename")
    if routine is None:
        return
    descriptor, partial_name = tempfile.mkstemp(prefix=path.stem + "-", suffix=".tmp", dir=path.parent)
    os.close(descriptor)
    try:
        if ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(routine)(os.fsencode(partial_name)):
            write_text(path, Path(partial_name).read_text(encoding="ascii"))
            _log.debug("kept what was learned about transforms in %s", path)
    finally:
        os.unlink(partial_name)
