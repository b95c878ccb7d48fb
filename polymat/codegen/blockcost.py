"""The price of register blocks in generated C: the twin of `polymat.tilesize.kernel.kernel_operations`."""

from __future__ import annotations

from polymat.tilesize.kernel import FILL, FULL_SHARE, LEAST_SUMS, PACKING, STARTING

BLOCKS_HELPER = f"""\
/* Operations at the peak that take as long as a product of height x depth and depth x width elements by
   register blocks of rows x (vectors x lanes).  kc, nc: blocks of depth and columns; small: elements of the
   right operand that are not packed; pieces: products that share their beginning; half: of a triangle, 1 by
   rows, 2 by columns. */
static double _pm_blocks_operations(double height, double width, double depth, double pieces, int half,
    double rows, double vectors, double lanes, double kc, double nc, double small)
{{
    const double m = height > 1.0 ? height : 1.0, n = width > 1.0 ? width : 1.0;
    const double k = depth > 1.0 ? depth : 1.0;
    const double wide = ceil(n / lanes), blocks = ceil(m / rows) * ceil(wide / vectors);
    const double waits = {LEAST_SUMS} * blocks / (m * wide);
    const double steps = m * wide * lanes * (waits > 1.0 ? waits : 1.0);
    const double beside = vectors * lanes / (half == 2 ? n : m);
    const double share = half == 0 ? 1.0 : 0.5 * (1.0 + (beside < 1.0 ? beside : 1.0));
    double packed = 0.0;
    if (m > 2.0 * rows && k * n > small)
        packed = k * n + m * k * ceil(n / nc) + m * n * ceil(k / kc);
    return pieces * (share * 2.0 * steps * (k + {FILL}) / {FULL_SHARE} + {PACKING} * packed) + {STARTING};
}}
"""
