/* Multiply-adds, on every thread or waiting for one another, and the clock of a processor.

   takes ACCUMULATORS=12|24  independent multiply-adds in a step
*/
#pragma once

#include <stdint.h>
#include "calibration/timed.h"

#define STEP(k) a##k = a##k * factor + term;
#define TWELVE(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define TWELVE_MORE(OP) OP(12) OP(13) OP(14) OP(15) OP(16) OP(17) OP(18) OP(19) OP(20) OP(21) OP(22) OP(23)
#if ACCUMULATORS == 24
#define EACH(OP) TWELVE(OP) TWELVE_MORE(OP)
#else
#define EACH(OP) TWELVE(OP)
#endif
/* Every one begins elsewhere, and the compiler may not know that they do the same. */
#define BEGIN(k) \
    TYPE a##k = term * (ELEMENT)(k + 1); \
    __asm__("" : "+m"(a##k));
#define ADD(k) sum += a##k;

#define MULTIPLY_ADDS(NAME, VECTOR, SCALAR) \
    static double NAME(ptrdiff_t steps, double scale) \
    { \
        typedef VECTOR TYPE; \
        typedef SCALAR ELEMENT; \
        const TYPE factor = (TYPE){0} + (ELEMENT)scale, term = (TYPE){0} + (ELEMENT)(1.0 - scale); \
        TYPE sum = {0}; \
        EACH(BEGIN) \
        for (ptrdiff_t step = 0; step < steps; step++) { \
            EACH(STEP) \
        } \
        EACH(ADD) \
        return (double)sum[0]; \
    }

MULTIPLY_ADDS(multiply_adds_64, vec, double)
MULTIPLY_ADDS(multiply_adds_32, vecf, float)

double pm_flops64(ptrdiff_t steps, double scale, int threads)
{
    TIMED(threads, , pm_sink = multiply_adds_64(steps, scale));
}

double pm_flops32(ptrdiff_t steps, double scale, int threads)
{
    TIMED(threads, , pm_sink = multiply_adds_32(steps, scale));
}

/* Multiply-adds that wait for one another. */
double pm_chain(ptrdiff_t steps, double scale)
{
    vec a = (vec){0} + scale;
    const vec factor = (vec){0} + scale, term = (vec){0} + (1.0 - scale);
    const double begin = now();
    for (ptrdiff_t step = 0; step < steps; step++)
        a = a * factor + term;
    const double end = now();
    pm_sink = a[0];
    return end - begin;
}

/* Rotations that wait for one another, eight a step: they take one cycle each everywhere. */
double pm_clock(ptrdiff_t steps)
{
    uint64_t x = (uint64_t)steps;
    const double begin = now();
    for (ptrdiff_t step = 0; step < steps; step++) {
#define ROTATE \
    x = x << 7 | x >> 57; \
    __asm__ volatile("" : "+r"(x));
        ROTATE ROTATE ROTATE ROTATE ROTATE ROTATE ROTATE ROTATE
    }
    const double end = now();
    pm_sink = (double)x;
    return end - begin;
}
