"""Which routines of a library a call or a transform needs, by their names there."""

from __future__ import annotations

from polymat.idiom.call import LibraryCall
from polymat.idiom.routines import LETTERS, ROUTINES

# The routines of FFTW that generated code calls, in the order of its table.
_FFTW = (
    "plan_guru64_dft",
    "plan_guru64_dft_r2c",
    "plan_guru64_dft_c2r",
    "execute_dft",
    "execute_dft_r2c",
    "execute_dft_c2r",
    "destroy_plan",
    "set_timelimit",
)


def supported(call: LibraryCall) -> bool:
    """Whether CBLAS has a routine for the type of a call: complex symv it has not."""
    return call.row.form(call.dtype.dtype) is not None


def routines_called(call: LibraryCall) -> tuple[str, ...]:
    """The names in CBLAS of all that a supported call needs; a part of a triangle needs a product, too."""
    names = (call.routine, "gemm") if triangle_can_be_cut(call.routine) else (call.routine,)
    return tuple(blas_routine(name, call.dtype.dtype) for name in names)


def triangle_can_be_cut(routine: str) -> bool:
    """Whether there is code for a block of rows of the routine's triangle."""
    row = ROUTINES[routine]
    return row.level == 3 and row.triangle_of == "result"


def blas_routine(routine: str, dtype: str) -> str:
    """The name in CBLAS of a routine such as "gemm" for a NumPy dtype; KeyError for what is not there."""
    form = ROUTINES[routine].form(dtype)
    if form is None:
        raise KeyError(f"{routine} of {dtype}")
    return form.cblas_name(LETTERS[dtype])


def fft_routine_names(prefix: str) -> tuple[str, ...]:
    """The routines of FFTW that generated code calls; prefix is fftw or fftwf."""
    return tuple(f"{prefix}_{name}" for name in _FFTW)


def fft_prefix(dtype: str) -> str:
    """The begin of FFTW's names for a NumPy dtype, of the values or of their spectrum."""
    return "fftwf" if dtype in ("float32", "complex64") else "fftw"
