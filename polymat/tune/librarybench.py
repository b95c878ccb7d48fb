"""The C program that times routines of a BLAS, which it calls as generated code does."""

from __future__ import annotations

from polymat.codegen.prelude import prelude
from polymat.codegen.routines.routines import blas_routine
from polymat.tune.timing import CLOCK, rounds

# The call of each routine: extents x, y, z as in `AXES`.  A holds zeros, B and C ones, and the diagonal of a
# triangular matrix counts as ones: what is done again and again neither overflows nor vanishes.
_CALLS = {
    "gemm": "(111, 111, x, y, z, one, a, z, b, y, zero, c, y)",
    "gemm_t": "(111, 112, x, y, z, one, a, z, b, z, zero, c, y)",
    "symm": "(141, 122, x, y, one, a, x, b, y, zero, c, y)",
    "syrk": "(122, 111, x, y, one, a, y, zero, c, x)",
    "syr2k": "(122, 111, x, y, one, a, y, b, y, zero, c, x)",
    "trmm": "(141, 122, 112, 132, x, y, one, a, x, c, y)",
    "trsm": "(141, 122, 111, 132, x, y, one, a, x, c, y)",
    "gemv": "(111, x, y, one, a, y, b, 1, zero, c, 1)",
    "gemv_t": "(112, x, y, one, a, y, b, 1, zero, c, 1)",
    "ger": "(x, y, one, b, 1, b, 1, c, y)",
    "symv": "(122, x, one, a, x, b, 1, zero, c, 1)",
    "trmv": "(122, 111, 132, x, a, x, c, 1)",
    "trsv": "(122, 111, 132, x, a, x, c, 1)",
    "dot": "(x, a, 1, b, 1)",
    "axpy": "(x, one, a, 1, c, 1)",
    "scal": "(x, one, c, 1)",
    "nrm2": "(x, a, 1)",
}
ROUTINES = tuple(_CALLS)
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
        sink = "pm_sink = (double)" if routine in ("dot", "nrm2") else ""
        timed = rounds(f"{sink}_pm_{_routine(routine, dtype)}{_CALLS[routine]}")
        timers.append(text.replace("@ROUNDS@", timed))
    head = ("#include <time.h>\n", CLOCK, "volatile double pm_sink;\n")
    return "\n".join([prelude(needs | {"complex"}), *head, *timers]), tuple(sorted(needs))


def _routine(routine: str, dtype: str) -> str:
    return blas_routine(routine.removesuffix("_t"), dtype)
