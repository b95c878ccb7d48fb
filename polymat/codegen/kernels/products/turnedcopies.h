/* Copies for turned register blocks, on their way, and these blocks.

   takes T=double
   takes LANES=8
   takes PLACES=0, 1, 2, 3, 4, 5, 6, 7  of 64 bytes */
#pragma once

#include "products/blocks.h"

#if CONST(TURNS)
/* A set of columns of B: eight from j on, the first ones after the last; of 8 * `vectors` segments. */
typedef struct {
    ptrdiff_t segment, vectors, j;
} NAME(set);

/* A copy on its way: vectors from `from` to `to`, requested `ahead` bytes before; after `width` of them the
   next ones are `jump` and `back` bytes further on.  at: how many of these are done; left: of all. */
typedef struct {
    const char *from;
    char *to;
    ptrdiff_t at, width, jump, onto, back, ahead, left;
} NAME(copy);

/* Three rows and eight columns of eight segments, at `to`: one block, and one that copies meanwhile. */
typedef void (*NAME(turned_function))(ptrdiff_t depth, const T *a, const T *b, T scale, T *const *to,
        ptrdiff_t row, int past, NAME(copy) *copy);
static const NAME(turned_function) NAME(turns)[2];
#endif
