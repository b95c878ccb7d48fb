/* Sweeps over data: reading, and copying; a sweep goes in steps of 8 vectors at most. */
#pragma once

#include <stdlib.h>
#include <sys/mman.h>
#include "calibration/timed.h"

/* Memory for `threads` slices, each written first by the thread that will use it; NULL if there is none. */
void *pm_allocate(ptrdiff_t slice, int threads)
{
    const size_t huge = (size_t)2 << 20, bytes = (size_t)slice * (size_t)threads;
    void *block = NULL;
    if (posix_memalign(&block, huge, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    const int team = _pm_team(threads, 1.0, 0.0);
#pragma omp parallel for num_threads(team) schedule(static, 1)
    for (int part = 0; part < threads; part++) {
        double *x = (double *)((char *)block + part * slice);
        for (ptrdiff_t i = 0; i < slice / 8; i++)
            x[i] = 1.0;
    }
    return block;
}

void pm_free(void *block)
{
    free(block);
}

static void read_once(const char *data, ptrdiff_t bytes)
{
    const vec *x = (const vec *)data;
    const ptrdiff_t vectors = bytes / (ptrdiff_t)sizeof(vec);
    vec a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, a4 = {0}, a5 = {0}, a6 = {0}, a7 = {0};
    for (ptrdiff_t i = 0; i < vectors; i += 8) {
        a0 += x[i];
        a1 += x[i + 1];
        a2 += x[i + 2];
        a3 += x[i + 3];
        a4 += x[i + 4];
        a5 += x[i + 5];
        a6 += x[i + 6];
        a7 += x[i + 7];
    }
    const vec sum = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));
    __asm__ volatile("" : : "m"(sum) : "memory");
}

/* Eight rows of so many bytes at a time, a vector of each. */
static void read_rows_once(const char *data, ptrdiff_t bytes, ptrdiff_t row)
{
    vec a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, a4 = {0}, a5 = {0}, a6 = {0}, a7 = {0};
    for (const char *rows = data; rows + 8 * row <= data + bytes; rows += 8 * row) {
        for (ptrdiff_t at = 0; at < row; at += (ptrdiff_t)sizeof(vec)) {
            a0 += *(const vec *)(rows + at);
            a1 += *(const vec *)(rows + row + at);
            a2 += *(const vec *)(rows + 2 * row + at);
            a3 += *(const vec *)(rows + 3 * row + at);
            a4 += *(const vec *)(rows + 4 * row + at);
            a5 += *(const vec *)(rows + 5 * row + at);
            a6 += *(const vec *)(rows + 6 * row + at);
            a7 += *(const vec *)(rows + 7 * row + at);
        }
    }
    const vec sum = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));
    __asm__ volatile("" : : "m"(sum) : "memory");
}

/* 32 rows of so many bytes at a time, cut into pieces of about so many: a piece of each row after another. */
static void read_pieces_once(const char *data, ptrdiff_t bytes, ptrdiff_t row, ptrdiff_t piece)
{
    for (const char *rows = data; rows + 32 * row <= data + bytes; rows += 32 * row)
        for (ptrdiff_t at = 0; at + piece <= row; at += piece)
            for (ptrdiff_t k = 0; k < 32; k++)
                read_once(rows + k * row + at, at + 2 * piece <= row ? piece : row - at);
}

static inline void ask_for_row(const char *row, ptrdiff_t bytes, int written)
{
    for (ptrdiff_t at = 0; at < bytes; at += 64)
        if (written)
            __builtin_prefetch(row + at, 1);
        else
            __builtin_prefetch(row + at, 0);
}

/* As tiles of two rows roll over an image: a stage into rows of their own, and one that reads these; before
   each, rows of the next tile are asked for, or not. */
static void roll_once(const char *from, char *to, ptrdiff_t bytes, ptrdiff_t row, int asks, double half)
{
    static vec own[(1 << 15) / sizeof(vec)];
    const ptrdiff_t vectors = row / (ptrdiff_t)sizeof(vec), tile = 2 * row;
    for (ptrdiff_t at = 0; at + 2 * tile <= bytes; at += tile) {
        const vec *const x0 = (const vec *)(from + at), *const x1 = (const vec *)(from + at + row);
        vec *const y0 = (vec *)(to + at), *const y1 = (vec *)(to + at + row);
        for (int k = 0; k < 2 * asks; k++)
            ask_for_row(from + at + tile + k * row, row, 0);
        for (ptrdiff_t i = 0; i < vectors; i++) {
            own[i] = half * (x0[i] + x1[i]);
            own[vectors + i] = half * (x0[i] + own[i]);
        }
        for (int k = 0; k < 2 * asks; k++)
            ask_for_row(to + at + tile + k * row, row, 1);
        for (ptrdiff_t i = 0; i < vectors; i++) {
            vec a = own[i], b = own[vectors + i];
            for (int step = 0; step < 8; step++) {
                a = half * a + half * b;
                b = half * b + half * a;
            }
            y0[i] = a;
            y1[i] = b;
        }
    }
    __asm__ volatile("" : : : "memory");
}

/* Scaled, so that no compiler makes a call of memcpy of it, which need not go through the caches. */
static void copy_once(const char *from, char *to, ptrdiff_t bytes, double factor)
{
    const vec *x = (const vec *)from;
    vec *y = (vec *)to;
    const ptrdiff_t vectors = bytes / (ptrdiff_t)sizeof(vec);
    for (ptrdiff_t i = 0; i < vectors; i += 4) {
        const vec b0 = x[i] * factor, b1 = x[i + 1] * factor;
        const vec b2 = x[i + 2] * factor, b3 = x[i + 3] * factor;
        y[i] = b0;
        y[i + 1] = b1;
        y[i + 2] = b2;
        y[i + 3] = b3;
    }
    __asm__ volatile("" : : : "memory");
}

static void read_often(const char *data, ptrdiff_t bytes, ptrdiff_t repeats)
{
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        read_once(data, bytes);
}

static void copy_often(const char *from, char *to, ptrdiff_t bytes, ptrdiff_t repeats, double factor)
{
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        copy_once(from, to, bytes, factor);
}

/* Thread t reads `bytes` from base + t * slice, `repeats` times; `warm` times before that unmeasured. */
double pm_read(const char *base, ptrdiff_t slice, ptrdiff_t bytes, ptrdiff_t repeats, ptrdiff_t warm,
        int threads)
{
    TIMED(threads, read_often(base + me * slice, bytes, warm), read_often(base + me * slice, bytes, repeats));
}

/* One thread reads rows of so many bytes, eight at a time. */
double pm_read_rows(const char *base, ptrdiff_t bytes, ptrdiff_t row)
{
    const double begin = now();
    read_rows_once(base, bytes, row);
    return now() - begin;
}

/* One thread reads pieces of rows, 32 of them side by side. */
double pm_read_pieces(const char *base, ptrdiff_t bytes, ptrdiff_t row, ptrdiff_t piece)
{
    const double begin = now();
    read_pieces_once(base, bytes, row, piece);
    return now() - begin;
}

/* One thread reads rows and writes as many, `apart` bytes from them. */
double pm_roll(char *base, ptrdiff_t bytes, ptrdiff_t apart, ptrdiff_t row, int asks, double half)
{
    const double begin = now();
    roll_once(base, base + apart, bytes, row, asks, half);
    return now() - begin;
}

/* As `pm_read`, reading `bytes` and writing as many at a distance of `apart` bytes. */
double pm_copy(char *base, ptrdiff_t slice, ptrdiff_t bytes, ptrdiff_t apart, ptrdiff_t repeats,
        ptrdiff_t warm, double factor, int threads)
{
    TIMED(threads, copy_often(base + me * slice, base + me * slice + apart, bytes, warm, factor),
            copy_often(base + me * slice, base + me * slice + apart, bytes, repeats, factor));
}
