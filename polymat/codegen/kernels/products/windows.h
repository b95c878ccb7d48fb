/* Segments of depth that register blocks walk over where they lie, as those of overlapping windows.

   A copy of the windows of a convolution has each element as many times as there are taps, and weights are
   used once for each strip of pixels, few times in small images.  Where neighbours along the depth are
   neighbours in memory, a register block therefore runs over all segments of an image, and weights that are a
   matrix stay where they are.  Measured (Zen 5, float32, one thread, 28 x 28 pixels,
   nine taps): 128 to 128 channels took 0.86 of the time without a copy of the image, and 0.83 without one of
   the weights either. */
#pragma once

#include "products/packing.h"

/* A block of `rows` x `wide` vectors over the chunks of the depth that some lines have: in one go where blocks
   walk over whole segments, else one after the other.  Those of B follow each other; or where they are `copied`
   to, for the blocks after this one, they lie in the segments that they have (NULL: they are not copied). */
static void NAME(walk_over)(const NAME(lines) *lines, ptrdiff_t wide, ptrdiff_t rows, const T *a,
        ptrdiff_t a_row, const T *b, ptrdiff_t b_row, T *copied, T scale, T beta, const NAME(result) *to,
        int lanes)
{
    const NAME(result) added = NAME(result_added)(to);
    const ptrdiff_t together = WALKS && lines->cut->pieces == 1 ? lines->last - lines->first : 1;
    for (ptrdiff_t chunk = lines->first; chunk < lines->last; chunk += together) {
        const NAME(chunk) now = NAME(chunk_of)(lines->cut, chunk);
        const int begins = chunk == lines->first, ends = chunk + together >= lines->last;
        const NAME(result) part = ends ? begins ? *to : added : NAME(unended)(begins ? to : &added);
        const ptrdiff_t *const at = lines->at + 2 * now.segment;
#if WALKS
        if (copied != NULL)
            NAME(copyings)[wide - 1][rows - 1](together, at, now.length, a + now.begin, a_row,
                    b + now.begin * b_row, b_row, copied, scale, begins ? beta : 1, &part, lanes);
        else
            NAME(walks)[wide - 1][rows - 1](together, at, now.length, a + now.begin, a_row, b, b_row, scale,
                    begins ? beta : 1, &part, lanes);
#else
        NAME(blocks)[wide - 1][rows - 1](now.length, a + at[0] + now.begin, a_row, 1, b, b_row, scale,
                begins ? beta : 1, &part, lanes);
#endif
        if (copied != NULL)
            copied += together * now.length * wide * LANES;
        else
            b += now.length * b_row;
    }
}

/* Whether there is a block that copies. */
static inline int NAME(is_copying)(ptrdiff_t wide, ptrdiff_t rows)
{
#if WALKS
    return NAME(copyings)[wide - 1][rows - 1] != NULL;
#else
    return (void)wide, (void)rows, 0;
#endif
}

/* Whether so many segments of the depth of B follow each other, each of the same length; at: where they lie. */
static inline int NAME(follow)(const ptrdiff_t *at, ptrdiff_t count, ptrdiff_t length)
{
    int follow = 1;
    for (ptrdiff_t s = 1; follow && s < count; s++)
        follow = at[2 * s + 1] - at[2 * s - 1] == length;
    return follow;
}
