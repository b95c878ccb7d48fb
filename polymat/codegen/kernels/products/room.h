/* The scratch that a product needs. */
#pragma once

#include "products/family.h"

/* Bytes of scratch that a product needs: none where neither B nor C has more than 2 `small` elements.  m and
   n count what rounding up to whole register blocks adds. */
static inline double NAME(room)(double m, double n, double k, double kc, double nc, double small)
{
    if (n * k <= 2.0 * small && m * n <= 2.0 * small)
        return 0.0;
    const double depth = k < kc ? k : kc, a = m * depth, b = n * depth;
    /* Of the blocks' largest extents; between strips and panels lies a line or two. */
    const double rows = m < 2 * nc * kc / depth ? m : 2 * nc * kc / depth;
    const double columns = n < 2 * nc * kc / depth ? n : 2 * nc * kc / depth;
    return sizeof(T) * ((a < nc * kc ? a : nc * kc) + (b < nc * kc ? b : nc * kc) + VECTORS * LANES * kc)
            + 128.0 * (rows / ROWS + columns / (VECTORS * LANES) + 2) + sizeof(T) * LANES * (rows + ROWS);
}
