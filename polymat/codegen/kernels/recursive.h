/* Recursive filters: channels side by side, and one after the other.

   takes T                    the type of a sample
   takes NAME(name)           functions and types of sections of this form
   takes LANES=8|16           samples in a vector
   takes DEPTH=2              samples of the past that are remembered of every signal
   takes PAST=2               past results that a section reads, up to the oldest
   takes COEFFICIENT_COUNT=4  coefficients of a section
   takes RUN=128              positions of a run at most
   takes LEAST_RUN=16         those for which runs side by side are worth it
*/
#pragma once

#include <stddef.h>
#include "recursiveruns.h"

/* LANES channels side by side, from sample `first` on. */
static void NAME(rec_channels)(ptrdiff_t first, ptrdiff_t count, ptrdiff_t sections, const T *c, const T *x,
        ptrdiff_t x_across, ptrdiff_t x_along, T *y, ptrdiff_t y_across, ptrdiff_t y_along, T *last, T *work)
{
    const ptrdiff_t size = (sections + 1) * DEPTH;
    NAME(rec_vector) *const states = (NAME(rec_vector) *)(void *)work;
    T *const block = work + 2 * sections * DEPTH * LANES + (4 * DEPTH + 4) * LANES;
    for (ptrdiff_t k = 0; k < size; k++)
        for (int lane = 0; lane < LANES; lane++)
            work[k * LANES + lane] = last[lane * size + k];
    for (ptrdiff_t n = first; n < count;) {
        const ptrdiff_t run = count - n < RUN ? (count - n) / 8 * 8 : RUN;
        if (run == 0)
            break;
        NAME(rec_load)(run, x + n * x_along, x_across, x_along, block);
        const NAME(rec_vector) *const rows = (const NAME(rec_vector) *)(const void *)block + run - 1;
        for (ptrdiff_t s = 0; s < sections; s++) {
            NAME(rec_vector) before[DEPTH];
            for (int k = 0; k < DEPTH; k++) {
                before[k] = states[s * DEPTH + k];
                states[s * DEPTH + k] = rows[-k];
            }
            NAME(rec_plain)(run, c + s * COEFFICIENT_COUNT, before, states + (s + 1) * DEPTH,
                    (NAME(rec_vector) *)(void *)block);
        }
        for (int k = 0; k < DEPTH; k++)
            states[sections * DEPTH + k] = rows[-k];
        NAME(rec_store)(run, block, NULL, NULL, y + n * y_along, y_across, y_along);
        n += run;
    }
    for (ptrdiff_t k = 0; k < size; k++)
        for (int lane = 0; lane < LANES; lane++)
            last[lane * size + k] = work[k * LANES + lane];
}

/* Channels of `count` samples each, which lie `along` apart, through sections in a row.

   c: the coefficients of every section, COEFFICIENT_COUNT each.  Behind them there are, channel by channel, DEPTH numbers
   for every section, which are added to its first results where `start` is 1, and which these are where it is
   2; and room for DEPTH samples of every signal, which are the last ones in the end. */
static void NAME(recursive)(ptrdiff_t channels, ptrdiff_t count, ptrdiff_t sections, T *c, int start,
        const T *x, ptrdiff_t x_across, ptrdiff_t x_along, T *y, ptrdiff_t y_across, ptrdiff_t y_along,
        T *work)
{
    const ptrdiff_t size = (sections + 1) * DEPTH, sides = DEPTH > 8 ? 0 : channels / LANES * LANES;
    const T *const starts = c + sections * COEFFICIENT_COUNT;
    T *const last = c + sections * COEFFICIENT_COUNT + channels * sections * DEPTH;
    for (ptrdiff_t k = 0; k < channels * size; k++)
        last[k] = 0;
    if (sides < channels && count >= NAME(rec_tabled)) {
        T *const most = work + sections * RUN * PAST + sections * (DEPTH + PAST) * LANES;
        const ptrdiff_t rows = count / LANES < RUN ? count / LANES : RUN;
        for (ptrdiff_t s = 0; s < sections; s++)
            most[s] = NAME(rec_table)(rows, c + s * COEFFICIENT_COUNT, work + s * RUN * PAST);
    }
    for (ptrdiff_t channel = sides; channel < channels; channel++)
        NAME(rec_channel)(count, sections, c, start ? starts + channel * sections * DEPTH : NULL, start == 2,
                x + channel * x_across, x_along, y + channel * y_across, y_along, last + channel * size,
                work);
    for (ptrdiff_t channel = 0; channel < sides; channel += LANES) {
        const ptrdiff_t rest = count < DEPTH ? 0 : (count - DEPTH) / 8 * 8, first = count - rest;
        for (ptrdiff_t lane = channel; lane < channel + LANES; lane++)
            NAME(rec_channel)(first, sections, c, start ? starts + lane * sections * DEPTH : NULL, start == 2,
                    x + lane * x_across, x_along, y + lane * y_across, y_along, last + lane * size, work);
        NAME(rec_channels)(first, count, sections, c, x + channel * x_across, x_across, x_along,
                y + channel * y_across, y_across, y_along, last + channel * size, work);
    }
}
