"""The C program that times transforms of an FFTW, which it plans and executes as generated code does."""

from __future__ import annotations

from polymat.codegen.libraries import routines_of
from polymat.codegen.prelude import prelude
from polymat.tune.timing import CLOCK, rounds

NEEDS = frozenset({"complex", "fft_f32", "fft_f64"})
_TIMER = """\
/* The best of several times of one transform of n, complex or from real; -1 where there is no plan. */
double pm_@P@(int real, ptrdiff_t n, double sample, double patience, void *in, void *out)
{
    const _pm_fft_dim dim = {n, 1, 1};
    const int kind = real ? _PM_R2C : _PM_C2C;
    const uintptr_t alignment = (uintptr_t)in | (uintptr_t)out;
    _pm_@P@_plan *plan = _pm_@P@_plan_for(kind, -1, _PM_ESTIMATE, 1, &dim, 0, NULL, in, out, alignment);
    if (plan == NULL)
        return -1.0;
@ROUNDS@    _pm_@P@_done(plan);
    return best;
}
"""


def fft_bench_source() -> tuple[str, tuple[str, ...]]:
    """The C text that times transforms, and the routines that it calls, in the order of its table."""
    timer = _TIMER.replace("@ROUNDS@", rounds("_pm_@P@_run(plan, in, out)"))
    timers = [timer.replace("@P@", prefix) for prefix in ("fftw", "fftwf")]
    return "\n".join([prelude(NEEDS), "#include <time.h>\n", CLOCK, *timers]), routines_of(NEEDS)
