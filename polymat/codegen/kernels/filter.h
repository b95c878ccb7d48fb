/* Filters around register blocks: runs of samples side by side, transposed into a table.

   See `polymat.codegen.signals.filterblocks` for what is computed and why.

   takes T                               the type of an element
   takes NAME(name)                      functions and types of that type
   takes LANES=8|16                      runs side by side
   takes SIDE=4|8                        elements of the vectors that are transposed
   takes ROWS=8|16                       vectors of results of a register block
   takes LEAST=8                         those of the block that computes what is left
   takes MOST_KINDS=64                   of results that take their taps from different phases
   takes BLOCK=NAME(filter_block)        the block of ROWS
   takes SHORT_BLOCK=NAME(filter_block)  that of LEAST, where ROWS is more
   takes WIDTH=4|8                       lanes of a vector
   takes NEAR=0|1                        whether there are blocks of neighbouring results
   takes MANY=12                         vectors of taps that outweigh moving a sample by itself
*/
#pragma once

#include <stddef.h>
#include "filterfetch.h"
#include "squares.h"
#include "filterblock.h"
#include "nearfilter.h"

/* Positions of a run, odd times eight so that runs begin in different sets of a cache: the table of samples
   and the results stay near the first level with short filters, and long ones pay for their first samples. */
static inline ptrdiff_t NAME(filter_run)(ptrdiff_t span, ptrdiff_t up, ptrdiff_t down)
{
    const ptrdiff_t least = up > 2 || down > 2 ? 72 : 136, wanted = span / (8 * down) / 16 * 16 + 8;
    return wanted > least ? wanted : least;
}

/* Vectors of the table in each phase. */
static inline ptrdiff_t NAME(filter_depth)(ptrdiff_t run, ptrdiff_t span, ptrdiff_t down)
{
    return run + (span + down - 1) / down;
}

/* Whether the results of a vector are neighbours.  Samples are then taken apart and results put together by
   loops of the compiler: where one of two is kept, it shuffles four elements better than eight, and by other
   factors it moves them one by one, which many taps outweigh.  (`are_neighbours` in Python says so, too.) */
static inline int NAME(filter_is_near)(ptrdiff_t count, ptrdiff_t up, ptrdiff_t down)
{
    const ptrdiff_t many = MANY * WIDTH;
    const int is_plain = down == 1 || (down == 2 && WIDTH <= 4) || count >= many * down;
    return NEAR && is_plain && (up <= 2 || count >= many * up);
}

/* Bytes that a filter of so many taps needs: the taps, the table and the results. */
static inline double NAME(filter_bytes)(ptrdiff_t count, ptrdiff_t up, ptrdiff_t down)
{
    if (count <= 0)
        return 0.0;
    const ptrdiff_t span = (count + up - 1) / up + (up > 1 ? down : 0);
#if NEAR
    if (NAME(filter_is_near)(count, up, down))
        return NAME(near_bytes)(count, span, up, down);
#endif
    const ptrdiff_t run = NAME(filter_run)(span, up, down);
    const double vectors = (double)NAME(filter_depth)(run, span, down) * (double)down + (double)(run * up);
    return ((double)count + LANES + LANES * vectors) * sizeof(T);
}

/* Transpose `count` samples of every run into the table. */
static void NAME(filter_pack)(ptrdiff_t count, const T *x, const ptrdiff_t *at, ptrdiff_t down,
        ptrdiff_t depth, T *table)
{
    ptrdiff_t m = 0, phase = 0, place = 0;
    for (; m + SIDE <= count; m += SIDE) {
        T *row[SIDE];
        for (int line = 0; line < SIDE; line++) {
            row[line] = table + (phase * depth + place) * LANES;
            if (++phase == down) {
                phase = 0;
                place++;
            }
        }
#pragma GCC unroll 2
        for (int lane = 0; lane < LANES; lane += SIDE) {
            NAME(square_row) r[SIDE];
#pragma GCC unroll 8
            for (int line = 0; line < SIDE; line++)
                r[line] = *(const NAME(square_memory) *)(const void *)(x + at[lane + line] + m);
            NAME(transpose_square)(r);
#pragma GCC unroll 8
            for (int line = 0; line < SIDE; line++)
                *(NAME(square_row) *)(void *)(row[line] + lane) = r[line];
        }
    }
    for (; m < count; m++) {
        for (int lane = 0; lane < LANES; lane++)
            table[(phase * depth + place) * LANES + lane] = x[at[lane] + m];
        if (++phase == down) {
            phase = 0;
            place++;
        }
    }
}

/* Write `run` results of every run where they belong: y = scale * result, plus `from` where there is one. */
static void NAME(filter_unpack)(ptrdiff_t run, const T *results, const ptrdiff_t *to, T scale, const T *from,
        T *y)
{
    for (ptrdiff_t row = 0; row < run; row += SIDE)
#pragma GCC unroll 2
        for (int lane = 0; lane < LANES; lane += SIDE) {
            NAME(square_row) r[SIDE];
#pragma GCC unroll 8
            for (int line = 0; line < SIDE; line++) {
                const void *const results_at = results + (row + line) * LANES + lane;
                r[line] = *(const NAME(square_row) *)results_at * scale;
            }
            NAME(transpose_square)(r);
            if (from != NULL)
#pragma GCC unroll 8
                for (int line = 0; line < SIDE; line++)
                    r[line] += *(const NAME(square_memory) *)(const void *)(from + to[lane + line] + row);
#pragma GCC unroll 8
            for (int line = 0; line < SIDE; line++)
                *(NAME(square_memory) *)(void *)(y + to[lane + line] + row) = r[line];
        }
}

/* `up` kinds of results in turn: result up * q + kind is the sum over k < counts[kind] of
   taps[k] x[down * q + begins[kind] + k], for q < n; n >= 8.  The taps of all kinds follow each other,
   those of a kind phase by phase: k = 0, down, 2 down, ..., then 1, down + 1, ...
   span: no kind reaches beyond so many samples.  No `from` is NULL. */
static void NAME(filter_kinds)(ptrdiff_t n, ptrdiff_t up, const ptrdiff_t *counts, const ptrdiff_t *begins,
        ptrdiff_t span, ptrdiff_t down, const T *taps, const T *x, T scale, const T *from, T *y, T *scratch)
{
    const ptrdiff_t most = LANES * NAME(filter_run)(span, up, down), tiles = (n + most - 1) / most;
    const ptrdiff_t run = ((n + tiles * LANES - 1) / (tiles * LANES) + 7) / 8 * 8;
    const ptrdiff_t depth = NAME(filter_depth)(run, span, down);
    T *const table = scratch, *const results = table + depth * down * LANES;
    for (ptrdiff_t first = 0; first < n; first += LANES * run) {
        ptrdiff_t at[LANES], to[LANES];
        for (ptrdiff_t lane = 0; lane < LANES; lane++) {
            const ptrdiff_t start = first + lane * run, begin = start < n - run ? start : n - run;
            to[lane] = begin * up;
            at[lane] = begin * down;
        }
        NAME(filter_pack)(down * (run - 1) + span, x, at, down, depth, table);
        const T *kind_taps = taps;
        for (ptrdiff_t kind = 0; kind < up; kind++) {
            ptrdiff_t row = 0;
            for (; row + ROWS <= run; row += ROWS) {
                BLOCK(down, begins[kind], counts[kind], depth, kind_taps, table + row * LANES,
                        results + (row * up + kind) * LANES, up);
                if (kind == 0) {
                    const ptrdiff_t here = first + row * LANES, beyond = here + LANES * run;
                    NAME(filter_fetch)(x, beyond * down, ROWS * LANES * down, 0);
                    NAME(filter_fetch)(y, here * up, ROWS * LANES * up, 1);
                }
            }
#if ROWS > LEAST
            for (; row + LEAST <= run; row += LEAST) {
                SHORT_BLOCK(down, begins[kind], counts[kind], depth, kind_taps, table + row * LANES,
                        results + (row * up + kind) * LANES, up);
                if (kind == 0) {
                    const ptrdiff_t here = first + row * LANES, beyond = here + LANES * run;
                    NAME(filter_fetch)(x, beyond * down, LEAST * LANES * down, 0);
                    NAME(filter_fetch)(y, here * up, LEAST * LANES * up, 1);
                }
            }
#endif
            kind_taps += counts[kind];
        }
        NAME(filter_unpack)(run * up, results, to, scale, from, y);
    }
}

/* Copy taps h[0], h[h_step], ..., phase by phase. */
static T *NAME(filter_taps)(ptrdiff_t count, ptrdiff_t down, const T *h, ptrdiff_t h_step, T *to)
{
    for (ptrdiff_t phase = 0; phase < down && phase < count; phase++)
        for (ptrdiff_t k = phase; k < count; k += down)
            *to++ = h[k * h_step];
    return to;
}

/* y[i] = from[i] + scale * sum over k < count of h[k * h_step] * x[down * i + k], for i < n; n >= 8. */
static inline void NAME(filter)(ptrdiff_t n, ptrdiff_t count, ptrdiff_t down, const T *h, ptrdiff_t h_step,
        const T *x, T scale, const T *from, T *y, T *scratch)
{
    const int is_near = NAME(filter_is_near)(count, 1, down);
    const ptrdiff_t begin = 0;
    (void)NAME(filter_taps)(count, is_near ? down * WIDTH : down, h, h_step, scratch);
    T *const room = scratch + (count + LANES - 1) / LANES * LANES;
#if NEAR
    if (is_near) {
        NAME(near_kinds)(n, 1, &count, &begin, count, down, scratch, x, scale, from, y, room);
        return;
    }
#endif
    NAME(filter_kinds)(n, 1, &count, &begin, count, down, scratch, x, scale, from, y, room);
}

/* y[i] = from[i] + scale * sum over k of h[p % up + up * k] * x[p / up - k], p = down * i + shift, for
   i < up * n, n >= 8, over all k for which there are such taps, `count` of them altogether; x has all that
   meet them, and up is at most MOST_KINDS. */
static inline void NAME(filter_up)(ptrdiff_t n, ptrdiff_t count, ptrdiff_t up, ptrdiff_t down,
        ptrdiff_t shift, const T *h, const T *x, T scale, const T *from, T *y, T *scratch)
{
    const int is_near = NAME(filter_is_near)(count, up, down);
    const ptrdiff_t phases = is_near ? down * WIDTH : down;
    ptrdiff_t counts[MOST_KINDS], begins[MOST_KINDS];
    const ptrdiff_t oldest = shift / up - (count + up - 1) / up + 1;
    T *taps = scratch;
    for (ptrdiff_t kind = 0; kind < up; kind++) {
        const ptrdiff_t place = shift + down * kind, phase = place % up, newest = place / up;
        counts[kind] = phase < count ? (count - phase + up - 1) / up : 0;
        begins[kind] = newest - counts[kind] + 1 - oldest;
        taps = NAME(filter_taps)(counts[kind], phases, h + phase + up * (counts[kind] - 1), -up, taps);
    }
    const ptrdiff_t span = (shift + down * (up - 1)) / up + 1 - oldest;
    T *const room = scratch + (count + LANES - 1) / LANES * LANES;
#if NEAR
    if (is_near) {
        NAME(near_kinds)(n, up, counts, begins, span, down, scratch, x + oldest, scale, from, y, room);
        return;
    }
#endif
    NAME(filter_kinds)(n, up, counts, begins, span, down, scratch, x + oldest, scale, from, y, room);
}
