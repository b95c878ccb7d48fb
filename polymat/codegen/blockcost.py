"""The price of register blocks in generated C: the twin of `polymat.tilesize.kernel.kernel_operations`."""

from __future__ import annotations

from polymat.tilesize.kernel import CACHED_PACKING, FILL, FULL_SHARE, LEAST_SUMS, PACKING, STARTING, STORING

BLOCKS_HELPER = f"""\
/* Operations at the peak that take as long as a product of height x depth and depth x width elements by
   register blocks of rows x (vectors x lanes).  strings, bands: how many times there are so many rows and
   columns; kc, nc: blocks of depth and columns; small: elements that the second-level cache holds;
   triangle: 1 half of the work by rows, 2 by columns, 3 all of it, as with a symmetric matrix; always:
   whether operands are packed however small they are. */
static double _pm_blocks_operations(double height, double width, double depth, double strings, double bands,
    int triangle, int always, double rows, double vectors, double lanes, double kc, double nc, double small)
{{
    const double m = height > 1.0 ? height : 1.0, n = width > 1.0 ? width : 1.0;
    const double k = depth > 1.0 ? depth : 1.0;
    const double wide = ceil(n / lanes), blocks = ceil(m / rows) * ceil(wide / vectors);
    const double waits = {LEAST_SUMS} * blocks / (m * wide);
    const double steps = strings * m * bands * wide * lanes * (waits > 1.0 ? waits : 1.0);
    const double beside = vectors * lanes / (triangle == 2 ? n : m);
    const double share = triangle == 0 || triangle == 3 ? 1.0 : 0.5 * (1.0 + (beside < 1.0 ? beside : 1.0));
    const double all_m = strings * m, all_n = bands * n;
    const int large = all_m > 2.0 * rows && (k > all_m ? k : all_m) * all_n > 2.0 * small;
    const double copied = k * all_n + all_m * k * ceil(all_n / nc), results = all_m * all_n;
    const double packing = large ? {PACKING} * (copied + results * (ceil(k / kc) - 1.0)) + {STORING} * results
                         : always ? {CACHED_PACKING} * copied : 0.0;
    return share * 2.0 * steps * (k + {FILL}) / {FULL_SHARE} + packing + {STARTING};
}}
"""
