/* What small products ask, by the same conditions as the table of ways, of integers.

   takes ALWAYS_FEW=4  columns that are few beside any vector
   takes NEAR_ELEMENTS=9216  elements of a copy that stays near
   takes IS_UNROLLED=m + n + k < 4 * lanes  the conditions
   takes IS_OVER_DEPTH=along && down + ordered && m && n < lanes && k
   takes IS_TRANSPOSED=rowwise && !along && m && n < lanes && k < small
   takes IS_UNASKED=m + n < 512 && k < small
   takes IS_NEAR=m && n && (width + rows) * k <= small && place && mirrored  of copies */
#pragma once

#include "products/family.h"

/* The most columns of sums along rows, and elements of a copy that stays near. */
enum { CONST(OVER_DEPTH) = LANES / 2 > ALWAYS_FEW ? LANES / 2 : ALWAYS_FEW, CONST(NEAR) = NEAR_ELEMENTS };

/* Whether a product is straight code. */
static inline __attribute__((always_inline)) int NAME(is_unrolled)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k)
{
    enum { lanes = LANES };
    return IS_UNROLLED;
}

/* Whether the lanes of vectors are steps of the depth. */
static inline int NAME(is_over_depth)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_step,
        ptrdiff_t b_step, ptrdiff_t b_column)
{
    enum { lanes = LANES };
    const int along = a_step == 1, down = b_step == 1, ordered = b_column == 1 || n == 1;
    return IS_OVER_DEPTH;
}

/* Whether they are rows. */
static inline int NAME(is_transposed)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_row,
        ptrdiff_t a_step, ptrdiff_t small)
{
    enum { lanes = LANES };
    const int along = a_step == 1, rowwise = a_row == 1;
    return IS_TRANSPOSED;
}

/* Whether register blocks on matrices where they are need not be asked for: of little depth, with a result
   and operands that the second level holds.  Of 12 x 96 x 12 asking took a tenth of the time. */
static inline int NAME(is_unasked)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{
    return IS_UNASKED;
}

/* Whether copies stay near; extents below a power of two first, so that products of two do not overflow. */
static inline int NAME(is_near)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, int place, int mirrored,
        ptrdiff_t small)
{
    enum { rows = ROWS };
    const ptrdiff_t width = (n + LANES - 1) / LANES * LANES;
    return IS_NEAR;
}
