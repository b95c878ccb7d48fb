/* A section of recursive filters, over samples in a row or over the vectors of a block.

   See `polymat.codegen.signals.recursiveblocks` for what is computed and why.

   takes T                                                          the type of a sample
   takes NAME(name)                                                 functions and types of sections of this form
   takes LANES=8|16                                                 samples in a vector
   takes WIDTH=4|8                                                  those that a register holds
   takes SIDE=4|8                                                   elements of the vectors that are transposed
   takes DEPTH=2                                                    samples of the past that are remembered of every signal
   takes PAST=2                                                     past results that a section reads, up to the oldest
   takes COEFFICIENT_COUNT=4                                        coefficients of a section
   takes COEFFICIENTS=const T f1 = c[0], g1 = c[1], g2 = c[2]       the coefficients, as variables
   takes SERIAL_STATE=T x1 = xs[0], y1 = ys[0], y2 = ys[1]          the samples of the past, the newest first, as variables
   takes STATE=NAME(rec_part) x1 = xs[0], y1 = ys[0], y2 = ys[1]    those of parts of vectors
   takes STEP=y0 = f1 * x1; y0 -= g2 * y2; y0 -= g1 * y1            the next result
   takes SHIFT=x1 = x0; y2 = y1; y1 = y0                            what makes it one of the past
   takes RESTORED(part)=(part + t[0] * before[0])                   a part of a vector with what was before it
*/
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "squares.h"

typedef T NAME(rec_vector) __attribute__((vector_size(LANES * sizeof(T)), may_alias));

/* The part of such a vector that a register holds, and that anywhere in memory: of vectors wider than registers
   gcc keeps all values in memory. */
typedef T NAME(rec_part) __attribute__((vector_size(WIDTH * sizeof(T)), may_alias));
typedef NAME(rec_part) NAME(rec_memory) __attribute__((aligned(sizeof(T)), may_alias));
enum { NAME(rec_parts) = LANES / WIDTH };

/* The last DEPTH samples of a signal, the newest first, after `count` more that lie `step` apart. */
static inline void NAME(rec_remember)(T *last, ptrdiff_t count, const T *samples, ptrdiff_t step)
{
    const ptrdiff_t fresh = count < DEPTH ? count : DEPTH;
    for (ptrdiff_t k = DEPTH - 1; k >= fresh; k--)
        last[k] = last[k - fresh];
    for (ptrdiff_t k = 0; k < fresh; k++)
        last[k] = samples[(count - 1 - k) * step];
}

/* Have part `part` of `parts` of so many bytes brought near while something else is computed; to be read, or
   to be written.  Addresses may be any. */
static inline __attribute__((always_inline)) void NAME(rec_fetch)(uintptr_t at, ptrdiff_t bytes,
        ptrdiff_t part, ptrdiff_t parts, const int write)
{
    const ptrdiff_t lines = (bytes / 64 + parts - 1) / parts;
    for (ptrdiff_t line = part * lines; line < (part + 1) * lines; line++)
        if (write)
            __builtin_prefetch((const void *)(at + (uintptr_t)line * 64), 1, 2);
        else
            __builtin_prefetch((const void *)(at + (uintptr_t)line * 64), 0, 2);
}

/* A section over samples in a row, in place.  `start`, if there is one, is added to the first DEPTH results,
   or these are given by it. */
static void NAME(rec_serial)(ptrdiff_t count, const T *c, const T *start, int is_given, const T *xs,
        const T *ys, T *samples)
{
    COEFFICIENTS;
    SERIAL_STATE;
    ptrdiff_t n = 0;
    if (start != NULL)
        for (; n < count && n < DEPTH; n++) {
            const T x0 = samples[n];
            T y0;
            STEP;
            y0 = is_given ? start[n] : y0 + start[n];
            SHIFT;
            samples[n] = y0;
        }
#pragma GCC unroll 4
    for (; n < count; n++) {
        const T x0 = samples[n];
        T y0;
        STEP;
        SHIFT;
        samples[n] = y0;
    }
}

/* All sections over samples in a row, in place; `last` are the last samples of every signal. */
static void NAME(rec_sections)(ptrdiff_t count, ptrdiff_t sections, const T *c, const T *start, int is_given,
        T *last, T *samples)
{
    for (ptrdiff_t s = 0; s < sections; s++) {
        T before[DEPTH];
        for (ptrdiff_t k = 0; k < DEPTH; k++)
            before[k] = last[s * DEPTH + k];
        NAME(rec_remember)(last + s * DEPTH, count, samples, 1);
        NAME(rec_serial)(count, c + s * COEFFICIENT_COUNT, start == NULL ? NULL : start + s * DEPTH, is_given,
                before, last + (s + 1) * DEPTH, samples);
    }
    NAME(rec_remember)(last + sections * DEPTH, count, samples, 1);
}

/* A section over the same part of all vectors of a block, in place; `before` is added to what it reads by
   table t, if any. */
static inline __attribute__((always_inline)) void NAME(rec_pass)(ptrdiff_t run, const T *c, const T *t,
        const NAME(rec_part) *before, const NAME(rec_part) *xs, const NAME(rec_part) *ys,
        NAME(rec_part) *block)
{
    COEFFICIENTS;
    STATE;
#pragma GCC unroll 2
    for (ptrdiff_t n = 0; n < run; n++) {
        NAME(rec_part) x0 = block[n * NAME(rec_parts)], y0;
        if (t != NULL) {
            x0 = RESTORED(x0);
            t += PAST;
        }
        STEP;
        SHIFT;
        block[n * NAME(rec_parts)] = y0;
    }
}

static __attribute__((noinline)) void NAME(rec_plain)(ptrdiff_t run, const T *c, const NAME(rec_vector) *xs,
        const NAME(rec_vector) *ys, NAME(rec_vector) *block)
{
    for (int part = 0; part < NAME(rec_parts); part++)
        NAME(rec_pass)(run, c, NULL, NULL, (const NAME(rec_part) *)xs + part,
                (const NAME(rec_part) *)ys + part, (NAME(rec_part) *)block + part);
}

static __attribute__((noinline)) void NAME(rec_corrected)(ptrdiff_t run, const T *c, const T *t,
        const NAME(rec_vector) *before, const NAME(rec_vector) *xs, const NAME(rec_vector) *ys,
        NAME(rec_vector) *block)
{
    for (int part = 0; part < NAME(rec_parts); part++)
        NAME(rec_pass)(run, c, t, (const NAME(rec_part) *)before + part, (const NAME(rec_part) *)xs + part,
                (const NAME(rec_part) *)ys + part, (NAME(rec_part) *)block + part);
}

/* Copy a block from memory: lane l of vector n is at x[l * across + n * along]; run is a multiple of 8. */
static void NAME(rec_load)(ptrdiff_t run, const T *x, ptrdiff_t across, ptrdiff_t along, T *block)
{
    if (across == 1) {
        for (ptrdiff_t n = 0; n < run; n++)
            for (int lane = 0; lane < LANES; lane += WIDTH) {
                const void *const from = x + n * along + lane;
                *(NAME(rec_part) *)(void *)(block + n * LANES + lane) = *(const NAME(rec_memory) *)from;
            }
    } else if (along == 1) {
        for (ptrdiff_t n = 0; n < run; n += SIDE)
            for (int lane = 0; lane < LANES; lane += SIDE) {
                NAME(square_row) r[SIDE];
#pragma GCC unroll 8
                for (int line = 0; line < SIDE; line++) {
                    const void *const from = x + (lane + line) * across + n;
                    r[line] = *(const NAME(square_memory) *)from;
                }
                NAME(transpose_square)(r);
#pragma GCC unroll 8
                for (int line = 0; line < SIDE; line++)
                    *(NAME(square_row) *)(void *)(block + (n + line) * LANES + lane) = r[line];
            }
    } else {
        for (ptrdiff_t n = 0; n < run; n++)
            for (int lane = 0; lane < LANES; lane++)
                block[n * LANES + lane] = x[lane * across + n * along];
    }
}

/* SIDE vectors of a block, part by part, with what was before by table t, if any. */
static inline __attribute__((always_inline)) void NAME(rec_restored)(const T *block, const T *t,
        const NAME(rec_vector) *entering, NAME(rec_part) *rows)
{
#pragma GCC unroll 8
    for (int line = 0; line < SIDE; line++) {
#pragma GCC unroll 4
        for (int part = 0; part < NAME(rec_parts); part++) {
            const NAME(rec_part) *const before = (const NAME(rec_part) *)entering + part;
            NAME(rec_part) *const row = rows + line * NAME(rec_parts) + part;
            *row = *(const NAME(rec_part) *)(const void *)(block + line * LANES + part * WIDTH);
            if (t != NULL)
                *row = RESTORED(*row);
        }
        if (t != NULL)
            t += PAST;
    }
}

/* Write a block to memory, and add what was before by table t, if any. */
static void NAME(rec_store)(ptrdiff_t run, const T *block, const T *t, const NAME(rec_vector) *before, T *y,
        ptrdiff_t across, ptrdiff_t along)
{
    enum { parts = NAME(rec_parts) };
    for (ptrdiff_t n = 0; n < run; n += SIDE) {
        NAME(rec_part) rows[SIDE * parts];
        NAME(rec_restored)(block + n * LANES, t, before, rows);
        if (t != NULL)
            t += SIDE * PAST;
        if (across == 1) {
            for (int line = 0; line < SIDE; line++)
                for (int part = 0; part < parts; part++)
                    *(NAME(rec_memory) *)(void *)(y + (n + line) * along + part * WIDTH) =
                            rows[line * parts + part];
        } else if (along == 1) {
#pragma GCC unroll 2
            for (int lane = 0; lane < LANES; lane += SIDE) {
                NAME(square_row) r[SIDE];
#pragma GCC unroll 8
                for (int line = 0; line < SIDE; line++)
                    r[line] = ((const NAME(square_row) *)rows)[(line * LANES + lane) / SIDE];
                NAME(transpose_square)(r);
#pragma GCC unroll 8
                for (int line = 0; line < SIDE; line++)
                    *(NAME(square_memory) *)(void *)(y + (lane + line) * across + n) = r[line];
            }
        } else {
            for (int line = 0; line < SIDE; line++)
                for (int lane = 0; lane < LANES; lane++)
                    y[lane * across + (n + line) * along] = ((const T *)rows)[line * LANES + lane];
        }
    }
}
