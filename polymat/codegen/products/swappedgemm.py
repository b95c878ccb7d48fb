"""Whether a product is computed as its transpose, in generated code (kernels/products/swapped.h does it)."""

from __future__ import annotations

from polymat.product.fewcolumns import BELOW_A_VECTOR, FAR
from polymat.product.fewcolumns import SWAPPED as FEW
from polymat.product.inequality import any_in_c, in_c

IS_SWAPPED = f"""\
/* Whether a product has so few columns that the lanes of vectors are rows. */
static inline int _pm_is_swapped_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_row, ptrdiff_t a_step,
        ptrdiff_t small)
{{
    const ptrdiff_t lanes = $L;
    return a_row == 1 && a_step != 1 && {in_c(FEW)} && ({any_in_c(BELOW_A_VECTOR, FAR)});
}}

"""
