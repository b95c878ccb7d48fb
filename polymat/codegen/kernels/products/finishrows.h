/* Complete rows handed over. */
#pragma once

#include "products/finish.h"
#include "products/pieces.h"

/* Hand over the rows of strips first..last - 1, which may belong to several segments, at some columns. */
static void NAME(finish_rows)(ptrdiff_t m, ptrdiff_t strips, ptrdiff_t first, ptrdiff_t last,
        ptrdiff_t column_segment, ptrdiff_t j, ptrdiff_t j_end, NAME(finish) finish, void *const *around)
{
    for (ptrdiff_t strip = first; strip < last;) {
        const ptrdiff_t segment = strip / strips, within = strip % strips;
        const ptrdiff_t next = (segment + 1) * strips < last ? (segment + 1) * strips : last;
        const ptrdiff_t lowest = within + next - strip - 1;
        finish(around, segment, NAME(before)(m, strips, within),
                NAME(before)(m, strips, lowest) + NAME(piece)(m, strips, lowest), column_segment, j, j_end);
        strip = next;
    }
}
