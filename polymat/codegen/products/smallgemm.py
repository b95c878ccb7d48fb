"""Whether a product is small, in generated code; kernels/products/small.h and copied.h multiply."""

from __future__ import annotations

from polymat.product.inequality import in_c
from polymat.product.near import ELEMENTS, NEAR

IS_UNASKED = """\
/* Whether register blocks on matrices where they are need not be asked for: of little depth, with a result
   and operands that the second level holds.  Of 12 x 96 x 12 asking took a tenth of the time. */
static inline int _pm_is_unasked_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{
    enum { least = 8 * 64 * 64 };
    return (size_t)((m - 1) | (n - 1)) < 512 && (size_t)(k - 1) < 64 && m * n <= least && (m > 1 || n <= 64)
        && small >= least;
}

"""
IS_NEAR = f"""\
enum {{ _PM_NEAR_$S = {ELEMENTS} }};

/* Whether B is copied as a whole, to where it stays near; extents below a power of two first, so that
   products of two do not overflow. */
static inline int _pm_is_near_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{{
    const ptrdiff_t width = (n + $L - 1) / $L * $L;
    return (size_t)((m - 1) | (n - 1) | (k - 1)) < 1 << 14 && {in_c(NEAR)};
}}

"""
