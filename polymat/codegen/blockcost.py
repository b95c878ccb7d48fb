"""The price of register blocks in generated C: the twin of `polymat.tilesize.kernel.kernel_operations`."""

from __future__ import annotations

from polymat.tilesize.kernel import CACHED_PACKING, FILL, FULL_SHARE, LEAST_SUMS, PACKING, STARTING

BLOCKS_HELPER = f"""\
/* Operations at the peak that take as long as a product of height x depth and depth x width elements by
   register blocks of rows x (vectors x lanes).  kc, nc: blocks of depth and columns; small: elements
   that the second-level cache holds; pieces: products that share their beginning; triangle: 1 half of the
   work by rows, 2 by columns, 3 all of it, as with a symmetric matrix. */
static double _pm_blocks_operations(double height, double width, double depth, double pieces, int triangle,
    double rows, double vectors, double lanes, double kc, double nc, double small)
{{
    const double m = height > 1.0 ? height : 1.0, n = width > 1.0 ? width : 1.0;
    const double k = depth > 1.0 ? depth : 1.0;
    const double wide = ceil(n / lanes), blocks = ceil(m / rows) * ceil(wide / vectors);
    const double waits = {LEAST_SUMS} * blocks / (m * wide);
    const double steps = m * wide * lanes * (waits > 1.0 ? waits : 1.0);
    const double beside = vectors * lanes / (triangle == 2 ? n : m);
    const double share = triangle == 0 || triangle == 3 ? 1.0 : 0.5 * (1.0 + (beside < 1.0 ? beside : 1.0));
    const int large = m > 2.0 * rows && (k > m ? k : m) * n > 2.0 * small;
    const double each = large ? {PACKING} : triangle > 0 ? {CACHED_PACKING} : 0.0;
    const double packed = k * n + m * k * ceil(n / nc) + (large ? m * n * ceil(k / kc) : 0.0);
    return pieces * (share * 2.0 * steps * (k + {FILL}) / {FULL_SHARE} + each * packed) + {STARTING};
}}
"""
