"""Filters of complex samples: the C text that makes four real filters of one.

Real and imaginary parts are taken apart a few thousand samples at a time, so that they stay in the caches.
"""

from __future__ import annotations

COMPLEX_FILTER = """
/* Elements of a buffer, which the next one follows at a line of its own. */
static inline ptrdiff_t _pm_filter_room_$S(ptrdiff_t count)
{
    return (count + 15) / 16 * 16;
}

enum { _pm_filter_chunk_$S = 2048 }; /* complex results that are computed together */

/* Bytes that a filter of complex samples needs: real and imaginary parts apart, and a filter of those. */
static inline double _pm_filter_complex_bytes_$S(ptrdiff_t count, ptrdiff_t up, ptrdiff_t down)
{
    if (count <= 0)
        return 0.0;
    const double samples = (double)down * _pm_filter_chunk_$S + 2.0 * (double)count;
    const double parts = 2.0 * samples + 3.0 * _pm_filter_chunk_$S + 128;
    return parts * sizeof($T) + _pm_filter_bytes_$S(count, up, down);
}

/* The same filter of complex samples with complex taps, pairs of real and imaginary part: four real filters.
   h_sign, x_sign: -1 for the conjugate of the taps, of the samples; else 1. */
static inline void _pm_filter_complex_$S(ptrdiff_t n, ptrdiff_t count, ptrdiff_t down, const $T *h,
        ptrdiff_t h_step, $T h_sign, const $T *x, $T x_sign, const $T *from, $T *y, $T *scratch)
{
    const ptrdiff_t most = _pm_filter_chunk_$S, samples = _pm_filter_room_$S(down * (most - 1) + count);
    $T *const xr = scratch, *const xi = xr + samples;
    $T *const hr = xi + samples, *const hi = hr + _pm_filter_room_$S(count);
    $T *const sum = hi + _pm_filter_room_$S(count), *const yr = sum + most, *const yi = yr + most;
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
        _pm_filter_$S(length, count, down, hi, 1, xi, -1, NULL, sum, yi + most);
        _pm_filter_$S(length, count, down, hr, 1, xr, 1, sum, yr, yi + most);
        _pm_filter_$S(length, count, down, hi, 1, xr, 1, NULL, sum, yi + most);
        _pm_filter_$S(length, count, down, hr, 1, xi, 1, sum, yi, yi + most);
        for (ptrdiff_t k = 0; k < length; k++) {
            y[2 * (begin + k)] = yr[k] + (from == NULL ? 0 : from[2 * (begin + k)]);
            y[2 * (begin + k) + 1] = yi[k] + (from == NULL ? 0 : from[2 * (begin + k) + 1]);
        }
    }
}
"""
