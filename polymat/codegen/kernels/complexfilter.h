/* Filters of complex samples: four real filters make one.

   Real and imaginary parts are taken apart a few thousand samples at a time, so that they stay in the caches.

   takes T           the type of an element
   takes NAME(name)  functions and types of that type
*/
#pragma once

#include <stddef.h>
#include "filter.h"

/* Elements of a buffer, which the next one follows at a line of its own. */
static inline ptrdiff_t NAME(filter_room)(ptrdiff_t count)
{
    return (count + 15) / 16 * 16;
}

enum { NAME(filter_chunk) = 2048 }; /* complex results that are computed together */

/* Bytes that a filter of complex samples needs: real and imaginary parts apart, and a filter of those. */
static inline double NAME(filter_complex_bytes)(ptrdiff_t count, ptrdiff_t up, ptrdiff_t down)
{
    if (count <= 0)
        return 0.0;
    const double samples = (double)down * NAME(filter_chunk) + 2.0 * (double)count;
    const double parts = 2.0 * samples + 3.0 * NAME(filter_chunk) + 128;
    return parts * sizeof(T) + NAME(filter_bytes)(count, up, down);
}

/* The same filter of complex samples with complex taps, pairs of real and imaginary part: four real filters.
   h_sign, x_sign: -1 for the conjugate of the taps, of the samples; else 1. */
static inline void NAME(filter_complex)(ptrdiff_t n, ptrdiff_t count, ptrdiff_t down, const T *h,
        ptrdiff_t h_step, T h_sign, const T *x, T x_sign, const T *from, T *y, T *scratch)
{
    const ptrdiff_t most = NAME(filter_chunk), samples = NAME(filter_room)(down * (most - 1) + count);
    T *const xr = scratch, *const xi = xr + samples;
    T *const hr = xi + samples, *const hi = hr + NAME(filter_room)(count);
    T *const sum = hi + NAME(filter_room)(count), *const yr = sum + most, *const yi = yr + most;
    for (ptrdiff_t k = 0; k < count; k++) {
        hr[k] = h[2 * k * h_step];
        hi[k] = h_sign * h[2 * k * h_step + 1];
    }
    for (ptrdiff_t first = 0; first < n; first += most) {
        const ptrdiff_t begin = n - first < 8 ? n - 8 : first;
        const ptrdiff_t length = n - begin < most ? n - begin : most;
        for (ptrdiff_t k = 0; k < down * (length - 1) + count; k++) {
            xr[k] = x[2 * (down * begin + k)];
            xi[k] = x_sign * x[2 * (down * begin + k) + 1];
        }
        NAME(filter)(length, count, down, hi, 1, xi, -1, NULL, sum, yi + most);
        NAME(filter)(length, count, down, hr, 1, xr, 1, sum, yr, yi + most);
        NAME(filter)(length, count, down, hi, 1, xr, 1, NULL, sum, yi + most);
        NAME(filter)(length, count, down, hr, 1, xi, 1, sum, yi, yi + most);
        for (ptrdiff_t k = 0; k < length; k++) {
            y[2 * (begin + k)] = yr[k] + (from == NULL ? 0 : from[2 * (begin + k)]);
            y[2 * (begin + k) + 1] = yi[k] + (from == NULL ? 0 : from[2 * (begin + k) + 1]);
        }
    }
}
