"""The C program that times routines of a BLAS, which it calls as generated code does."""

from __future__ import annotations

from polymat.codegen.c.needs import Piece
from polymat.codegen.routines.cblas import cblas_routine
from polymat.idiom.libraryroutines import blas_routine
from polymat.idiom.routines import measurements
from polymat.measuring.programs import calibration_head, calibration_text, calibration_texts
from polymat.measuring.timing import WARM_SECONDS

_MEASURED = {timed.name: (timed, row) for timed, row in measurements()}
ROUTINES = tuple(_MEASURED)
_TYPES = {
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}
_HEADERS = ("clock", "sink", "rounds", "blas")


def function_name(routine: str, dtype: str) -> str:
    """The C function that times a routine."""
    return f"pm_{routine}_{dtype}"


def bench_source(cases: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
    """The C text that times these routines and dtypes, and these in the order of its table."""
    names = {_routine(routine, dtype) for routine, dtype in cases}
    timers = [_timer(*case) for case in cases]
    shared = calibration_texts(("clock", "sink", "rounds"), {"WARM": WARM_SECONDS})
    head = calibration_head(frozenset((Piece.COMPLEX, *map(cblas_routine, names))), _HEADERS)
    return "\n".join([head, *shared, *timers]), tuple(sorted(names))


def _timer(routine: str, dtype: str) -> str:
    timed, row = _MEASURED[routine]
    form = row.form(dtype)
    sink = "pm_sink = (double)" if form is not None and form.returns else ""
    call = f"{sink}_pm_{_routine(routine, dtype)}{timed.arguments}"
    macros = {"T": _TYPES[dtype], "TIMER": function_name(routine, dtype), "CALL": call}
    return calibration_text("blas", macros=macros)


def _routine(routine: str, dtype: str) -> str:
    return blas_routine(_MEASURED[routine][1].name, dtype)
