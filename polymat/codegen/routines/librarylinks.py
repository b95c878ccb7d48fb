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

from collections.abc import Iterable, Sequence, Set

from polymat.codegen.c.kernels import kernel_text, statements
from polymat.codegen.c.needs import Need
from polymat.codegen.routines.cblas import CblasRoutine, blas_wrapper, cblas_routines
from polymat.codegen.routines.fftw import FftNeed, fft_text
from polymat.idiom.libraryroutines import fft_routine_names

# Of the first kind that is there, names under which the dynamic loader may find it.
_BLAS_NAMES = (
    "libopenblas.so.0",
    "libscipy_openblas.so",
    "libmkl_rt.so.3",
    "libmkl_rt.so.2",
    "libblis.so.4",
    "libcblas.so.3",
)
_FFT_NAMES = {FftNeed.DOUBLE: ("libfftw3.so.3",), FftNeed.SINGLE: ("libfftw3f.so.3",)}


def library_needs() -> frozenset[CblasRoutine | FftNeed]:
    """Every need that makes a library call routines of others."""
    return frozenset((*cblas_routines(), *FftNeed))


def routines_of(needs: Set[Need]) -> tuple[str, ...]:
    """The routines that these needs call, BLAS first, each kind in order: the table's order."""
    names = [routine.name for routine in _products(needs)]
    for need in _transforms(needs):
        names.extend(fft_routine_names(need.prefix))
    return tuple(names)


def library_text(needs: frozenset[Need]) -> str:
    """The C text for all needs of `library_needs` among these; empty when there is none."""
    products, transforms, routines = _products(needs), _transforms(needs), routines_of(needs)
    if not routines:
        return ""
    table = kernel_text(
        "routines",
        NAMES=_quoted(routines),
        COUNT=len(routines),
        PLANNER=int(bool(transforms)),
        FIND=statements(_finders(len(products), transforms)),
    )
    pieces = [kernel_text("planner")] * bool(transforms) + [table]
    pieces += [blas_wrapper(routine, slot) for slot, routine in enumerate(products)]
    if transforms:
        pieces.append(kernel_text("fftdimensions"))
    for need in transforms:
        first = routines.index(fft_routine_names(need.prefix)[0])
        pieces.append(fft_text(need.prefix, first))
    return "\n".join(pieces)


def _products(needs: Set[Need]) -> list[CblasRoutine]:
    return sorted((need for need in needs if isinstance(need, CblasRoutine)), key=str)


def _transforms(needs: Set[Need]) -> list[FftNeed]:
    return [need for need in FftNeed if need in needs]


def _finders(blas: int, transforms: Sequence[FftNeed]) -> list[str]:
    calls: list[tuple[str, str, tuple[str, ...], int, int]] = []
    if blas:
        calls.append(("blas", "POLYMAT_BLAS", _BLAS_NAMES, 0, blas))
    first = blas
    for need in transforms:
        last = first + len(fft_routine_names(need.prefix))
        calls.append((need.prefix, "POLYMAT_FFT", _FFT_NAMES[need], first, last))
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
