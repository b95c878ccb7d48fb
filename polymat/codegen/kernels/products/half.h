/* Triangles in products of matrices around register blocks: of an operand, which is summed, or of the result.

   Nothing outside a triangle is read or multiplied: a NaN there, and an infinity that it would be multiplied
   by, change nothing. */
#pragma once

#include "products/family.h"

/* A triangle of A (place 1), of B (2) or of C (3); 0: none.  Its lines are rows of A or C or columns of B;
   across a line, along k or the columns of C, it has the elements before the diagonal (those at positions
   < line + shift) or those from there on.  mirror: the operand's elements in its other part, `across` from
   line to line and `along` from one to the next in a line; NULL: none. */
typedef struct {
    int place, before;
    ptrdiff_t shift;
    const T *mirror;
    ptrdiff_t across, along;
} NAME(half);

static inline NAME(half) NAME(half_of)(int place, int before, ptrdiff_t shift, const T *mirror,
        ptrdiff_t across, ptrdiff_t along)
{
    const NAME(half) half = {place, before, shift, mirror, across, along};
    return half;
}
