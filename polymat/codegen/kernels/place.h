/* Sizes and places of what is reserved in one block of scratch memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* An extent as a number of elements: never negative, and no overflow in products. */
static inline double _pm_extent(ptrdiff_t extent)
{
    return extent > 0 ? (double)extent : 0.0;
}

/* Reserve bytes, if any, behind those reserved before, on a cache line of their own; more than can exist
   stays so. */
static inline size_t _pm_place(size_t *reserved, double bytes)
{
    const size_t at = *reserved;
    const size_t limit = (size_t)PTRDIFF_MAX;
    if (at >= limit || bytes >= 4e18)
        *reserved = limit;
    else if (bytes > 0.0)
        *reserved = at + (((size_t)bytes + 127) / 64) * 64;
    return at;
}
