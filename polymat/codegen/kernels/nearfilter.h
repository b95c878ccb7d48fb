/* Filters around register blocks of neighbouring results.

   See `polymat.codegen.signals.filterblocks` for what is computed and why.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes WIDTH=4|8                    results in a vector
   takes NEAR_ROWS=8                       vectors of results of a register block
   takes LEAST=8                      results of the block that computes what is left
   takes NEAR_BLOCK=NAME(near_block)       the block of NEAR_ROWS vectors
   takes NEAR_FEW=NAME(near_block)   that of LEAST results
   takes CHUNK=512                    results of a kind that are computed together
*/
#pragma once

#include <stddef.h>
#include "filterfetch.h"
#include "nearblock.h"

/* Results of a kind that are computed together, of which the first-level cache has all; the last ones. */
enum { NAME(near_chunk) = CHUNK, NAME(near_room) = NAME(near_chunk) + LEAST };

/* Samples of a phase that a chunk of results needs. */
static inline ptrdiff_t NAME(near_depth)(ptrdiff_t span, ptrdiff_t down)
{
    return NAME(near_room) + (span + down - 1) / down;
}

/* Bytes that a filter needs whose results meet `span` samples: the taps, the phases and the results. */
static inline double NAME(near_bytes)(ptrdiff_t count, ptrdiff_t span, ptrdiff_t up, ptrdiff_t down)
{
    const double phases = down > 1 ? (double)down * (double)NAME(near_depth)(span, down) : 0.0;
    return ((double)count + LEAST + phases + (double)up * NAME(near_room))*sizeof(T);
}

/* Take the samples of a signal apart: each of `down` phases has every `down`-th sample. */
static void NAME(near_phases)(ptrdiff_t count, ptrdiff_t down, ptrdiff_t depth, const T *restrict x,
        T *restrict phases)
{
    ptrdiff_t done = 0;
    if (down == 2)
        for (; 2 * done + 1 < count; done++) {
            phases[done] = x[2 * done];
            phases[depth + done] = x[2 * done + 1];
        }
    for (ptrdiff_t phase = 0; phase < down; phase++)
        for (ptrdiff_t k = done; k * down + phase < count; k++)
            phases[phase * depth + k] = x[k * down + phase];
}

/* Write results of all kinds where they belong: y = scale * result, plus `from` where there is one. */
static void NAME(near_write)(ptrdiff_t count, ptrdiff_t up, const T *restrict results, T scale,
        const T *restrict from, T *restrict y)
{
    const T *const others = results + NAME(near_room);
    ptrdiff_t done = 0;
    if (up == 2 && from == NULL)
        for (; done < count; done++) {
            y[2 * done] = scale * results[done];
            y[2 * done + 1] = scale * others[done];
        }
    if (up == 2)
        for (; done < count; done++) {
            y[2 * done] = from[2 * done] + scale * results[done];
            y[2 * done + 1] = from[2 * done + 1] + scale * others[done];
        }
    for (ptrdiff_t kind = 0; kind < up; kind++)
        for (ptrdiff_t k = done; k < count; k++) {
            const T value = scale * results[kind * NAME(near_room) + k];
            y[up * k + kind] = from == NULL ? value : from[up * k + kind] + value;
        }
}

/* As `filter_kinds`; the taps of a kind follow each other as those of `down * WIDTH` phases. */
static void NAME(near_kinds)(ptrdiff_t n, ptrdiff_t up, const ptrdiff_t *counts, const ptrdiff_t *begins,
        ptrdiff_t span, ptrdiff_t down, const T *taps, const T *x, T scale, const T *from, T *y, T *scratch)
{
    const ptrdiff_t depth = NAME(near_depth)(span, down);
    T *const phases = scratch, *const results = phases + (down > 1 ? down * depth : 0);
    const int is_stored = up == 1 && from == NULL && scale == 1;
    for (ptrdiff_t first = 0, count; first < n; first += count) {
        count = n - first < NAME(near_room) ? n - first : NAME(near_chunk);
        const T *samples = x + first * down, *kind_taps = taps;
        if (down > 1) {
            NAME(near_phases)(down * (count - 1) + span, down, depth, samples, phases);
            samples = phases;
        }
        for (ptrdiff_t kind = 0; kind < up; kind++) {
            T *const to = is_stored ? y + first : results + kind * NAME(near_room);
            ptrdiff_t k = 0;
            for (; k + NEAR_ROWS * WIDTH <= count; k += NEAR_ROWS * WIDTH) {
                NEAR_BLOCK(down, begins[kind], counts[kind], depth, kind_taps, samples + k, to + k);
                if (kind == 0) {
                    NAME(filter_fetch)(x, (first + count + k) * down + span, NEAR_ROWS * WIDTH * down, 0);
                    NAME(filter_fetch)(y, (first + k) * up, NEAR_ROWS * WIDTH * up, 1);
                }
            }
            for (; k < count; k += LEAST) {
                const ptrdiff_t at = k < count - LEAST ? k : count - LEAST;
                NEAR_FEW(down, begins[kind], counts[kind], depth, kind_taps, samples + at, to + at);
            }
            kind_taps += counts[kind];
        }
        if (!is_stored)
            NAME(near_write)(count, up, results, scale, from == NULL ? NULL : from + up * first,
                    y + up * first);
    }
}
