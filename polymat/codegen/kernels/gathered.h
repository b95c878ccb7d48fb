/* Four numbers of rows of gathered elements side by side, and what keeps compilers from vectors of their own. */
#pragma once

#include <stddef.h>
#include <string.h>

/* The same number, but the C compiler does not know that: it writes loops that have it as they are.  gcc 12
   makes vectors of others, by gathers and by taking indices out of vectors one by one. */
static inline ptrdiff_t _pm_as_it_is(ptrdiff_t at)
{
    __asm__("" : "+r"(at));
    return at;
}

#define _PM_FOUR(T, SUFFIX) \
    typedef T _pm_four_##SUFFIX __attribute__((vector_size(4 * sizeof(T)))); \
\
    static inline _pm_four_##SUFFIX _pm_four_from_##SUFFIX(const T *from) \
    { \
        _pm_four_##SUFFIX found; \
        memcpy(&found, from, sizeof found); \
        return found; \
    } \
\
    static inline _pm_four_##SUFFIX _pm_four_of_##SUFFIX(T a, T b, T c, T d) \
    { \
        return (_pm_four_##SUFFIX){a, b, c, d}; \
    } \
\
    static inline T _pm_four_sum_##SUFFIX(_pm_four_##SUFFIX terms) \
    { \
        return (terms[0] + terms[2]) + (terms[1] + terms[3]); \
    }
_PM_FOUR(float, f32)
_PM_FOUR(double, f64)
