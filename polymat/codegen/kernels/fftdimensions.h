/* Dimensions and kinds of transforms, of all types. */
#pragma once

#include <stddef.h>

/* A dimension of a transform, as FFTW has it: extent, stride of the input, stride of the output. */
typedef struct {
    ptrdiff_t n, is, os;
} _pm_fft_dim;

enum { _PM_C2C = 0, _PM_R2C = 1, _PM_C2R = 2 };
enum { _PM_FFT_DIMS = 6, _PM_FFT_KEPT = 256 };
enum { _PM_PATIENCE = 2 }; /* seconds to measure one plan: past them FFTW takes one that it estimates */
enum { _PM_MEASURE = 0, _PM_UNALIGNED = 1 << 1, _PM_PRESERVE_INPUT = 1 << 4, _PM_ESTIMATE = 1 << 6 };

/* What a plan is for: compared byte by byte, so zeroed before it is filled. */
typedef struct {
    int kind, sign, flags, inplace, rank, batches;
    _pm_fft_dim dims[_PM_FFT_DIMS];
} _pm_fft_key;

/* Elements that lie between the first and the last one, with both. */
static inline size_t _pm_fft_span(const _pm_fft_key *key, int output)
{
    size_t span = 1;
    for (int d = 0; d < key->rank + key->batches; d++)
        if (key->dims[d].n > 1)
            span += (size_t)(key->dims[d].n - 1) * (size_t)(output ? key->dims[d].os : key->dims[d].is);
    return span;
}
