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
   stays so.  What follows an array of pages begins a quarter of a page further in its page than this one did:
   arrays that begin alike there compete for the same lines of a first-level cache where loops go through them
   side by side. */
static inline size_t _pm_place(size_t *reserved, double bytes)
{
    const size_t at = *reserved, page = 4096;
    const size_t limit = (size_t)PTRDIFF_MAX;
    if (at >= limit || bytes >= 4e18) {
        *reserved = limit;
    } else if (bytes > 0.0) {
        size_t next = at + (((size_t)bytes + 127) / 64) * 64;
        if (next - at >= 2 * page)
            next += (at + page / 4 - next) % page;
        *reserved = next;
    }
    return at;
}

/* Leave a page free behind what one of several threads has reserved: processors fetch neighbours of lines
   within a page, and would take them from the thread that the next block belongs to. */
static inline void _pm_place_apart(size_t *reserved, int threads)
{
    if (threads > 1 && *reserved > 0)
        (void)_pm_place(reserved, 4096.0);
}
