"""The C program that times transforms of an FFTW, which it plans and executes as generated code does."""

from __future__ import annotations

from polymat.codegen.prelude import prelude
from polymat.codegen.routines.fftlarge import large_text
from polymat.codegen.routines.libraries import routines_of
from polymat.idiom.parts import Least
from polymat.tune.timing import CLOCK, rounds

NEEDS = frozenset({"complex", "fft_f32", "fft_f64", "math", "string", "team", "workspace"})
ALWAYS = Least(1, 1, 1, 1, 1, 1, 1, 1)  # everything is computed in parts
_TIMER = """\
/* The dimensions of one axis of n, or of two: rank of them, and how many there are of real values to half a
   spectrum. */
static void pm_@P@_dims(int real, int rank, ptrdiff_t n, _pm_fft_dim *dims)
{
    dims[rank - 1] = (_pm_fft_dim){n, 1, 1};
    if (rank == 2)
        dims[0] = (_pm_fft_dim){n, n, real ? n / 2 + 1 : n};
}

/* The best of several times of one transform of `rank` axes of n, complex or from real; -1 where there is no
   plan. */
double pm_@P@(int real, int rank, ptrdiff_t n, double sample, double patience, void *in, void *out)
{
    _pm_fft_dim dims[2];
    pm_@P@_dims(real, rank, n, dims);
    const int kind = real ? _PM_R2C : _PM_C2C;
    const uintptr_t alignment = (uintptr_t)in | (uintptr_t)out;
    _pm_@P@_plan *plan = _pm_@P@_plan_for(kind, -1, _PM_ESTIMATE, rank, dims, 0, NULL, in, out, alignment);
    if (plan == NULL)
        return -1.0;
@PLAN@    _pm_@P@_done(plan);
    return best;
}

/* The same in parts; -1 where it is not computed so. */
double pm_@P@_parts(int real, int rank, ptrdiff_t n, double sample, double patience, void *in, void *out)
{
    _pm_fft_dim dims[2];
    pm_@P@_dims(real, rank, n, dims);
    const int kind = real ? _PM_R2C : _PM_C2C;
    if (!_pm_@P@_large(kind, -1, _PM_ESTIMATE, rank, dims, 0, NULL, in, out, 1, 1))
        return -1.0;
@PARTS@    return best;
}
"""


def fft_bench_source() -> tuple[str, tuple[str, ...]]:
    """The C text that times transforms, and the routines that it calls, in the order of its table."""
    parts = "_pm_@P@_large(kind, -1, _PM_ESTIMATE, rank, dims, 0, NULL, in, out, 1, 1)"
    timer = _TIMER.replace("@PLAN@", rounds("_pm_@P@_run(plan, in, out)")).replace("@PARTS@", rounds(parts))
    texts = [large_text(prefix, ALWAYS) + timer.replace("@P@", prefix) for prefix in ("fftw", "fftwf")]
    return "\n".join([prelude(NEEDS), "#include <time.h>\n", CLOCK, *texts]), routines_of(NEEDS)
