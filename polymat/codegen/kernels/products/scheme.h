/* How a product by packed blocks is cut. */
#pragma once

#include "products/packing.h"
#include "products/product.h"

/* How a product is cut, and what is copied.  Of rows: strips of a segment and of all; of columns: vectors
   and panels of a segment, and panels of all.  Of the depth: pieces of a segment, groups of segments that
   follow each other, chunks, and how many of them, at most `deepest` steps, are packed together; whole_depth:
   all of them are.  Of B `broad` panels at a time, `batch` packed together; of gathered segments about `most`
   elements.  Of A `tall` strips at a time.  resident: A is packed once.  ordered: the result is written in
   the order of memory.  cuts: blocks are those of a triangle.  past: the result is written past the caches,
   by panels that are rotated by `turn` columns.  copies: B is copied by blocks of the first strip, where these
   can. */
typedef struct {
    ptrdiff_t strips, all_strips, vectors, panels, all_panels, pieces, group, chunks, together, deepest;
    ptrdiff_t broad, batch, most, tall;
    int whole_depth, gathered, ordered, resident, cuts, pack_a, pack_b, past, turn, copies;
} NAME(scheme);

/* Whether the next panel has whole vectors, too, and to the right of this one in the result. */
static __attribute__((noinline)) int NAME(goes_on)(ptrdiff_t n, ptrdiff_t vectors, ptrdiff_t panels,
        ptrdiff_t panel, const ptrdiff_t *columns)
{
    const ptrdiff_t next = panel + 1, j = NAME(before)(vectors, panels, next % panels) * LANES;
    const ptrdiff_t here = NAME(before)(vectors, panels, panel % panels) * LANES;
    const ptrdiff_t apart = columns[next / panels * 3 + 1] + j - columns[panel / panels * 3 + 1] - here;
    const ptrdiff_t wide = NAME(piece)(vectors, panels, next % panels) * LANES;
    return apart == NAME(piece)(vectors, panels, panel % panels) * LANES && n - j >= wide;
}
