/* Extents cut into pieces that differ by one at most, and requests for what is packed soon. */
#pragma once

#include "products/family.h"

/* `count` cut into `pieces` that differ by one at most: the size of the one after `done` of them. */
static inline ptrdiff_t NAME(piece)(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    return pieces == 1 ? count : count / pieces + (done < count % pieces);
}

/* Where that piece begins. */
static inline ptrdiff_t NAME(before)(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    const ptrdiff_t longer = pieces == 1 ? 0 : count % pieces;
    return pieces == 1 ? 0 : done * (count / pieces) + (done < longer ? done : longer);
}

/* Ask for one of some equal parts of the depth of a strip or panel that will be packed soon. */
static inline void NAME(request)(const T *from, ptrdiff_t across, ptrdiff_t along, ptrdiff_t width,
        ptrdiff_t depth, ptrdiff_t part, ptrdiff_t parts)
{
    enum { line = 64 / sizeof(T) };
    const ptrdiff_t first = depth * part / parts, last = depth * (part + 1) / parts;
    if (across == 1)
        for (ptrdiff_t k = first; k < last; k++) {
            for (ptrdiff_t r = 0; r < width; r += line)
                __builtin_prefetch(from + k * along + r, 0, 2);
            __builtin_prefetch(from + k * along + width - 1, 0, 2);
        }
    else if (along == 1)
        for (ptrdiff_t r = 0; r < width; r++)
            for (ptrdiff_t k = first; k < last; k += line)
                __builtin_prefetch(from + r * across + k, 0, 2);
}
