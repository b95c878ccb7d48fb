/* Rows of a result that follow each other and begin within a line of cache: written in whole lines.

   Of such rows the columns from the first whole line on come first in packed panels, and those before it last:
   all vectors of a register block but the last one of a row are lines then.  That one is the end of its row
   and its beginning, which is a line with the end of the row above.

   takes T=double
   takes LANES=8
   takes PLACES=0, 1, 2, 3, 4, 5, 6, 7  of 64 bytes */
#pragma once

#include "products/packing.h"

#if CONST(WHOLE)
typedef INTEGER NAME(places) __attribute__((vector_size(64)));

/* Whether all rows follow each other, in segments that begin at the same place of a line. */
static int NAME(rows_join)(ptrdiff_t n, ptrdiff_t c_row, ptrdiff_t row_count, const ptrdiff_t *rows,
        ptrdiff_t column_count, const ptrdiff_t *columns)
{
    ptrdiff_t all = n;
    for (ptrdiff_t segment = 0; segment < row_count; segment++)
        all |= rows[3 * segment + 1];
    for (ptrdiff_t segment = 0; segment < column_count; segment++)
        all |= columns[3 * segment + 1];
    return n == c_row && all % LANES == 0;
}

/* Rotate the packed panels first..last - 1 of B, whole segments, by `turn` columns. */
static void NAME(rotate)(const NAME(lines) *lines, ptrdiff_t first, ptrdiff_t last, ptrdiff_t depth, int turn,
        T *packed)
{
    const NAME(places) order = (NAME(places)){PLACES} + turn;
    for (ptrdiff_t panel = first; panel < last; panel += lines->each, packed += lines->each * lines->apart)
        for (ptrdiff_t k = 0; k < depth; k++) {
            const NAME(vector) begin = *(const NAME(vector) *)(packed + k * NAME(width)(lines, 0));
            NAME(vector) *before = NULL;
            for (ptrdiff_t within = 0; within < lines->each; within++) {
                const ptrdiff_t width = NAME(width)(lines, within);
                for (ptrdiff_t at = 0; at < width; at += LANES) {
                    NAME(vector) *const here =
                            (NAME(vector) *)(packed + within * lines->apart + k * width + at);
                    if (before != NULL)
                        *before = __builtin_shuffle(*before, *here, order);
                    before = here;
                }
            }
            *before = __builtin_shuffle(*before, begin, order);
        }
}
#endif
