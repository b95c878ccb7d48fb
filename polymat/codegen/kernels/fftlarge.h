/* Large transforms: whether they are computed in parts, and that.

   See `polymat.codegen.routines.fftlarge`.  Points from which a transform is computed so:

   takes T=float / double         the type of a real value
   takes NAME(name)               functions and types of that type
   takes LINE=1024.0              of one axis on one thread
   takes PAIRS=1024.0             of one axis of real values
   takes AXES=1024.0              of several axes whose lines collide in the caches
   takes APART=1024.0             of others
   takes REAL_AXES=1024.0         of several axes of real values
   takes SHARED=1024.0            of one axis by several threads
   takes AXES_SHARED=1024.0       of several axes by several threads
   takes REAL_AXES_SHARED=1024.0  of such axes of real values
   takes COLLIDING=2048           bytes: lines at a multiple of them share few sets of a cache
   takes EVEN=4096                an axis whose length is no multiple of it gains little on one thread
*/
#pragma once

#include <math.h>
#include <stddef.h>
#include "fftline.h"

static int NAME(large)(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, int batches,
        const _pm_fft_dim *batch, void *in, void *out, int pieces, int team)
{
    const ptrdiff_t reals = kind == _PM_R2C ? dims->is : 1; /* the stride of real values on one axis */
    const int pairs = kind == _PM_C2C || (dims->n % 2 == 0 && reals == 1);
    const int known = rank == 1 ? pairs : kind != _PM_C2R && (rigour != _PM_MEASURE || pieces > 1);
    if (in == out || !known || dims[rank - 1].os != 1)
        return 0;
    double points = rank == 1 && kind != _PM_C2C ? 0.5 : 1.0;
    for (int d = 0; d < rank; d++)
        points *= (double)dims[d].n;
    const int real = kind != _PM_C2C;
    double least = rank == 1 ? SHARED : real ? REAL_AXES_SHARED : AXES_SHARED;
    if (pieces == 1) {
        const size_t distance = rank > 1 ? (size_t)dims[rank - 2].os * 2 * sizeof(T) : (size_t)dims->n;
        const int collides = distance % (rank > 1 ? COLLIDING : EVEN) == 0;
        const double line = real ? PAIRS : LINE, axes = collides ? AXES : APART;
        least = rank > 1 ? (real ? REAL_AXES : axes) : collides ? line : HUGE_VAL;
    }
    if (points < least)
        return 0;
    if (batches > 0) {
        const ptrdiff_t in_bytes = (ptrdiff_t)sizeof(T) * (kind == _PM_R2C ? 1 : 2);
        const ptrdiff_t out_bytes = (ptrdiff_t)sizeof(T) * (kind == _PM_C2R ? 1 : 2);
        int made = 1;
        for (ptrdiff_t b = 0; made && b < batch->n; b++)
            made = NAME(large)(kind, sign, rigour, rank, dims, batches - 1, batch + 1,
                    (char *)in + b * batch->is * in_bytes, (char *)out + b * batch->os * out_bytes, pieces,
                    team);
        return made;
    }
    if (rank > 1)
        return NAME(axes)(kind, sign, rigour, rank, dims, in, out, team);
    return NAME(line)(kind, sign, rigour, dims, in, out, team);
}
