"""The C program that times routines of a BLAS, which it calls as generated code does."""

from __future__ import annotations

from polymat.codegen.prelude import prelude
from polymat.idiom.libraryroutines import blas_routine
from polymat.idiom.routines import measurements
from polymat.tune.timing import CLOCK, rounds

_MEASURED = {timed.name: (timed, row) for timed, row in measurements()}
ROUTINES = tuple(_MEASURED)
_TYPES = {
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}
_TIMER = """\
/* The best of several times of one call; operands of up to `most` elements at a, b and c are there. */
double pm_@ROUTINE@_@DTYPE@(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z, double sample, double patience, void *pa,
    void *pb, void *pc)
{
    typedef @T@ T;
    T *const a = pa, *const b = pb, *const c = pc;
    const T one = 1, zero = 0;
    (void)x, (void)y, (void)z, (void)a, (void)b, (void)c, (void)one, (void)zero;
@ROUNDS@    return best;
}
"""


def function_name(routine: str, dtype: str) -> str:
    """The C function that times a routine."""
    return f"pm_{routine}_{dtype}"


def bench_source(cases: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
    """The C text that times these routines and dtypes, and its needs in the order of its table."""
    needs = frozenset(_routine(routine, dtype) for routine, dtype in cases)
    timers = []
    for routine, dtype in cases:
        text = _TIMER.replace("@ROUTINE@", routine).replace("@DTYPE@", dtype).replace("@T@", _TYPES[dtype])
        timed, row = _MEASURED[routine]
        form = row.form(dtype)
        sink = "pm_sink = (double)" if form is not None and form.returns else ""
        again = rounds(f"{sink}_pm_{_routine(routine, dtype)}{timed.arguments}")
        timers.append(text.replace("@ROUNDS@", again))
    head = ("#include <time.h>\n", CLOCK, "volatile double pm_sink;\n")
    return "\n".join([prelude(needs | {"complex"}), *head, *timers]), tuple(sorted(needs))


def _routine(routine: str, dtype: str) -> str:
    return blas_routine(_MEASURED[routine][1].name, dtype)
