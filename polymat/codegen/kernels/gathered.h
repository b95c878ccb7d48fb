/* Four numbers of rows of gathered elements side by side, and what keeps compilers from vectors of their own. */
#pragma once

#include <stddef.h>
#include <stdint.h>
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

/* Whether a row of so many elements follows one of another number.  Loops around rows that are alike end where
   the processor expects it, and loads one by one are quickest; where it cannot know, gathers are, which take a
   whole row without a branch for each of its last elements. */
static inline int _pm_unlike(ptrdiff_t count, ptrdiff_t *before)
{
#ifdef __AVX512VL__
    const int unlike = count != *before;
    *before = count;
    return unlike;
#else
    (void)count;
    (void)before;
    return 0;
#endif
}

/* A number as it is where it is stored: a compiler that adds a product to something else may leave it as it is
   before it is rounded, in one of two loops that are to have the same sum and not in the other. */
#ifdef __AVX512VL__
#define _PM_ROUNDED(TYPE, NAME) \
    static inline TYPE NAME(TYPE product) \
    { \
        __asm__("" : "+v"(product)); \
        return product; \
    }
#else
#define _PM_ROUNDED(TYPE, NAME) \
    static inline TYPE NAME(TYPE product) \
    { \
        return product; \
    }
#endif
_PM_ROUNDED(float, _pm_rounded_f32)
_PM_ROUNDED(double, _pm_rounded_f64)
_PM_ROUNDED(_pm_four_f32, _pm_four_rounded_f32)
_PM_ROUNDED(_pm_four_f64, _pm_four_rounded_f64)

/* Four elements at places that follow each other in memory; the first `count` < 4 of those and of neighbours,
   none where it is negative, and `rest` behind them, without a look at what is there. */
#ifdef __AVX512VL__
typedef int _pm_four_i32 __attribute__((vector_size(16)));
typedef long long _pm_four_i64 __attribute__((vector_size(32)));
/* A small int: compilers differ in whether a mask is a char or an unsigned one. */
#define _PM_SOME(COUNT) ((int)(((1u << ((COUNT) & 3)) - 1u) & -(unsigned)((COUNT) > 0)) & 7)

#define _PM_FOUR_AT(T, SUFFIX, P, PLACES, LOAD_PLACES, GATHER) \
    static inline _pm_four_##SUFFIX _pm_four_at_##SUFFIX##_##PLACES(const T *from, const P *places) \
    { \
        _pm_four_##PLACES at; \
        memcpy(&at, places, sizeof at); \
        return GATHER((_pm_four_##SUFFIX){0}, from, at, 15, sizeof(T)); \
    } \
\
    static inline _pm_four_##SUFFIX _pm_some_at_##SUFFIX##_##PLACES(const T *from, const P *places, \
            ptrdiff_t count, T rest) \
    { \
        const _pm_four_##SUFFIX behind = {rest, rest, rest, rest}; \
        const _pm_four_##PLACES at = \
                LOAD_PLACES((const void *)places, (_pm_four_##PLACES){0}, _PM_SOME(count)); \
        return GATHER(behind, from, at, _PM_SOME(count), sizeof(T)); \
    }
#define _PM_SOME_FROM(T, SUFFIX, LOAD) \
    static inline _pm_four_##SUFFIX _pm_some_from_##SUFFIX(const T *from, ptrdiff_t count, T rest) \
    { \
        return LOAD((const void *)from, (_pm_four_##SUFFIX){rest, rest, rest, rest}, _PM_SOME(count)); \
    }
_PM_SOME_FROM(float, f32, __builtin_ia32_loadups128_mask)
_PM_SOME_FROM(double, f64, __builtin_ia32_loadupd256_mask)
_PM_FOUR_AT(float, f32, int32_t, i32, __builtin_ia32_loaddqusi128_mask, __builtin_ia32_gather3siv4sf)
_PM_FOUR_AT(float, f32, int64_t, i64, __builtin_ia32_loaddqudi256_mask, __builtin_ia32_gather3div8sf)
_PM_FOUR_AT(double, f64, int32_t, i32, __builtin_ia32_loaddqusi128_mask, __builtin_ia32_gather3siv4df)
_PM_FOUR_AT(double, f64, int64_t, i64, __builtin_ia32_loaddqudi256_mask, __builtin_ia32_gather3div4df)
#else
#define _PM_SOME_FROM(T, SUFFIX) \
    static inline _pm_four_##SUFFIX _pm_some_from_##SUFFIX(const T *from, ptrdiff_t count, T rest) \
    { \
        _pm_four_##SUFFIX found = {rest, rest, rest, rest}; \
        for (ptrdiff_t k = 0; k < count; k++) \
            found[k] = from[k]; \
        return found; \
    }
#define _PM_FOUR_AT(T, SUFFIX, P, PLACES) \
    static inline _pm_four_##SUFFIX _pm_four_at_##SUFFIX##_##PLACES(const T *from, const P *places) \
    { \
        return (_pm_four_##SUFFIX){from[places[0]], from[places[1]], from[places[2]], from[places[3]]}; \
    } \
\
    static inline _pm_four_##SUFFIX _pm_some_at_##SUFFIX##_##PLACES(const T *from, const P *places, \
            ptrdiff_t count, T rest) \
    { \
        _pm_four_##SUFFIX found = {rest, rest, rest, rest}; \
        for (ptrdiff_t k = 0; k < count; k++) \
            found[k] = from[places[k]]; \
        return found; \
    }
_PM_SOME_FROM(float, f32)
_PM_SOME_FROM(double, f64)
_PM_FOUR_AT(float, f32, int32_t, i32)
_PM_FOUR_AT(float, f32, int64_t, i64)
_PM_FOUR_AT(double, f64, int32_t, i32)
_PM_FOUR_AT(double, f64, int64_t, i64)
#endif
