"""Give a compiled library the routines of other libraries that it calls."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from polymat.codegen.c.abi import Signature
from polymat.errors import ToolchainError
from polymat.idiom.librarymodel import Kind
from polymat.runtime.fftwlock import planner_state
from polymat.runtime.providers import Provider, require
from polymat.runtime.wisdom import use_wisdom


def bind_routines(path: str, signature: Signature) -> None:
    """Fill the table of a library that has been loaded from `path`; nothing to do for most.

    A `ToolchainError` when there is no library with the routines.
    """
    if signature.routines:
        bind_addresses(path, _addresses(signature.routines, signature.name))


def bind_addresses(path: str, addresses: Sequence[int]) -> None:
    """Call `_pm_bind` of the library that has been loaded from `path`."""
    loader = ctypes.PyDLL(None)
    loader.dlopen.restype = loader.dlsym.restype = ctypes.c_void_p
    loader.dlsym.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    loader.dlclose.argtypes = (ctypes.c_void_p,)
    library = loader.dlopen(os.fsencode(path), os.RTLD_NOW | os.RTLD_NOLOAD)
    try:
        bind = loader.dlsym(library, b"_pm_bind") if library else None
        if bind is None:
            raise ToolchainError(f"{path} is no library of polymat that calls others: it has no _pm_bind")
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(bind)(table, planner_state())
    finally:
        if library:
            loader.dlclose(library)


def _instead(kind: Kind, routine: str) -> str:
    """What a user may do who has a library without a routine."""
    if kind == "blas":
        return "POLYMAT_BLAS names another library; with blas='auto' loops do what the library does not have"
    precision, file = ("single", "libfftw3f") if routine.startswith("fftwf_") else ("double", "libfftw3")
    return (
        f"FFTW has its {precision} precision in a library of its own, {file}: POLYMAT_FFT may name the files "
        "of both, a colon between them; with fft='auto' loops do what there is no library for"
    )


def _addresses(routines: Sequence[str], wanted_by: str) -> list[int]:
    """Where the routines are, each tried out."""
    found: dict[str, int] = {}
    kinds: tuple[Kind, ...] = ("blas", "fft")
    for kind in kinds:
        names = [routine for routine in routines if routine.startswith("cblas_") == (kind == "blas")]
        if names:
            library = require(kind, wanted_by, names)
            found.update((name, _address(name, library, wanted_by)) for name in names)
            if kind == "fft":
                use_wisdom(library)
    return [found[routine] for routine in routines]


def _address(routine: str, library: Provider, wanted_by: str) -> int:
    address = library.address(routine)
    if address is None:
        raise ToolchainError(
            f"{wanted_by} calls {routine}, which {library} does not have",
            hint=_instead(library.kind, routine),
        )
    return address
