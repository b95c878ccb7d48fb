"""The C program that times transforms of an FFTW, which it plans and executes as generated code does."""

from __future__ import annotations

from polymat.codegen.libraries import routines_of
from polymat.codegen.prelude import prelude

NEEDS = frozenset({"complex", "fft_f32", "fft_f64"})
_HEAD = """\
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
"""
_TIMER = """\
/* The best of several times of one transform of n, complex or from real; -1 where there is no plan. */
double pm_@P@(int real, ptrdiff_t n, double sample, double patience, void *in, void *out)
{
    const _pm_fft_dim dim = {n, 1, 1};
    const int kind = real ? _PM_R2C : _PM_C2C;
    const uintptr_t alignment = (uintptr_t)in | (uintptr_t)out;
    _pm_@P@_plan *plan = _pm_@P@_plan_for(kind, -1, _PM_ESTIMATE, 1, &dim, 0, NULL, in, out, alignment);
    double best = 1e30, spent = 0.0;
    ptrdiff_t repeats = 1;
    if (plan == NULL)
        return -1.0;
    for (int round = 0; round < 6 && (round < 1 || spent < patience); round++) {
        const double begin = now();
        for (ptrdiff_t r = 0; r < repeats; r++)
            _pm_@P@_run(plan, in, out);
        const double seconds = now() - begin;
        if (seconds < sample / 2) {
            const double more = seconds > sample / 64 ? sample / seconds : 16.0;
            repeats = (ptrdiff_t)((double)repeats * more) + 1;
            round = repeats > 1 << 24 ? round : -1;
            continue;
        }
        spent += seconds;
        if (seconds / (double)repeats < best)
            best = seconds / (double)repeats;
    }
    _pm_@P@_done(plan);
    return best;
}
"""


def fft_bench_source() -> tuple[str, tuple[str, ...]]:
    """The C text that times transforms, and the routines that it calls, in the order of its table."""
    timers = [_TIMER.replace("@P@", prefix) for prefix in ("fftw", "fftwf")]
    return "\n".join([prelude(NEEDS), _HEAD, *timers]), routines_of(NEEDS)
