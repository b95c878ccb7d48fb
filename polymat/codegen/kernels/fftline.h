/* One axis that is large: computed as a matrix, by transforms of its columns and of its rows.

   n1 n2 points are a matrix of n1 rows (the six-step method: D. Bailey, "FFTs in external or hierarchical
   memory", 1990): its columns are transformed and multiplied with roots of unity, then its rows, which are the
   columns of the result.  Real values are transformed in pairs, as half as many complex ones, whose spectrum is
   that of the even values and that of the odd ones, which are told apart behind, or put together before.  They
   are contiguous, and their number is even.

   takes T=float / double  the type of a real value
   takes NAME(name)        functions and types of that type
   takes CONSTANT(name)    constants
   takes SHORTEST=64       of the rows and columns that one axis is made
*/
#pragma once

#include <complex.h>
#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <string.h>
#include "fftaxes.h"
#include "workspace.h"

/* exp(sign 2 pi i k / n) for k = 0, step, .., shared by the threads that are there */
static void NAME(roots)(ptrdiff_t n, int sign, ptrdiff_t step, ptrdiff_t count, double _Complex *roots)
{
#pragma omp for schedule(static)
    for (ptrdiff_t k = 0; k < count; k++) {
        const double angle = sign * 6.283185307179586477 * ((double)(k * step) / (double)n);
        roots[k] = __builtin_complex(cos(angle), sin(angle));
    }
}

/* The root of a product of indices, from those of its low bits and of the others. */
typedef struct {
    const double _Complex *low, *high;
    int shift;
} NAME(table);

static inline double _Complex NAME(root)(const NAME(table) *table, ptrdiff_t turn)
{
    const double _Complex a = table->low[turn & (((ptrdiff_t)1 << table->shift) - 1)];
    const double _Complex b = table->high[turn >> table->shift];
    return __builtin_complex(__real__ a * __real__ b - __imag__ a * __imag__ b,
            __real__ a * __imag__ b + __imag__ a * __real__ b);
}

/* Multiply n values with the roots of 0, j, 2 j, ..: blocks of them are one root times those of the first. */
static inline void NAME(line_turn)(ptrdiff_t n, T *restrict z, ptrdiff_t j, const NAME(table) *table)
{
    enum { STEPS = 32 };
    T re[STEPS], im[STEPS];
    for (int b = 0; b < STEPS; b++) {
        const double _Complex root = b < n ? NAME(root)(table, j * b) : 0.0;
        re[b] = (T) __real__ root;
        im[b] = (T) __imag__ root;
    }
    for (ptrdiff_t k = 0; k < n; k += STEPS) {
        const double _Complex root = NAME(root)(table, j * k);
        const T u = (T) __real__ root, v = (T) __imag__ root;
        const int count = n - k < STEPS ? (int)(n - k) : STEPS;
        T *const at = z + 2 * k;
        for (int b = 0; b < count; b++) {
            const T c = u * re[b] - v * im[b], s = u * im[b] + v * re[b];
            const T x = at[2 * b], y = at[2 * b + 1];
            at[2 * b] = x * c - y * s;
            at[2 * b + 1] = x * s + y * c;
        }
    }
}

/* One axis as `rows` rows of `columns`. */
static int NAME(matrix)(int sign, int rigour, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t is, ptrdiff_t os,
        const NAME(value) *in, NAME(value) *out, int team)
{
    const ptrdiff_t n = rows * columns, lines = CONSTANT(LINES);
    const ptrdiff_t tall = NAME(pitch)(rows), wide = NAME(pitch)(columns);
    const ptrdiff_t room = 2 * lines * (tall > wide ? tall : wide), elements = (rows + lines) * wide;
    NAME(table) table = {NULL, NULL, 0};
    while ((ptrdiff_t)1 << 2 * table.shift < n)
        table.shift++;
    const ptrdiff_t fine = (ptrdiff_t)1 << table.shift, coarse = (n >> table.shift) + 1;
    const size_t roots = ((size_t)(fine + coarse) * sizeof(double _Complex) + 63) / 64 * 64;
    char *const memory = _pm_workspace_take(roots + (size_t)(elements + room * team) * sizeof *out);
    if (memory == NULL)
        return 0;
    double _Complex *const low = (void *)memory, *const high = low + fine;
    NAME(value) *const matrix = (void *)(memory + roots), *const buffers = matrix + elements;
    table.low = low;
    table.high = high;
    NAME(plan) *down = NAME(lines)(rows, sign, rigour, buffers, tall, buffers + room / 2, tall);
    NAME(plan) *across = NAME(lines)(columns, sign, rigour, matrix, wide, buffers, wide);
    const int made = down != NULL && across != NULL;
    memset(matrix + rows * wide, 0, (size_t)(lines * wide + room * team) * sizeof *out);
#pragma omp parallel num_threads(team) if (team > 1)
    {
        NAME(value) *const work = buffers + omp_get_thread_num() * room, *const done = work + room / 2;
        NAME(roots)(n, sign, 1, fine, low);
        NAME(roots)(n, sign, fine, coarse, high);
#pragma omp for schedule(static)
        for (ptrdiff_t j = 0; j < (made ? columns : 0); j += lines) {
            const ptrdiff_t count = columns - j < lines ? columns - j : lines;
            NAME(gather)(rows, count, in + j * is, columns * is, is, work, tall);
            NAME(run)(down, work, done);
            for (ptrdiff_t c = 0; c < count; c++)
                NAME(line_turn)(rows, (T *)(done + c * tall), j + c, &table);
            NAME(scatter)(rows, count, done, tall, matrix + j, wide, 1);
        }
#pragma omp for schedule(static)
        for (ptrdiff_t k = 0; k < (made ? rows : 0); k += lines) {
            const ptrdiff_t count = rows - k < lines ? rows - k : lines;
            NAME(run)(across, matrix + k * wide, work);
            NAME(scatter)(columns, count, work, wide, out + k * os, rows * os, os);
        }
    }
    NAME(done)(down);
    NAME(done)(across);
    _pm_workspace_give(memory);
    return made;
}

/* Half the spectrum of n real values from that of their pairs as complex values, or (sign 1) back: e + w o at
   k and conj(e - w o) at n / 2 - k, from what `in` has there.  `out` may be `in`. */
static void NAME(fold)(int sign, ptrdiff_t n, const NAME(value) *in, ptrdiff_t is, NAME(value) *out, int team)
{
    enum { STEPS = 128 };
    const ptrdiff_t half = n / 2, pairs = (half - 1) / 2;
    const T scale = sign < 0 ? (T)0.5 : 1, turned = sign < 0 ? -scale : scale;
    const double step = sign * 6.283185307179586477 / (double)n;
    const T x = __real__ in[0], y = sign < 0 ? __imag__ in[0] : __real__ in[half * is];
    if (half % 2 == 0)
        out[half / 2] = __builtin_complex(2 * scale * __real__ in[half / 2 * is],
                -2 * scale * __imag__ in[half / 2 * is]);
#pragma omp parallel num_threads(team) if (team > 1)
    {
        T re[STEPS], im[STEPS], a[2 * STEPS], z[2 * STEPS];
        for (int b = 0; b < STEPS; b++) {
            re[b] = (T)cos(step * b);
            im[b] = (T)sin(step * b);
        }
#pragma omp for schedule(static)
        for (ptrdiff_t k = 1; k <= pairs; k += STEPS) {
            const int count = pairs - k < STEPS ? (int)(pairs - k + 1) : STEPS;
            const T u = (T)cos(step * (double)k), v = (T)sin(step * (double)k);
            for (int b = 0; b < count; b++) {
                a[2 * b] = __real__ in[(k + b) * is];
                a[2 * b + 1] = __imag__ in[(k + b) * is];
                z[2 * b] = __real__ in[(half - k - b) * is];
                z[2 * b + 1] = __imag__ in[(half - k - b) * is];
            }
            for (int b = 0; b < count; b++) {
                const T c = u * re[b] - v * im[b], s = u * im[b] + v * re[b];
                const T e = scale * (a[2 * b] + z[2 * b]), f = scale * (a[2 * b + 1] - z[2 * b + 1]);
                const T g = -turned * (a[2 * b + 1] + z[2 * b + 1]), h = turned * (a[2 * b] - z[2 * b]);
                const T p = c * g - s * h, q = c * h + s * g;
                a[2 * b] = e + p;
                a[2 * b + 1] = f + q;
                z[2 * b] = e - p;
                z[2 * b + 1] = q - f;
            }
            for (int b = 0; b < count; b++) {
                out[k + b] = __builtin_complex(a[2 * b], a[2 * b + 1]);
                out[half - k - b] = __builtin_complex(z[2 * b], z[2 * b + 1]);
            }
        }
    }
    out[0] = __builtin_complex(x + y, sign < 0 ? 0 : x - y);
    if (sign < 0)
        out[half] = __builtin_complex(x - y, (T)0);
}

static int NAME(complex)(int sign, int rigour, ptrdiff_t n, ptrdiff_t is, ptrdiff_t os, const NAME(value) *in,
        NAME(value) *out, int team)
{
    ptrdiff_t rows = (ptrdiff_t)sqrt((double)n);
    while (rows >= SHORTEST && n % rows != 0)
        rows--;
    return rows >= SHORTEST && NAME(matrix)(sign, rigour, rows, n / rows, is, os, in, out, team);
}

static int NAME(line)(int kind, int sign, int rigour, const _pm_fft_dim *dim, void *in, void *out, int team)
{
    if (kind == _PM_C2C)
        return NAME(complex)(sign, rigour, dim->n, dim->is, dim->os, in, out, team);
    if (kind == _PM_R2C) {
        const int made = NAME(complex)(-1, rigour, dim->n / 2, 1, 1, in, out, team);
        if (made)
            NAME(fold)(-1, dim->n, out, 1, out, team);
        return made;
    }
    NAME(fold)(1, dim->n, in, dim->is, out, team);
    return NAME(complex)(1, rigour, dim->n / 2, 1, 1, out, out, team);
}
