/* The call of a product: the early exit of small ones.

   takes STRAIGHT=0|1  whether some products have constant extents, and may be straight code */
#pragma once

#include "products/general.h"
#include "products/small.h"
#include "products/unrolled.h"

/* A product, which the compiler may know much of. */
static inline __attribute__((always_inline)) void NAME(multiply)(NAME(product) all)
{
    const ptrdiff_t m = all.m, n = all.n, k = all.k;
    if (m <= 0 || n <= 0 || all.row_count <= 0 || all.column_count <= 0)
        return;
    const int is_whole = all.half.place == 0, in_order = all.b_column == 1 || n == 1;
    const int is_single =
            all.column_count == 1 && all.depth_count == 1 && all.row_count == 1 && all.finish == NULL;
    const int is_matrix = is_single && is_whole && in_order && all.end == NULL;
    const int is_small = is_matrix ? n > 1 && NAME(is_unasked)(m, n, k, all.small)
                                   : is_single && (is_whole ? !in_order : all.end == NULL)
                    && NAME(is_near)(m, n, k, all.half.place, all.half.mirror != NULL, all.small);
#if STRAIGHT
    const int is_constant = __builtin_constant_p(m) && __builtin_constant_p(n) && __builtin_constant_p(k);
#else
    const int is_constant = 0;
#endif
    if (!(is_constant && is_matrix && NAME(is_unrolled)(m, n, k))
            && (!is_small
                    || (is_whole && all.end == NULL
                            && (NAME(is_over_depth)(m, n, k, all.a_step, all.b_step, all.b_column)
                                    || NAME(is_transposed)(m, n, k, all.a_row, all.a_step, all.small))))) {
        NAME(product) general = all;
        /* Small calls have no scratch, and gcc would compile all of this once more for that. */
        __asm__("" : "+r"(general.scratch));
        NAME(general)(&general);
        return;
    }
    const NAME(result) to = NAME(result_of)(all.from, all.from_row, all.c, all.c_row END(all.end));
    if (is_matrix && !(is_constant && NAME(is_unrolled)(m, n, k)) && m <= ROWS && n <= VECTORS * LANES) {
        _PM_TAKES(SMALL);
        NAME(blocks)[((unsigned)n - 1) / LANES][m - 1](k, all.a, all.a_row, all.a_step, all.b, all.b_step,
                all.scale, all.beta, &to, (int)(((unsigned)n - 1) % LANES) + 1);
        return;
    }
    const NAME(operand) a = {all.a, all.a_row, all.a_step};
#if STRAIGHT
    if (is_constant && is_matrix && NAME(is_unrolled)(m, n, k)) {
        _PM_TAKES(UNROLLED);
        NAME(unrolled)((int)m, (int)n, (int)k, all.scale, &a, all.b, all.b_step, all.beta, &to);
        return;
    }
#endif
    if (!is_matrix) {
        const NAME(half) half = all.half;
        _PM_COUNTS(COPIED_NEAR); /* what is copied is decided there */
        NAME(copied_near)(m, n, k, all.scale, &a, all.b, all.b_step, all.b_column, all.beta, &to, &half);
    } else {
        _PM_TAKES(SMALL);
        NAME(small)(m, n, k, all.scale, &a, all.b, all.b_step, all.beta, &to);
    }
}
