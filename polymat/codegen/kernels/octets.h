/* Eight vectors of eight elements, transposed in registers.

   takes T           the type of an element
   takes NAME(name)  functions and types of that type
*/
#pragma once

#include "shuffles.h"

/* Eight elements in registers, and anywhere in memory. */
typedef T NAME(octet) __attribute__((vector_size(8 * sizeof(T)), may_alias));
typedef NAME(octet) NAME(octet_memory) __attribute__((aligned(sizeof(T)), may_alias));

/* Eight octets, transposed. */
static inline __attribute__((always_inline)) void NAME(transpose_octets)(NAME(octet) *r)
{
#ifdef _PM_SHUFFLES
#define _PM_PAIR(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14); \
    high = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define _PM_QUAD(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13); \
    high = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define _PM_HALF(a, b, low, high) \
    low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); \
    high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
    NAME(octet) s0, s1, s2, s3, s4, s5, s6, s7, q0, q1, q2, q3, q4, q5, q6, q7;
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
#else
    for (int line = 0; line < 8; line++)
        for (int lane = 0; lane < line; lane++) {
            const T other = r[lane][line];
            r[lane][line] = r[line][lane];
            r[line][lane] = other;
        }
#endif
}
