/* Integer inputs whose elements were declared to lie between limits: looked at before anything is computed. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static _Thread_local char _pm_outside_text[512];

/* What was wrong with the latest call of this thread that found a value outside. */
const char *_pm_outside(void);
const char *_pm_outside(void)
{
    return _pm_outside_text;
}

static inline int _pm_tell_outside(const char *array, int rank, const ptrdiff_t *extents, int turned,
        ptrdiff_t at, const char *value, int64_t low, int64_t high)
{
    ptrdiff_t place[32];
    for (int k = rank - 1; k >= 0; k--) {
        place[turned ? rank - 1 - k : k] = at % extents[k];
        at /= extents[k];
    }
    char *text = _pm_outside_text;
    const char *const end = text + sizeof _pm_outside_text;
    text += snprintf(text, (size_t)(end - text), "%.64s[", array);
    for (int k = 0; k < rank && end - text > 128; k++)
        text += snprintf(text, (size_t)(end - text), k == 0 ? "%td" : ", %td", place[k]);
    (void)snprintf(text, (size_t)(end - text), "] is %s, and its values are declared as %lld..%lld", value,
            (long long)low, (long long)high);
    return 1;
}

typedef uint64_t (*_pm_farthest_of)(const void *values, ptrdiff_t count, uint64_t first);

/* The largest of the distances that parts of some values have, a thread each. */
static inline uint64_t _pm_farthest(_pm_farthest_of farthest_of, const void *values, size_t size,
        ptrdiff_t count, uint64_t first, int threads)
{
    if (threads <= 1)
        return farthest_of(values, count, first);
    const ptrdiff_t share = (count + threads - 1) / threads;
    uint64_t farthest = 0;
#pragma omp parallel for num_threads(threads) reduction(max : farthest)
    for (int part = 0; part < threads; part++) {
        const ptrdiff_t from = part * share < count ? part * share : count;
        const ptrdiff_t some = count - from < share ? count - from : share;
        const uint64_t distance = farthest_of((const char *)values + (size_t)from * size, some, first);
        farthest = distance > farthest ? distance : farthest;
    }
    return farthest;
}

/* How many elements are looked at before the first of them is used: they are in the first-level cache then. */
enum { _PM_LOOKED_AT = 256 };

#define _PM_LINE_OF(T) ((ptrdiff_t)(64 / sizeof(T))) /* elements in a line of the cache */

/* The distance from the lower limit in the unsigned type is larger for what is below it than for what is not
   above the upper one: one comparison an element.  Of values in order the first and the last say it all. */
#define _PM_OUTSIDE(T, U, SUFFIX, FORMAT, WIDE, LEAST, MOST, BELOW, ABOVE) \
    static inline uint64_t _pm_farthest_##SUFFIX(const void *from, ptrdiff_t count, uint64_t first) \
    { \
        const T *restrict const values = (const T *)from; \
        U farthest = 0; \
        for (ptrdiff_t k = 0; k < count; k++) { \
            const U distance = (U)((U)values[k] - (U)first); \
            farthest = distance > farthest ? distance : farthest; \
        } \
        return farthest; \
    } \
\
    static inline int _pm_outside_##SUFFIX(const T *restrict values, const char *array, int rank, \
            const ptrdiff_t *extents, int turned, int64_t low, int64_t high, int threads) \
    { \
        ptrdiff_t count = 1; \
        for (int k = 0; k < rank; k++) \
            count *= extents[k] > 0 ? extents[k] : 0; \
        if (count == 0) \
            return 0; \
        const int64_t first = low > (LEAST) ? low : (LEAST), last = high < (MOST) ? high : (MOST); \
        if (first <= last \
                && _pm_farthest(_pm_farthest_##SUFFIX, values, sizeof(T), count, (uint64_t)first, threads) \
                        <= (U)((U)last - (U)first)) \
            return 0; \
        ptrdiff_t at = 0; \
        while (!(BELOW(values[at])) && !(ABOVE(values[at]))) \
            at++; \
        char value[32]; \
        (void)snprintf(value, sizeof value, FORMAT, (WIDE)values[at]); \
        return _pm_tell_outside(array, rank, extents, turned, at, value, low, high); \
    } \
\
    /* Look at the elements `begin` to `to` of `count`, and at some behind them: where those end that are inside, \
       or -1.  What comes next is asked for: nobody else reads ahead of this. */ \
    static __attribute__((noinline, unused)) ptrdiff_t _pm_look_##SUFFIX(const T *values, ptrdiff_t count, \
            int64_t low, int64_t high, ptrdiff_t begin, ptrdiff_t to) \
    { \
        const int64_t first = low > (LEAST) ? low : (LEAST), last = high < (MOST) ? high : (MOST); \
        const ptrdiff_t some = count - begin < _PM_LOOKED_AT ? count - begin : _PM_LOOKED_AT; \
        const ptrdiff_t end = begin + some > to ? begin + some : to; \
        const ptrdiff_t next = count - end < _PM_LOOKED_AT ? count - end : _PM_LOOKED_AT; \
        for (ptrdiff_t k = 0; k < next; k += _PM_LINE_OF(T)) \
            __builtin_prefetch(values + end + k); \
        const int inside = begin >= end \
                || (first <= last \
                        && _pm_farthest_##SUFFIX(values + begin, end - begin, (uint64_t)first) \
                                <= (U)((U)last - (U)first)); \
        return inside ? end : -1; \
    } \
\
    /* Whether the elements `from` to `to` of `count` are inside, told in `wrong` where they are not; seen[0] to \
       seen[1] are known to be. */ \
    static inline int _pm_inside_##SUFFIX(const T *values, ptrdiff_t count, int64_t low, int64_t high, \
            ptrdiff_t from, ptrdiff_t to, ptrdiff_t *seen, int *wrong) \
    { \
        if (__builtin_expect(from >= to || (seen[0] <= from && to <= seen[1]), 1)) \
            return 1; \
        const int goes_on = seen[0] <= from && from <= seen[1]; \
        const ptrdiff_t end = _pm_look_##SUFFIX(values, count, low, high, goes_on ? seen[1] : from, to); \
        if (end < 0) { \
            __atomic_store_n(wrong, 1, __ATOMIC_RELAXED); \
            return 0; \
        } \
        seen[0] = goes_on ? seen[0] : from; \
        seen[1] = end; \
        return 1; \
    } \
\
    static inline int _pm_in_order_##SUFFIX(const T *restrict values, ptrdiff_t count) \
    { \
        int falls = 0; \
        for (ptrdiff_t k = 1; k < count; k++) \
            falls |= values[k] < values[k - 1]; \
        return !falls; \
    } \
\
    static inline int _pm_in_order_inside_##SUFFIX(const T *restrict values, ptrdiff_t count, int64_t low, \
            int64_t high) \
    { \
        if (count <= 0) \
            return 1; \
        const int begins = !(BELOW(values[0])), ends = !(ABOVE(values[count - 1])); \
        return begins && ends && _pm_in_order_##SUFFIX(values, count); \
    } \
\
    static inline int _pm_unsorted_##SUFFIX(const T *restrict values, const char *array, ptrdiff_t count) \
    { \
        if (_pm_in_order_##SUFFIX(values, count)) \
            return 0; \
        ptrdiff_t at = 1; \
        while (values[at] >= values[at - 1]) \
            at++; \
        (void)snprintf(_pm_outside_text, sizeof _pm_outside_text, \
                "%.64s[%td] is " FORMAT ", less than " FORMAT \
                " before it, and its values are declared as sorted", \
                array, at, (WIDE)values[at], (WIDE)values[at - 1]); \
        return 1; \
    }
#define _PM_SIGNED_BELOW(X) ((int64_t)(X) < low)
#define _PM_SIGNED_ABOVE(X) ((int64_t)(X) > high)
#define _PM_UNSIGNED_BELOW(X) (low > 0 && (uint64_t)(X) < (uint64_t)low)
#define _PM_UNSIGNED_ABOVE(X) (high < 0 || (uint64_t)(X) > (uint64_t)high)
_PM_OUTSIDE(int8_t, uint8_t, i8, "%lld", long long, INT8_MIN, INT8_MAX, _PM_SIGNED_BELOW, _PM_SIGNED_ABOVE)
_PM_OUTSIDE(int16_t, uint16_t, i16, "%lld", long long, INT16_MIN, INT16_MAX, _PM_SIGNED_BELOW,
        _PM_SIGNED_ABOVE)
_PM_OUTSIDE(int32_t, uint32_t, i32, "%lld", long long, INT32_MIN, INT32_MAX, _PM_SIGNED_BELOW,
        _PM_SIGNED_ABOVE)
_PM_OUTSIDE(int64_t, uint64_t, i64, "%lld", long long, INT64_MIN, INT64_MAX, _PM_SIGNED_BELOW,
        _PM_SIGNED_ABOVE)
_PM_OUTSIDE(uint8_t, uint8_t, u8, "%llu", unsigned long long, 0, UINT8_MAX, _PM_UNSIGNED_BELOW,
        _PM_UNSIGNED_ABOVE)
_PM_OUTSIDE(uint16_t, uint16_t, u16, "%llu", unsigned long long, 0, UINT16_MAX, _PM_UNSIGNED_BELOW,
        _PM_UNSIGNED_ABOVE)
_PM_OUTSIDE(uint32_t, uint32_t, u32, "%llu", unsigned long long, 0, UINT32_MAX, _PM_UNSIGNED_BELOW,
        _PM_UNSIGNED_ABOVE)
_PM_OUTSIDE(uint64_t, uint64_t, u64, "%llu", unsigned long long, 0, INT64_MAX, _PM_UNSIGNED_BELOW,
        _PM_UNSIGNED_ABOVE)
