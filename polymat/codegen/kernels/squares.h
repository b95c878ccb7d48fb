/* As many vectors as each has elements, transposed in registers.

   takes T           the type of an element
   takes NAME(name)  functions and types of that type
   takes SIDE=2|4|8  elements of a vector, which is no wider than a register
*/
#pragma once

#include "shuffles.h"

/* A row of a square in a register, and anywhere in memory. */
typedef T NAME(square_row) __attribute__((vector_size(SIDE * sizeof(T)), may_alias));
typedef NAME(square_row) NAME(square_memory) __attribute__((aligned(sizeof(T)), may_alias));

/* The rows of a square, transposed. */
static inline __attribute__((always_inline)) void NAME(transpose_square)(NAME(square_row) *r)
{
#if !defined(_PM_SHUFFLES)
    for (int line = 0; line < SIDE; line++)
        for (int lane = 0; lane < line; lane++) {
            const T other = r[lane][line];
            r[lane][line] = r[line][lane];
            r[line][lane] = other;
        }
#elif SIDE == 2
    const NAME(square_row) first = r[0];
    r[0] = __builtin_shufflevector(first, r[1], 0, 2);
    r[1] = __builtin_shufflevector(first, r[1], 1, 3);
#elif SIDE == 4
#define _PM_PAIR(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 4, 2, 6); \
    high = __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define _PM_HALF(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 1, 4, 5); \
    high = __builtin_shufflevector(a, b, 2, 3, 6, 7)
    NAME(square_row) s0, s1, s2, s3;
    _PM_PAIR(r[0], r[1], s0, s1);
    _PM_PAIR(r[2], r[3], s2, s3);
    _PM_HALF(s0, s2, r[0], r[2]);
    _PM_HALF(s1, s3, r[1], r[3]);
#undef _PM_PAIR
#undef _PM_HALF
#else
#define _PM_PAIR(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14); \
    high = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define _PM_QUAD(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13); \
    high = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define _PM_HALF(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); \
    high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
    NAME(square_row) s0, s1, s2, s3, s4, s5, s6, s7, q0, q1, q2, q3, q4, q5, q6, q7;
    _PM_PAIR(r[0], r[1], s0, s1);
    _PM_PAIR(r[2], r[3], s2, s3);
    _PM_PAIR(r[4], r[5], s4, s5);
    _PM_PAIR(r[6], r[7], s6, s7);
    _PM_QUAD(s0, s2, q0, q2);
    _PM_QUAD(s1, s3, q1, q3);
    _PM_QUAD(s4, s6, q4, q6);
    _PM_QUAD(s5, s7, q5, q7);
    _PM_HALF(q0, q4, r[0], r[4]);
    _PM_HALF(q1, q5, r[1], r[5]);
    _PM_HALF(q2, q6, r[2], r[6]);
    _PM_HALF(q3, q7, r[3], r[7]);
#undef _PM_PAIR
#undef _PM_QUAD
#undef _PM_HALF
#endif
}
