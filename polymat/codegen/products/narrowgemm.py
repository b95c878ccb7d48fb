"""Whether a product has a few columns only, in generated code (kernels/products/narrow.h multiplies them)."""

from __future__ import annotations

from polymat.product.fewcolumns import ALWAYS, DEEP, TALL
from polymat.product.fewcolumns import NARROW as FEW
from polymat.product.inequality import any_in_c, in_c

IS_NARROW = f"""\
enum {{ _PM_NARROW_$S = $L / 2 > {ALWAYS} ? $L / 2 : {ALWAYS} }}; /* the most columns */

/* Whether a product has so few columns that the lanes of vectors are steps of the depth. */
static inline int _pm_is_narrow_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_step, ptrdiff_t b_step,
        ptrdiff_t b_column)
{{
    const ptrdiff_t lanes = $L;
    const int pays = b_step == 1 || ((b_column == 1 || n == 1) && {in_c(TALL)});
    return pays && ({any_in_c(*((one,) for one in FEW))}) && {in_c(DEEP)} && a_step == 1;
}}

"""
