/* Products of matrices that need no copy: register blocks on operands where they are. */
#pragma once

#include "products/blocks.h"
#include "products/blocks.h"
#include "products/pieces.h"
#include "products/product.h"

/* A product of matrices that are not packed, at most `deep` of the depth at a time.  Where that is not all of it,
   few rows use what is read of B, so that each panel asks for the next one; and where B and the result are more
   than half of what the second level holds, for what the next one reads and writes of both. */
_PM_SHARED __attribute__((noinline)) void NAME(direct)(const NAME(product) *all, ptrdiff_t deep)
{
    const ptrdiff_t m = all->m, n = all->n, a_row = all->a_row, a_step = all->a_step, b_step = all->b_step,
                    from_row = all->from_row, c_row = all->c_row;
    const T scale = all->scale;
    const T *const a = all->a;
    const T *const b = all->b;
    const T beta = all->beta;
    const T *const from = all->from;
    T *const c = all->c;
    const ptrdiff_t depth = all->k;
    const ptrdiff_t vectors = (n + LANES - 1) / LANES, panels = (vectors + VECTORS - 1) / VECTORS,
                    strips = (m + ROWS - 1) / ROWS;
    if (strips == 1 && panels == 1 && depth <= deep) {
        const NAME(result) whole = NAME(result_of)(from, from_row, c, c_row END(all->end));
        NAME(blocks)[vectors - 1][m - 1](depth, a, a_row, a_step, b, b_step, scale, beta, &whole,
                (int)(n - (vectors - 1) * LANES));
        return;
    }
    const ptrdiff_t least = m / strips, higher = m - least * strips;
    for (ptrdiff_t k = 0; k < depth || k == 0; k += deep) {
        const ptrdiff_t length = depth - k < deep ? depth - k : deep;
        for (ptrdiff_t panel = 0, j = 0; panel < panels; panel++) {
            const ptrdiff_t wide = NAME(piece)(vectors, panels, panel);
            const ptrdiff_t left = n - j < wide * LANES ? n - j : wide * LANES;
            const int far = panel + 1 < panels && 2 * (depth + m) * n > all->small;
            if (far || (deep < depth && panel + 1 < panels))
                NAME(request)(b + k * b_step + j + left, 1, b_step,
                        n - j - left < VECTORS * LANES ? n - j - left : VECTORS * LANES, length, 0, 1);
            for (ptrdiff_t strip = 0, i = 0; strip < strips; strip++) {
                const ptrdiff_t rows = least + (strip < higher);
                T *const target = c + i * c_row + j;
                for (ptrdiff_t row = 0; far && row < rows; row++)
                    __builtin_prefetch(target + row * c_row + 2 * VECTORS * LANES - 1, 1);
                const T *const start = k > 0 ? target : from == NULL ? NULL : from + i * from_row + j;
                const NAME(result) part = NAME(result_of)(start, k > 0 ? c_row : from_row, target,
                        c_row END(k + deep >= depth ? all->end : NULL));
                NAME(blocks)[wide - 1][rows - 1](length, a + i * a_row + k * a_step, a_row, a_step,
                        b + k * b_step + j, b_step, scale, k > 0 ? 1 : beta, &part,
                        (int)(left - (wide - 1) * LANES));
                i += rows;
            }
            j += wide * LANES;
        }
    }
}
