/* Transforms of an FFTW, timed: planned and executed as generated code does.

   takes T=float / double       the type of a real value
   takes NAME(name)             functions and types of that type
   takes TIMER=pm_made          times a transform by one plan
   takes PARTS_TIMER=pm_parts   times one that is computed in parts
*/
#pragma once

#include <stdint.h>
#include "fftplans.h"
#include "fftlarge.h"
#include "calibration/rounds.h"

/* The dimensions of one axis of n, or of two: rank of them, and how many there are of real values to half a
   spectrum. */
static void NAME(timed_dims)(int real, int rank, ptrdiff_t n, _pm_fft_dim *dims)
{
    dims[rank - 1] = (_pm_fft_dim){n, 1, 1};
    if (rank == 2)
        dims[0] = (_pm_fft_dim){n, n, real ? n / 2 + 1 : n};
}

/* The best of several times of one transform of `rank` axes of n, complex or from real; -1 where there is no
   plan. */
double TIMER(int real, int rank, ptrdiff_t n, double sample, double patience, void *in, void *out)
{
    _pm_fft_dim dims[2];
    NAME(timed_dims)(real, rank, n, dims);
    const int kind = real ? _PM_R2C : _PM_C2C;
    const uintptr_t alignment = (uintptr_t)in | (uintptr_t)out;
    NAME(plan) *plan = NAME(plan_for)(kind, -1, _PM_ESTIMATE, rank, dims, 0, NULL, in, out, alignment);
    if (plan == NULL)
        return -1.0;
    ROUNDS(NAME(run)(plan, in, out));
    NAME(done)(plan);
    return best;
}

/* The same in parts; -1 where it is not computed so. */
double PARTS_TIMER(int real, int rank, ptrdiff_t n, double sample, double patience, void *in, void *out)
{
    _pm_fft_dim dims[2];
    NAME(timed_dims)(real, rank, n, dims);
    const int kind = real ? _PM_R2C : _PM_C2C;
    if (!NAME(large)(kind, -1, _PM_ESTIMATE, rank, dims, 0, NULL, in, out, 1, 1))
        return -1.0;
    ROUNDS(NAME(large)(kind, -1, _PM_ESTIMATE, rank, dims, 0, NULL, in, out, 1, 1));
    return best;
}
