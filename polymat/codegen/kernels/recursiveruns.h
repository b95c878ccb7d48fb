/* Recursive filters: runs of one channel side by side, and what was before each of them.

   takes T                                                         the type of a sample
   takes NAME(name)                                                functions and types of sections of this form
   takes LANES=8|16                                                samples in a vector
   takes DEPTH=2                                                   samples of the past that are remembered of every signal
   takes PAST=2                                                    past results that a section reads, up to the oldest
   takes COEFFICIENT_COUNT=4                                       coefficients of a section
   takes RUN=128                                                   positions of a run at most
   takes LEAST_RUN=16                                              those for which runs side by side are worth it
   takes BACK=2                                                    past results that a section reads
   takes OFFSETS=1, 2                                              how far back they lie
   takes WIDE=double / long double                                 a wider type
   takes LIMIT=0x1p126f / 0x1p1022                                 the largest numbers that are computed with
   takes PARTS={old[0], old[0] - turn * old[1]}                    the first past result, and differences of those that follow each other
   takes CARRIED(value)=(value + h[0] * part[0] + h[1] * part[1])  a result with what was before its run
*/
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "recursivepasses.h"

/* Whether neighbouring results are rather alike (1) or of opposite sign (-1): where the poles are. */
static inline T NAME(rec_turn)(const T *c)
{
    return c[COEFFICIENT_COUNT - BACK] <= 0 ? 1 : -1;
}

/* The first `run` results that each past result alone has in a section, and the largest state that they are
   used for.  All follow from those of 1 among zeros, which are computed in a wider type: an error here is the
   same in every run. */
static T NAME(rec_table)(ptrdiff_t run, const T *c, T *table)
{
    static const int offsets[] = {OFFSETS};
    WIDE pulse[RUN + 2 * DEPTH] = {0}, largest = 1;
    WIDE *const now = pulse + DEPTH;
    const T turn = NAME(rec_turn)(c);
    now[0] = 1;
    for (ptrdiff_t n = 0; n < run; n++) {
        WIDE next = 0, sum = 0;
        for (int i = PAST - 1; i >= 0; i--) {
            WIDE value = 0;
            for (int k = 0; k < BACK; k++)
                if (offsets[k] > i)
                    value -= (WIDE)c[COEFFICIENT_COUNT - BACK + k] * now[n - offsets[k] + i + 1];
            sum = value + turn * sum;
            table[n * PAST + i] = (T)(i == 0 ? sum : -turn * sum);
            const WIDE size = value < 0 ? -value : value;
            largest = size <= largest ? largest : size;
        }
        for (int k = BACK - 1; k >= 0; k--)
            next -= (WIDE)c[COEFFICIENT_COUNT - BACK + k] * now[n + 1 - offsets[k]];
        now[n + 1] = next;
    }
    return (T)(LIMIT / (2 * PAST * PAST * largest));
}

/* All sections over runs of one channel side by side; 0 where they have to go sample by sample.
   most: the largest state of each section.  states: DEPTH vectors for every section, what was before. */
static int NAME(rec_runs)(ptrdiff_t run, ptrdiff_t sections, const T *c, const T *tables, const T *most,
        T *last, NAME(rec_vector) *states, T *next, NAME(rec_vector) *block, const T *x, const T *y,
        ptrdiff_t beyond)
{
    enum { past = PAST, depth = DEPTH }; /* of no macro in a pragma gcc makes a number */
    const T *const rows = (const T *)(const void *)(block + run - 1);
    NAME(rec_vector) none[DEPTH], entering[DEPTH];
    for (int k = 0; k < DEPTH; k++) {
        none[k] = (NAME(rec_vector)){0};
        for (int lane = 0; lane < LANES; lane++)
            entering[k][lane] = lane == 0 ? last[k] : rows[lane - 1 - k * LANES];
        next[k] = rows[LANES - 1 - k * LANES];
    }
    for (ptrdiff_t s = 0; s < sections; s++) {
        const T *const table = tables + s * RUN * PAST, *const own = c + s * COEFFICIENT_COUNT;
        NAME(rec_vector) *const mine = states + s * DEPTH,
                                *const parts = states + sections * DEPTH + s * PAST;
        NAME(rec_fetch)((uintptr_t)x, beyond, s, sections, 0);
        NAME(rec_fetch)((uintptr_t)y, beyond, s, sections, 1);
        if (s == 0)
            NAME(rec_plain)(run, own, entering, none, block);
        else
            NAME(rec_corrected)(run, own, table - RUN * PAST, parts - PAST, mine - DEPTH, none, block);
        const T turn = NAME(rec_turn)(own);
        T old[DEPTH];
        int fits = 1;
        for (int k = 0; k < DEPTH; k++)
            old[k] = last[(s + 1) * DEPTH + k];
        for (int lane = 0; lane < LANES; lane++) {
            T now[DEPTH];
            const T part[] = PARTS;
#pragma GCC unroll past
            for (int k = 0; k < PAST; k++)
                (((T *)(void *)(parts + k)))[lane] = part[k];
#pragma GCC unroll depth
            for (int k = 0; k < DEPTH; k++) {
                const T *const h = table + (run - 1 - k) * PAST;
                (((T *)(void *)(mine + k)))[lane] = old[k];
                now[k] = CARRIED(rows[lane - k * LANES]);
            }
#pragma GCC unroll depth
            for (int k = 0; k < DEPTH; k++) {
                old[k] = now[k];
                fits &= now[k] <= most[s] && now[k] >= -most[s];
            }
        }
        if (!fits)
            return 0;
        for (int k = 0; k < DEPTH; k++)
            next[(s + 1) * DEPTH + k] = old[k];
    }
    for (ptrdiff_t k = 0; k < (sections + 1) * DEPTH; k++)
        last[k] = next[k];
    return 1;
}

/* The samples of a channel from which on its runs are side by side, by the tables of its sections. */
enum { NAME(rec_tabled) = LEAST_RUN * LANES + DEPTH };

/* One channel. */
static void NAME(rec_channel)(ptrdiff_t count, ptrdiff_t sections, const T *c, const T *start, int is_given,
        const T *x, ptrdiff_t x_step, T *y, ptrdiff_t y_step, T *last, T *work)
{
    T *const tables = work, *const states = tables + sections * RUN * PAST;
    T *const most = states + sections * (DEPTH + PAST) * LANES, *const next = most + sections;
    T *const block = states + 2 * sections * (DEPTH + PAST) * LANES + (4 * DEPTH + 4) * LANES;
    int whole = count >= NAME(rec_tabled);
    ptrdiff_t n = 0;
    while (n < count) {
        const ptrdiff_t rest = count - n, share = rest / LANES / 8 * 8, run = share < RUN ? share : RUN;
        if (whole && n > 0 && run >= LEAST_RUN) {
            NAME(rec_load)(run, x + n * x_step, run * x_step, x_step, block);
            whole = NAME(rec_runs)(run, sections, c, tables, most, last, (NAME(rec_vector) *)(void *)states,
                    next, (NAME(rec_vector) *)(void *)block, x + (n + run * LANES) * x_step,
                    y + (n + run * LANES) * y_step, x_step == 1 ? run * LANES * (ptrdiff_t)sizeof(T) : 0);
            if (whole) {
                const NAME(rec_vector) *const parts = (const NAME(rec_vector) *)(const void *)states
                        + sections * DEPTH + (sections - 1) * PAST;
                NAME(rec_store)(run, block, tables + (sections - 1) * RUN * PAST, parts, y + n * y_step,
                        run * y_step, y_step);
                n += run * LANES;
                continue;
            }
        }
        const ptrdiff_t most_now = n == 0 && whole ? DEPTH : RUN * LANES,
                        some = rest < most_now ? rest : most_now;
        for (ptrdiff_t k = 0; k < some; k++)
            block[k] = x[(n + k) * x_step];
        NAME(rec_sections)(some, sections, c, n == 0 ? start : NULL, is_given, last, block);
        for (ptrdiff_t k = 0; k < some; k++)
            y[(n + k) * y_step] = block[k];
        n += some;
    }
}
