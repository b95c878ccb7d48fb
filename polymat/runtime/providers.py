"""The BLAS and the FFT library whose routines generated code calls: chosen, loaded and tried out.

POLYMAT_BLAS and POLYMAT_FFT say which: "auto" or nothing, "none", a name that `doctor` shows (openblas, blis,
mkl, fftw3), or paths of files separated by colons.  With "auto", libraries are tried in the order in which
they are found; one that cannot be loaded, lacks products or computes wrong results is left out and warned of.
Every routine is tried out when a program that calls it is decided about or loaded, once in a process.
"""

from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.idiom.librarymodel import Kind
from polymat.runtime.libraries import Library, found_libraries
from polymat.runtime.libraryversion import address_of, configuration, version_of
from polymat.runtime.private import open_private
from polymat.runtime.settings import Settings, settings

if TYPE_CHECKING:
    from polymat.runtime.ffttest import Find

_log = logging.getLogger("polymat.libraries")
# One thread: what is shared out is shared out by generated code.
_ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "blas": {
        "OPENBLAS_NUM_THREADS": "1",
        "GOTO_NUM_THREADS": "1",
        "BLIS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    },
    "fft": {},
}
_MKL_SEQUENTIAL, _MKL_LP64 = 1, 0
_LONG_BITS = 64
_VARIABLES: Mapping[Kind, str] = {"blas": "POLYMAT_BLAS", "fft": "POLYMAT_FFT"}


@dataclass(frozen=True, slots=True, eq=False)
class Provider:
    """A library that is loaded and computes right results.

    paths: its files, one or one for each precision; source: what brought it, as in `Library`.
    version: as the library says, with the kernels that it uses; empty where it does not.
    """

    kind: Kind
    name: str
    paths: tuple[Path, ...]
    source: str
    version: str
    _handles: tuple[ctypes.CDLL, ...]
    _tried: dict[str, str] = field(default_factory=dict)

    def address(self, routine: str) -> int | None:
        """Where a routine is, by its name in CBLAS or FFTW."""
        return address_of(self._handles, routine)

    def wrong(self, routines: Iterable[str]) -> str:
        """Say what is wrong with the first of these routines that is, as the end of a sentence; else empty.

        Each that the library has is tried out once.
        """
        for routine in routines:
            # A plan takes all routines of one precision of an FFTW together.
            what = routine.split("_")[0] if self.kind == "fft" else routine
            if what not in self._tried and self.address(routine) is not None:
                self._tried[what] = _trial(self.kind, what, self.address)
            if self._tried.get(what):
                return self._tried[what]
        return ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.version)))


_lock = Lock()
_chosen: dict[tuple[Kind, str, tuple[str, ...]], Provider | None] = {}
_wrong: dict[tuple[Kind, tuple[Path, ...]], str] = {}  # libraries that were in use until a routine was tried


def provider(kind: Kind) -> Provider | None:
    """The library that this process uses; None when none was found or the user wants none.

    A `ToolchainError` when the one that the user asks for by name or path cannot be used.
    """
    now = settings()
    asked = _asked(kind, now)
    key = (kind, asked, now.library_path)
    with _lock:
        if key not in _chosen:
            _chosen[key] = _choose(kind, asked)
        return _chosen[key]


def tried_provider(kind: Kind, routines: Collection[str]) -> Provider | None:
    """The library that this process uses, once its routines of these names have computed right results.

    A library with a wrong one is left out from now on, and the next one taken, if any.
    """
    while (found := provider(kind)) is not None and (wrong := found.wrong(routines)):
        with _lock:
            _wrong[kind, found.paths] = wrong
            for key in [key for key, chosen in _chosen.items() if chosen is found]:
                del _chosen[key]
    return found


def left_out() -> int:
    """How many libraries turned out to be wrong after they had been chosen."""
    return len(_wrong)


def provider_with(kind: Kind, routines: Collection[str]) -> Provider | None:
    """The library that this process uses, tried out, if it has all these routines; else None."""
    found = tried_provider(kind, routines)
    has_all = found is not None and all(found.address(routine) is not None for routine in routines)
    return found if has_all else None


def require(kind: Kind, wanted_by: str, routines: Collection[str]) -> Provider:
    """The tried provider, or a `ToolchainError` that says who needs one."""
    found = tried_provider(kind, routines)
    if found is None:
        word, variable = {"blas": "BLAS", "fft": "FFT"}[kind], _VARIABLES[kind]
        refused = _asked(kind, settings()).lower() == "none"
        raise ToolchainError(
            f"{wanted_by} calls {word} routines, and "
            + (f"{variable} is 'none'" if refused else f"there is no {word} library"),
            hint=f"{variable} names one; `python -m polymat doctor` lists those that are found",
        )
    return found


def _asked(kind: Kind, now: Settings) -> str:
    return now.blas if kind == "blas" else now.fft


def _choose(kind: Kind, asked: str) -> Provider | None:
    if asked.lower() == "none":
        return None
    automatic = asked.lower() in ("", "auto")
    complaints: list[str] = []
    for name, source, paths in _candidates(kind, asked, automatic):
        try:
            return _loaded(kind, name, source, paths)
        except ToolchainError:  # the library is not to blame
            raise
        except OSError as error:
            complaints.append(str(error))
            if automatic:
                _log.warning("not used: %s", error)
    if automatic:
        return None
    found = sorted({library.name for library in found_libraries() if library.kind == kind} - {"fftw3f"})
    nothing = "it names no file" if os.sep in asked or ":" in asked else "no library of that name is found"
    names = f"a name that is found ({', '.join(found)})" if found else "a name (none is found)"
    raise ToolchainError(
        f"{_VARIABLES[kind]} is {asked!r}: {'; '.join(complaints) or nothing}",
        hint=f"it may be auto, none, {names}, or the path of a library, with a {os.sep} in it",
    )


def _candidates(kind: Kind, asked: str, automatic: bool) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    """Names, sources and files to try; the two precisions of an FFT from one place belong together."""
    if os.sep in asked:
        paths = tuple(Path(part) for part in asked.split(":") if part)
        if paths:
            yield _name_of(kind, paths[0]), "environment", paths
        return
    asked = asked.lower()
    of_kind = (library for library in found_libraries() if library.kind == kind)
    if kind == "blas":
        wanted = (library for library in of_kind if automatic or library.name == asked)
        yield from ((library.name, library.source, (library.path,)) for library in wanted)
        return
    found = list(of_kind)
    for name in ("fftw3", "mkl"):
        for library in found:
            if library.name == name and (automatic or asked in (name, name.rstrip("3"))):
                yield name, library.source, (library.path, *_single_precision(library, found))


def _single_precision(library: Library, found: Sequence[Library]) -> tuple[Path, ...]:
    beside = [x.path for x in found if x.name == "fftw3f" and x.path.parent == library.path.parent]
    return tuple(beside[:1]) if library.name == "fftw3" else ()


def _name_of(kind: Kind, path: Path) -> str:
    for name in ("openblas", "blis", "mkl", "fftw"):
        if name in path.name:
            return name
    return kind


def _loaded(kind: Kind, name: str, source: str, paths: tuple[Path, ...]) -> Provider:
    """Load the files and try them; OSError says what is wrong."""
    if (kind, paths) in _wrong:
        raise OSError(f"{', '.join(map(str, paths))} {_wrong[kind, paths]}")
    handles: list[ctypes.CDLL] = []
    for path in paths:
        try:
            handles.append(_open(kind, path))
        except ToolchainError:
            raise
        except OSError as error:
            raise OSError(f"{path} cannot be loaded: {error.strerror or error}") from error
    opened = tuple(handles)
    if _has_long_integers(opened):
        raise OSError(f"{paths[0]} takes integers of 64 bits, which is not what polymat gives")
    found = Provider(kind, name, paths, source, version_of(opened), opened)
    some = _least(found)
    wrong = f"has no {some}" if found.address(some) is None else found.wrong((some,))
    if wrong:
        raise OSError(f"{', '.join(map(str, paths))} {wrong}")
    return found


def _least(found: Provider) -> str:
    """A routine that a library must have, tried before it is used at all."""
    if found.kind == "blas":
        return "cblas_dgemm"
    single = found.address("fftw_execute_dft") is None and found.address("fftwf_execute_dft") is not None
    return "fftwf_execute_dft" if single else "fftw_execute_dft"


def _trial(kind: Kind, what: str, find: Find) -> str:
    """What is wrong with a routine, or with a precision of transforms."""
    if kind == "blas":
        from polymat.runtime.blastest import wrong_routine  # imported where a library is tried out

        return wrong_routine(find, what)
    from polymat.runtime.ffttest import wrong_transforms  # as above

    return wrong_transforms(find, what)


def _has_long_integers(handles: tuple[ctypes.CDLL, ...]) -> bool:
    """Whether a BLAS says that its integers have 64 bits, or all its names end like those that do."""
    size = address_of(handles, "bli_info_get_blas_int_type_size")
    if size is not None:
        return int(ctypes.CFUNCTYPE(ctypes.c_long)(size)()) == _LONG_BITS
    names = ("cblas_dgemm", "cblas_dgemm64_", "cblas_dgemm_64")
    usual, *long = (address_of(handles, name) for name in names)
    return "USE64BITINT" in configuration(handles) or (usual is None and any(long))


def _open(kind: Kind, path: Path) -> ctypes.CDLL:
    if path.name.startswith("libmkl_rt"):
        # It finds its other files by its own place, so that a copy elsewhere would be of no use.
        handle = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        handle.MKL_Set_Interface_Layer(_MKL_LP64)
        handle.MKL_Set_Threading_Layer(_MKL_SEQUENTIAL)
        return handle
    return open_private(path, _ENVIRONMENTS[kind])
