"""C through which generated code reaches BLAS and FFT libraries, without depending on any when it is linked.

A library that needs some exports two things besides its functions, see `polymat.codegen.c.abi`:

    const char *const _pm_routine_names[];             ends with NULL
    void _pm_bind(void (*const *addresses)(void), void *planner);

polymat fills the table of addresses when it loads the library.  A C program does not have to: the first call
then looks for a library itself, in the files that POLYMAT_BLAS or POLYMAT_FFT lists, separated by colons, if
there is a slash in it, else under the usual names; without one, the call returns `LIBRARY_MISSING` and has
done nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from polymat.codegen.c.kernels import kernel_text, statements
from polymat.codegen.routines.cblas import blas_routine_names, blas_wrapper
from polymat.codegen.routines.fftw import fft_text
from polymat.idiom.libraryroutines import fft_routine_names

# Precision of a need for transforms, and how FFTW calls it.
_FFT_NEEDS = {"fft_f64": "fftw", "fft_f32": "fftwf"}

# Of the first kind that is there, names under which the dynamic loader may find it.
_BLAS_NAMES = (
    "libopenblas.so.0",
    "libscipy_openblas.so",
    "libmkl_rt.so.3",
    "libmkl_rt.so.2",
    "libblis.so.4",
    "libcblas.so.3",
)
_FFT_NAMES = {"fftw": ("libfftw3.so.3",), "fftwf": ("libfftw3f.so.3",)}


def library_needs() -> frozenset[str]:
    """Every need that makes a library call routines of others."""
    return blas_routine_names() | frozenset(_FFT_NEEDS)


def routines_of(needs: frozenset[str] | set[str]) -> tuple[str, ...]:
    """The routines that these needs call, BLAS first, each kind in order: the table's order."""
    found = sorted(needs & blas_routine_names())
    for need, prefix in _FFT_NEEDS.items():
        if need in needs:
            found.extend(fft_routine_names(prefix))
    return tuple(found)


def library_text(needs: frozenset[str]) -> str:
    """The C text for all needs of `library_needs` among these; empty when there is none."""
    routines = routines_of(needs)
    if not routines:
        return ""
    blas = sum(name.startswith("cblas_") for name in routines)
    prefixes = [prefix for need, prefix in _FFT_NEEDS.items() if need in needs]
    table = kernel_text(
        "routines",
        NAMES=_quoted(routines),
        COUNT=len(routines),
        PLANNER=int(bool(prefixes)),
        FIND=statements(_finders(blas, prefixes)),
    )
    pieces = [kernel_text("planner")] * bool(prefixes) + [table]
    pieces += [blas_wrapper(name, slot) for slot, name in enumerate(routines[:blas])]
    if prefixes:
        pieces.append(kernel_text("fftdimensions"))
    for prefix in prefixes:
        first = routines.index(fft_routine_names(prefix)[0])
        pieces.append(fft_text(prefix, first))
    return "\n".join(pieces)


def _finders(blas: int, prefixes: list[str]) -> list[str]:
    calls: list[tuple[str, str, tuple[str, ...], int, int]] = []
    if blas:
        calls.append(("blas", "POLYMAT_BLAS", _BLAS_NAMES, 0, blas))
    first = blas
    for prefix in prefixes:
        last = first + len(fft_routine_names(prefix))
        calls.append((prefix, "POLYMAT_FFT", _FFT_NAMES[prefix], first, last))
        first = last
    return [
        line
        for kind, variable, names, start, end in calls
        for line in (
            f"static const char *const {kind}[] = {{{_quoted(names)}, NULL}}",
            f'found = found && _pm_routines_from("{variable}", {kind}, {start}, {end})',
        )
    ]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
