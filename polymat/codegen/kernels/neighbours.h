/* Rows of elements at places that are neighbours, as those of a band are: loaded as they lie, not gathered. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "gathered.h"

/* How many fours are looked at of a row; and one in how many of these may be at other places than
   neighbours where rows are called so: the processor guesses which. */
enum { _PM_SOME_FOURS = 4, _PM_SCATTERED_OF = 8 };
/* How many elements further on is asked for: a page or half of one, where processors that read ahead stop. */
enum { _PM_AHEAD = 512 };

/* Whether four places follow each other, any numbers may be there; and the elements at them. */
typedef uint32_t _pm_four_u32 __attribute__((vector_size(16)));
typedef uint64_t _pm_four_u64 __attribute__((vector_size(32)));

static inline int _pm_four_beside_i32(const int32_t *places)
{
    _pm_four_u32 apart;
    memcpy(&apart, places, sizeof apart);
    apart ^= (_pm_four_u32){0, 1, 2, 3} + (uint32_t)places[0];
#ifdef __SSE4_1__
    typedef long long two __attribute__((vector_size(16)));
    return __builtin_ia32_ptestz128((two)apart, (two)apart);
#else
    return (apart[1] | apart[2] | apart[3]) == 0;
#endif
}

static inline int _pm_four_beside_i64(const int64_t *places)
{
    _pm_four_u64 apart;
    memcpy(&apart, places, sizeof apart);
    apart ^= (_pm_four_u64){0, 1, 2, 3} + (uint64_t)places[0];
#ifdef __AVX__
    typedef long long four __attribute__((vector_size(32)));
    return __builtin_ia32_ptestz256((four)apart, (four)apart);
#else
    return (apart[1] | apart[2] | apart[3]) == 0;
#endif
}
#define _PM_FOUR_NEAR(T, SUFFIX, P, PLACES) \
    static inline _pm_four_##SUFFIX _pm_four_near_##SUFFIX##_##PLACES(const T *from, const P *places) \
    { \
        if (__builtin_expect(_pm_four_beside_##PLACES(places), 1)) \
            return _pm_four_from_##SUFFIX(from + places[0]); \
        return (_pm_four_##SUFFIX){from[places[0]], from[places[1]], from[places[2]], from[places[3]]}; \
    }
_PM_FOUR_NEAR(float, f32, int32_t, i32)
_PM_FOUR_NEAR(float, f32, int64_t, i64)
_PM_FOUR_NEAR(double, f64, int32_t, i32)
_PM_FOUR_NEAR(double, f64, int64_t, i64)

/* Whether most fours of rows are at places beside each other; ends[k] is where row k begins. */
#define _PM_BESIDE(T, SUFFIX, P, PLACES) \
    static inline int _pm_beside_##SUFFIX##_##PLACES(const T *ends, ptrdiff_t first, ptrdiff_t last, \
            const P *places) \
    { \
        if (last <= first || (ptrdiff_t)ends[last] - (ptrdiff_t)ends[first] < _PM_ENOUGH_ELEMENTS) \
            return 0; \
        const ptrdiff_t apart = (last - first) / _PM_SOME_ROWS + 1; \
        int beside = 0, all = 0; \
        for (ptrdiff_t k = first; k < last; k += apart) { \
            const P *four = places + (ptrdiff_t)ends[k]; \
            const ptrdiff_t count = ((ptrdiff_t)ends[k + 1] - (ptrdiff_t)ends[k]) / 4; \
            for (int at = 0; at < count && at < _PM_SOME_FOURS; at++, four += 4) { \
                beside += _pm_four_beside_##PLACES(four); \
                all++; \
            } \
        } \
        return beside > 0 && (all - beside) * _PM_SCATTERED_OF <= all; \
    }
#define _PM_BESIDE_OF(T, SUFFIX) \
    _PM_BESIDE(T, SUFFIX, int32_t, i32) \
    _PM_BESIDE(T, SUFFIX, int64_t, i64)
_PM_BESIDE_OF(int8_t, i8)
_PM_BESIDE_OF(int16_t, i16)
_PM_BESIDE_OF(int32_t, i32)
_PM_BESIDE_OF(int64_t, i64)
_PM_BESIDE_OF(uint8_t, u8)
_PM_BESIDE_OF(uint16_t, u16)
_PM_BESIDE_OF(uint32_t, u32)
_PM_BESIDE_OF(uint64_t, u64)
