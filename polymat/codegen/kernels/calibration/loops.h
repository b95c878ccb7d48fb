/* What loops do beside multiply-adds, of vectors in the first-level cache or in registers: divisions, shuffles,
   elements that are apart, and loads that lie in two lines.

   takes VECTOR_BYTES=16|32|64  of a vector of the machine
*/
#pragma once

#include <stdint.h>
#include "shuffles.h"
#include "calibration/arithmetic.h"

#define ONWARD_2 1, 2
#define ONWARD_4 ONWARD_2, 3, 4
#define ONWARD_8 ONWARD_4, 5, 6, 7, 8
#define ONWARD_16 ONWARD_8, 9, 10, 11, 12, 13, 14, 15, 16
#if VECTOR_BYTES == 64
#define ONWARD64 ONWARD_8
#define ONWARD32 ONWARD_16
#elif VECTOR_BYTES == 32
#define ONWARD64 ONWARD_4
#define ONWARD32 ONWARD_8
#else
#define ONWARD64 ONWARD_2
#define ONWARD32 ONWARD_4
#endif

/* The elements of two vectors from the second one of the first on, as rows are shifted. */
#if defined(_PM_SHUFFLES)
#define SHIFTED(a, b, whole, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHIFTED(a, b, whole, ...) __builtin_shuffle(a, b, (whole){__VA_ARGS__})
#endif

#define BEGINS(k) \
    TYPE a##k = term * (ELEMENT)(k + 1); \
    __asm__("" : "+m"(a##k));
#define SUMMED(k) sum += a##k;
#define DIVIDED(k) a##k = term / a##k;
#define SHUFFLED(k) a##k = SHIFTED(a##k, other, WHOLE, ONWARD);

/* Twelve of them at a time, which do not wait for each other. */
#define STEPS(NAME, OP) \
    double NAME(ptrdiff_t steps, double scale) \
    { \
        const TYPE term = (TYPE){0} + (ELEMENT)scale, other = term + term; \
        TYPE sum = other; \
        TWELVE(BEGINS) \
        const double begin = now(); \
        for (ptrdiff_t step = 0; step < steps; step++) { \
            TWELVE(OP) \
        } \
        const double end = now(); \
        TWELVE(SUMMED) \
        pm_sink = (double)sum[0]; \
        return end - begin; \
    }

typedef int64_t whole64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t whole32 __attribute__((vector_size(VECTOR_BYTES)));
#define TYPE vec
#define ELEMENT double
#define WHOLE whole64
#define ONWARD ONWARD64
STEPS(pm_divide64, DIVIDED)
STEPS(pm_shuffle64, SHUFFLED)
#undef TYPE
#undef ELEMENT
#undef WHOLE
#undef ONWARD
#define TYPE vecf
#define ELEMENT float
#define WHOLE whole32
#define ONWARD ONWARD32
STEPS(pm_divide32, DIVIDED)
STEPS(pm_shuffle32, SHUFFLED)
#undef TYPE
#undef ELEMENT
#undef WHOLE
#undef ONWARD

/* Seconds of `repeats` copies of `count` elements to neighbours: from every `apart`-th place, or from places
   that others say, up to PLACES. */
#define PLACES 512
#define PICKED(NAME, PLACED, ELEMENT, INDEX) \
    double NAME(ELEMENT *x, ELEMENT *y, ptrdiff_t count, ptrdiff_t apart, ptrdiff_t repeats) \
    { \
        const double begin = now(); \
        for (ptrdiff_t repeat = 0; repeat < repeats; repeat++) { \
            _Pragma("omp simd") for (ptrdiff_t i = 0; i < count; i++) y[i] = x[apart * i]; \
            __asm__ volatile("" : : "r"(x), "r"(y) : "memory"); \
        } \
        return now() - begin; \
    } \
    double PLACED(ELEMENT *x, ELEMENT *y, ptrdiff_t count, ptrdiff_t repeats) \
    { \
        static INDEX places[PLACES]; \
        for (ptrdiff_t i = 0; i < count; i++) \
            places[i] = (INDEX)(i * 5 % count); \
        const double begin = now(); \
        for (ptrdiff_t repeat = 0; repeat < repeats; repeat++) { \
            _Pragma("omp simd") for (ptrdiff_t i = 0; i < count; i++) y[i] = x[places[i]]; \
            __asm__ volatile("" : : "r"(x), "r"(y), "r"(places) : "memory"); \
        } \
        return now() - begin; \
    }
PICKED(pm_picked64, pm_gathered64, double, int64_t)
PICKED(pm_picked32, pm_gathered32, float, int32_t)

/* A row of sums of neighbours, as stages have them; a call, so that each begins and ends by itself. */
static __attribute__((noinline)) void row_of(const float *restrict x, float *restrict y, ptrdiff_t count)
{
    _Pragma("omp simd") for (ptrdiff_t i = 0; i < count; i++) y[i] = x[i] + x[i + 1];
}

/* Seconds of `repeats` times rows of so many vectors, and none to all but one element of a further one, each as
   long as no other, as those of several stages in a tile are. */
double pm_rows(const float *x, float *y, ptrdiff_t vectors, ptrdiff_t repeats)
{
    const ptrdiff_t lanes = VECTOR_BYTES / 4;
    const double begin = now();
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        for (ptrdiff_t row = 0; row < lanes; row++)
            row_of(x + 4, y, vectors * lanes + 5 * row % lanes);
    const double end = now();
    pm_sink = y[0];
    return end - begin;
}

typedef double across __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(8)));

/* A stencil over rows of so many vectors, `stride` numbers apart, which begin anywhere within lines: one after the
   other, or two side by side, which share what they load. */
static void stencil_once(const double *x, double *y, ptrdiff_t rows, ptrdiff_t vectors, ptrdiff_t stride,
        int paired)
{
    for (ptrdiff_t r = 1; r + 1 + paired < rows; r += 1 + paired) {
        const across *const above = (const across *)(x + (r - 1) * stride),
                            *const here = (const across *)(x + r * stride);
        const across *const below = (const across *)(x + (r + 1) * stride),
                            *const last = (const across *)(x + (r + 2) * stride);
        across *const first = (across *)(y + r * stride), *const second = (across *)(y + (r + 1) * stride);
        if (paired)
            for (ptrdiff_t i = 0; i < vectors; i++) {
                const across a = here[i], b = below[i];
                first[i] = above[i] + a + b;
                second[i] = a + b + last[i];
            }
        else
            for (ptrdiff_t i = 0; i < vectors; i++)
                first[i] = above[i] + here[i] + below[i];
    }
}

/* Seconds of so many pairs of its steps, from one array to the other and back. */
double pm_stencil(double *x, double *y, ptrdiff_t rows, ptrdiff_t vectors, ptrdiff_t stride,
        ptrdiff_t repeats, int paired)
{
    double begin = now();
    for (ptrdiff_t repeat = -1; repeat < repeats; repeat++) {
        stencil_once(x, y, rows, vectors, stride, paired);
        stencil_once(y, x, rows, vectors, stride, paired);
        if (repeat < 0)
            begin = now();
    }
    return now() - begin;
}

/* Seconds of `repeats` sweeps over `bytes` by vectors that need not begin where one of memory does. */
double pm_across(const char *data, ptrdiff_t bytes, ptrdiff_t repeats)
{
    across a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
    double begin = now();
    for (ptrdiff_t repeat = -1; repeat < repeats; repeat++) {
        const across *x = (const across *)data;
        for (ptrdiff_t i = 0; i < bytes / VECTOR_BYTES; i += 4) {
            a0 += x[i];
            a1 += x[i + 1];
            a2 += x[i + 2];
            a3 += x[i + 3];
        }
        if (repeat < 0)
            begin = now();
    }
    const double end = now();
    const across sum = (a0 + a1) + (a2 + a3);
    pm_sink = sum[0];
    return end - begin;
}
