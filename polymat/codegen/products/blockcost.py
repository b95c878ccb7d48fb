"""The price of register blocks in generated C: the twin of `polymat.tilesize.kernel.kernel_operations`."""

from __future__ import annotations

from polymat.codegen.products.reading import WHICH_IS_READ
from polymat.product.access import Access
from polymat.product.blocking import FEW_PANELS, MANY_PANELS, STAYING
from polymat.product.blocks import LEAST_STRIPS
from polymat.product.copying import (
    ADDING_UP,
    BEFORE,
    CACHED_PACKING,
    LOADING,
    MEMORY,
    NEAR_PACKING,
    NEXT_LEVEL,
    PACKING,
    READING,
    SCATTERED,
    STORING,
    SUMMING,
)
from polymat.product.fewcolumns import BELOW_A_VECTOR, DEEP, FAR, NARROW, SWAPPED, TALL
from polymat.product.inequality import any_in_c, in_c
from polymat.product.near import NEAR
from polymat.tilesize.kernel import FILL, FULL_SHARE, LEAST_SUMS, STARTING

_FLAGS = ", ".join(f"_PM_{flag.name} = {flag.value}" for flag in Access)

_COPYING = f"""\
{WHICH_IS_READ}
/* How operands lie in memory, as one number, the sum of: */
enum {{ {_FLAGS} }};

/* Whether both operands of a product of n columns can be read where they are. */
static int _pm_reads_in_place(int access, double n)
{{
    return (access & _PM_DIRECT) || ((access & _PM_COLUMN) && n <= 1.0);
}}

/* Whether B is copied as a whole, to where it stays near. */
static int _pm_near(double m, double n, double k, int access, double lanes, double small)
{{
    const double width = ceil(n / lanes) * lanes;
    return (access & _PM_NEAR) && {in_c(NEAR)};
}}

/* What is read where it is, of arrays whose depth is outermost. */
static int _pm_read_of(double m, double height, double n, double width, double k, int access, double rows,
    double columns, double lanes, double kc, double small)
{{
    const int few_rows = (access & _PM_FEW_ROWS) != 0, few_columns = (access & _PM_FEW_COLUMNS) != 0;
    return _pm_reading(few_rows, few_columns, m, n, width, k, ceil(height / rows) * (m / height),
                       ceil(width / columns), rows, columns, lanes, kc, small, (long long)n, (long long)m);
}}

/* What the copies of a product are worth, and what is stored more than once or far away; m, n: all rows and
   columns; height, width: those of a segment; k: depth of one of `segments`. */
static double _pm_copying_operations(double m, double height, double n, double width, double k,
    double segments, int access, double rows, double columns, double lanes, double kc, double nc,
    double small)
{{
    const double all_k = k * segments, panels = ceil(n / columns), memory = {MEMORY} * nc * kc;
    const int large = k * n > 2.0 * small, along = (access & _PM_ALONG) != 0;
    const int far = (m > 2.0 * rows && (large || m * n > 2.0 * small)) || (!along && m * k > small);
    const double first = access & _PM_STARTS ? {BEFORE} * m * n : 0.0;
    if (_pm_near(m, n, k, access, lanes, small))
        return first + (access & _PM_BESIDE ? 0.0 : {NEAR_PACKING} * k * n);
    const int reads = _pm_read_of(m, height, n, width, k, access, rows, columns, lanes, kc, small);
    const double read = reads == 2 ? k * n : m * k, copied = reads == 2 ? m * k : k * n;
    if (reads)
        return first + {READING} * read + {CACHED_PACKING} * copied
             + (m * n > memory ? {STORING} * m * n : 0.0);
    if (_pm_reads_in_place(access, n) && !far)
        return first + (all_k * n > memory ? {SCATTERED} * all_k * n : 0.0);
    const int passes = height >= rows && m >= {LEAST_STRIPS} * rows
                    && ((access & _PM_PASSES) || ((access & _PM_PASSES_LARGE) && large));
    const int few = (access & _PM_FEW) && panels <= {FEW_PANELS} && k >= 64.0;
    const int wanted = ((access & _PM_SEGMENTS) && !few) || panels >= {MANY_PANELS}
                    || ((panels > {FEW_PANELS} || !along) && m * k > small / 2.0);
    const int strips = passes ? (access & _PM_STRIPS) != 0
                              : (access & _PM_MIRRORED) || (wanted && !(access & _PM_WINDOWS));
    const int stays = !passes && (((access & _PM_STAYS) && all_k * n <= {STAYING} * small)
                                  || ((access & _PM_BESIDE) && !large));
    const double part = access & _PM_HALF ? 0.5 : 1.0;
    const double left = strips ? part * m * all_k * (passes ? 1.0 : ceil(n / nc)) : 0.0;
    const double right = stays ? 0.0 : all_k * n, results = m * n;
    const double larger = right > left ? right : left, most = larger > results ? larger : results;
    if (m <= 2.0 * rows || most <= 2.0 * small)
        return first + {CACHED_PACKING} * (left + right);
    return first + {PACKING} * (left + right + results * (ceil(all_k / kc) - 1.0))
         + (passes && results <= memory ? 0.0 : {STORING} * results);
}}
"""

BLOCKS_HELPER = f"""\
{_COPYING}
/* Operations at the peak that take as long as a product of height x depth and depth x width elements by
   register blocks of rows x (vectors x lanes).  segments, strings, bands: how many times there are so much
   depth and so many rows and columns; kc, nc: blocks of depth and columns; small: elements that the
   second-level cache holds; triangle: 1 half of the work by rows, 2 by columns, 3 all of it, as with a
   symmetric matrix; access: how operands lie in memory. */
static double _pm_blocks_operations(double height, double width, double depth, double segments,
    double strings, double bands, int triangle, int access, double rows, double vectors, double lanes,
    double kc, double nc, double small)
{{
    const double m = height > 1.0 ? height : 1.0, n = width > 1.0 ? width : 1.0;
    const double k = depth > 1.0 ? depth : 1.0;
    const int is_one = (access & _PM_ALONG) && (access & (_PM_DIRECT | _PM_COLUMN)) && strings == 1.0;
    const int few = ({any_in_c(*((one,) for one in NARROW))})
                 && (n <= 1.0 || (access & _PM_COLUMN) || ({in_c(TALL)}));
    if (is_one && few && {in_c(DEEP)}) {{
        const double loading = {LOADING} + (m * k > small ? {NEXT_LEVEL} : 0.0)
                             + (m * k > {MEMORY} * nc * kc ? {STORING} : 0.0);
        return m * (k * (loading + {SUMMING} * ceil(n / 4.0) + n) + {ADDING_UP} * n * lanes) + {STARTING};
    }}
    if ((access & _PM_FEW_COLUMNS) && strings == 1.0 && {in_c(SWAPPED)} && ({any_in_c(BELOW_A_VECTOR, FAR)})
            && !_pm_read_of(m, m, n, n, k, access, rows, vectors * lanes, lanes, kc, small)) {{
        const double across = ceil(m / lanes), strips = ceil(n / rows);
        const double waiting = {LEAST_SUMS} * strips * ceil(across / vectors) / (n * across);
        const double lines = n * across * lanes * (waiting > 1.0 ? waiting : 1.0);
        const double loading = {LOADING} + (m * k > small ? {NEXT_LEVEL} : 0.0)
                             + (m * k > {MEMORY} * nc * kc ? {STORING} : 0.0);
        return 2.0 * lines * (k + {FILL}) / {FULL_SHARE} + strips * m * k * loading + {STARTING};
    }}
    const double wide = ceil(n / lanes), blocks = ceil(m / rows) * ceil(wide / vectors);
    const double waits = {LEAST_SUMS} * blocks / (m * wide);
    const double steps = strings * m * bands * wide * lanes * (waits > 1.0 ? waits : 1.0);
    const double unit = _pm_near(m, n, k, access, lanes, small) ? lanes : vectors * lanes;
    const double beside = unit / (triangle == 2 ? n : m);
    const double share = triangle == 0 || triangle == 3 ? 1.0 : 0.5 * (1.0 + (beside < 1.0 ? beside : 1.0));
    const double copying = _pm_copying_operations(strings * m, m, bands * n, n, k, segments, access, rows,
                                                  vectors * lanes, lanes, kc, nc, small);
    return share * 2.0 * steps * (k * segments + {FILL}) / {FULL_SHARE} + copying + {STARTING};
}}
"""
