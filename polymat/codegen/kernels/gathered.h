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
    static inline void _pm_four_to_##SUFFIX(T *to, _pm_four_##SUFFIX terms) \
    { \
        memcpy(to, &terms, sizeof terms); \
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

/* How many terms are computed at a time, a few KiB in the first-level cache; a multiple of four, since rows go
   on there. */
enum { _PM_TERMS = 512 };
/* How many rows are looked at, and in how many of these one is followed by another that is not as long where
   rows are called unlike. */
enum { _PM_SOME_ROWS = 64, _PM_UNLIKE_OF = 8 };
/* Of fewer elements none are looked at: four times as many as there may be 16 of each of these rows. */
enum { _PM_ENOUGH_ELEMENTS = 4 * 16 * _PM_SOME_ROWS };

/* Whether rows are not as long as those before them; ends[k] is where row k begins.  Loops around rows that are
   alike end where the processor expects it, and loads one by one are quickest; where it cannot know, terms that
   are computed before are summed up without a branch. */
#ifdef __AVX512VL__
#define _PM_UNLIKE(T, SUFFIX) \
    static inline int _pm_unlike_##SUFFIX(const T *ends, ptrdiff_t first, ptrdiff_t last) \
    { \
        if (last <= first || (ptrdiff_t)ends[last] - (ptrdiff_t)ends[first] < _PM_ENOUGH_ELEMENTS) \
            return 0; \
        const ptrdiff_t apart = (last - first) / _PM_SOME_ROWS + 1; \
        int unlike = 0, all = 0; \
        for (ptrdiff_t k = first; k + 1 < last; k += apart) { \
            unlike += ends[k + 1] - ends[k] != ends[k + 2] - ends[k + 1]; \
            all++; \
        } \
        return unlike * _PM_UNLIKE_OF > all; \
    }
#else
#define _PM_UNLIKE(T, SUFFIX) \
    static inline int _pm_unlike_##SUFFIX(const T *ends, ptrdiff_t first, ptrdiff_t last) \
    { \
        (void)ends; \
        return (void)first, (void)last, 0; \
    }
#endif
_PM_UNLIKE(int8_t, i8)
_PM_UNLIKE(int16_t, i16)
_PM_UNLIKE(int32_t, i32)
_PM_UNLIKE(int64_t, i64)
_PM_UNLIKE(uint8_t, u8)
_PM_UNLIKE(uint16_t, u16)
_PM_UNLIKE(uint32_t, u32)
_PM_UNLIKE(uint64_t, u64)

/* A number as it is where it is stored: a compiler that adds a product to something else may leave it as it is
   before it is rounded, in one of two loops that are to have the same sum and not in the other. */
#if defined(__AVX512VL__)
#define _PM_AS_STORED(PRODUCT) __asm__("" : "+v"(PRODUCT))
#elif defined(__FMA__)
#define _PM_AS_STORED(PRODUCT) __asm__("" : "+x"(PRODUCT))
#elif defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF) /* four doubles may be more than a register */
#define _PM_AS_STORED(PRODUCT) __asm__("" : "+m"(PRODUCT))
#else
#define _PM_AS_STORED(PRODUCT) ((void)0)
#endif
#define _PM_ROUNDED(TYPE, NAME) \
    static inline TYPE NAME(TYPE product) \
    { \
        _PM_AS_STORED(product); \
        return product; \
    }
_PM_ROUNDED(float, _pm_rounded_f32)
_PM_ROUNDED(double, _pm_rounded_f64)
_PM_ROUNDED(_pm_four_f32, _pm_four_rounded_f32)
_PM_ROUNDED(_pm_four_f64, _pm_four_rounded_f64)

/* Four elements at places that follow each other in memory; and a sum with all terms of a row added, term k to
   lane k % 4.  The last 16 of a row or less are masked: a branch for each of its ends would be guessed wrong. */
#ifdef __AVX512VL__
typedef int _pm_four_i32 __attribute__((vector_size(16)));
typedef long long _pm_four_i64 __attribute__((vector_size(32)));
typedef float _pm_many_f32 __attribute__((vector_size(64)));
typedef double _pm_many_f64 __attribute__((vector_size(64)));

#define _PM_FOUR_AT(T, SUFFIX, P, PLACES, GATHER) \
    static inline _pm_four_##SUFFIX _pm_four_at_##SUFFIX##_##PLACES(const T *from, const P *places) \
    { \
        _pm_four_##PLACES at; \
        memcpy(&at, places, sizeof at); \
        return GATHER((_pm_four_##SUFFIX){0}, from, at, 15, sizeof(T)); \
    }
_PM_FOUR_AT(float, f32, int32_t, i32, __builtin_ia32_gather3siv4sf)
_PM_FOUR_AT(float, f32, int64_t, i64, __builtin_ia32_gather3div8sf)
_PM_FOUR_AT(double, f64, int32_t, i32, __builtin_ia32_gather3siv4df)
_PM_FOUR_AT(double, f64, int64_t, i64, __builtin_ia32_gather3div4df)

/* The terms from k on whose bits are set, in whole registers of fours; the others leave what they are added to
   as it is. */
static inline _pm_four_f32 _pm_last_f32(_pm_four_f32 sum, const float *terms, unsigned some)
{
    const float n = -0.0f;
    const _pm_many_f32 rest = {n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n};
    const _pm_many_f32 last = __builtin_ia32_loadups512_mask((const void *)terms, rest, (unsigned short)some);
    _pm_four_f32 fours[4];
    memcpy(fours, &last, sizeof fours);
    return sum + fours[0] + fours[1] + fours[2] + fours[3];
}

static inline _pm_four_f64 _pm_last_f64(_pm_four_f64 sum, const double *terms, unsigned some)
{
    const double n = -0.0;
    const _pm_many_f64 rest = {n, n, n, n, n, n, n, n};
    const int low = (int)(some & 255), high = (int)(some >> 8);
    const _pm_many_f64 last[2] = {__builtin_ia32_loadupd512_mask((const void *)terms, rest,
                                          (unsigned char)low),
            __builtin_ia32_loadupd512_mask((const void *)(terms + 8), rest, (unsigned char)high)};
    _pm_four_f64 fours[4];
    memcpy(fours, last, sizeof fours);
    return sum + fours[0] + fours[1] + fours[2] + fours[3];
}
#define _PM_ADDED(T, SUFFIX) \
    static inline _pm_four_##SUFFIX _pm_added_##SUFFIX(_pm_four_##SUFFIX sum, const T *terms, \
            ptrdiff_t count) \
    { \
        ptrdiff_t k = 0; \
        _Pragma("GCC unroll 1") for (; k + 16 < count; k += 16) for (int part = 0; part < 16; part += 4) \
                sum += _pm_four_from_##SUFFIX(terms + k + part); \
        return _pm_last_##SUFFIX(sum, terms + k, ~(~0u << (count - k))); \
    }
#else
#define _PM_FOUR_AT(T, SUFFIX, P, PLACES) \
    static inline _pm_four_##SUFFIX _pm_four_at_##SUFFIX##_##PLACES(const T *from, const P *places) \
    { \
        return (_pm_four_##SUFFIX){from[places[0]], from[places[1]], from[places[2]], from[places[3]]}; \
    }
#define _PM_ADDED(T, SUFFIX) \
    static inline _pm_four_##SUFFIX _pm_added_##SUFFIX(_pm_four_##SUFFIX sum, const T *terms, \
            ptrdiff_t count) \
    { \
        for (ptrdiff_t k = 0; k < count; k++) \
            sum[k % 4] += terms[k]; \
        return sum; \
    }
_PM_FOUR_AT(float, f32, int32_t, i32)
_PM_FOUR_AT(float, f32, int64_t, i64)
_PM_FOUR_AT(double, f64, int32_t, i32)
_PM_FOUR_AT(double, f64, int64_t, i64)
#endif
_PM_ADDED(float, f32)
_PM_ADDED(double, f64)
