/* Parts of a range with equal work, by how many elements there are up to each point of it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What the start of a row takes, in elements. */
enum { _PM_ROW_START = 4 };

/* Where part `part` of `parts` of the rows `first` to `last` begins; ends[k] is where row k begins. */
#define _PM_SHARE(T, SUFFIX) \
    static inline ptrdiff_t _pm_share_##SUFFIX(const T *ends, ptrdiff_t first, ptrdiff_t last, \
            ptrdiff_t part, ptrdiff_t parts) \
    { \
        if (part <= 0 || first >= last) \
            return first; \
        const double all = \
                (double)ends[last] - (double)ends[first] + (double)(last - first) * _PM_ROW_START; \
        const double wanted = all * ((double)part / (double)parts); \
        ptrdiff_t low = first, high = last; \
        while (low < high) { \
            const ptrdiff_t middle = low + (high - low) / 2; \
            const double before = \
                    (double)ends[middle] - (double)ends[first] + (double)(middle - first) * _PM_ROW_START; \
            if (before < wanted) \
                low = middle + 1; \
            else \
                high = middle; \
        } \
        return part < parts ? low : last; \
    }
_PM_SHARE(int8_t, i8)
_PM_SHARE(int16_t, i16)
_PM_SHARE(int32_t, i32)
_PM_SHARE(int64_t, i64)
_PM_SHARE(uint8_t, u8)
_PM_SHARE(uint16_t, u16)
_PM_SHARE(uint32_t, u32)
_PM_SHARE(uint64_t, u64)
