/* The scratch that a product needs.

   takes COPIES_NOTHING=m * n * k * rows <= small  whether no operand is copied
   takes COPIES_NEAR=m * n * k * rows * width <= small  whether copies stay near */
#pragma once

#include "products/family.h"

/* Bytes of scratch that a product needs.  m and n count what rounding up to whole register blocks adds. */
static inline double NAME(room)(double m, double n, double k, double kc, double nc, double small)
{
    enum { rows = ROWS };
    if (COPIES_NOTHING)
        return 0.0;
    const double depth = k < kc ? k : kc, a = m * depth, b = n * depth;
    /* Of the blocks' largest extents; between strips and panels lies a line or two. */
    const double high = m < 2 * nc * kc / depth ? m : 2 * nc * kc / depth;
    const double wide = n < 2 * nc * kc / depth ? n : 2 * nc * kc / depth;
    return sizeof(T) * ((a < nc * kc ? a : nc * kc) + (b < nc * kc ? b : nc * kc) + VECTORS * LANES * kc)
            + 128.0 * (high / ROWS + wide / (VECTORS * LANES) + 2) + sizeof(T) * LANES * (high + ROWS);
}

/* The same of a product in one segment, handed to nobody: its operands lie in any order, or one is a triangle
   or symmetric, or the result is a triangle. */
static inline double NAME(room_near)(double m, double n, double k, double kc, double nc, double small)
{
    enum { rows = ROWS };
    const double width = __builtin_ceil(n / LANES) * LANES;
    return COPIES_NEAR ? 0.0 : NAME(room)(m, n, k, kc, nc, 0.0);
}
