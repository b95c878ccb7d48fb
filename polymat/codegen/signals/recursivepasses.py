"""The C text of recursive filters: a section over samples in a row or over the vectors of a block."""

from __future__ import annotations

PASSES = """\
typedef $T _pm_rec_vector_$N __attribute__((vector_size($L * sizeof($T)), may_alias));
typedef _pm_rec_vector_$N _pm_rec_memory_$N __attribute__((aligned(sizeof($T)), may_alias));

/* The last $D samples of a signal, the newest first, after `count` more that lie `step` apart. */
static inline void _pm_rec_remember_$N($T *last, ptrdiff_t count, const $T *samples, ptrdiff_t step)
{
    const ptrdiff_t fresh = count < $D ? count : $D;
    for (ptrdiff_t k = $D - 1; k >= fresh; k--)
        last[k] = last[k - fresh];
    for (ptrdiff_t k = 0; k < fresh; k++)
        last[k] = samples[(count - 1 - k) * step];
}

/* Have part `part` of `parts` of so many bytes brought near while something else is computed; to be read, or
   to be written.  Addresses may be any. */
static inline __attribute__((always_inline)) void _pm_rec_fetch_$N(uintptr_t at, ptrdiff_t bytes,
        ptrdiff_t part, ptrdiff_t parts, const int write)
{
    const ptrdiff_t lines = (bytes / 64 + parts - 1) / parts;
    for (ptrdiff_t line = part * lines; line < (part + 1) * lines; line++)
        if (write)
            __builtin_prefetch((const void *)(at + (uintptr_t)line * 64), 1, 2);
        else
            __builtin_prefetch((const void *)(at + (uintptr_t)line * 64), 0, 2);
}

/* A section over samples in a row, in place.  `start`, if there is one, is added to the first $D results,
   or these are given by it. */
static void _pm_rec_serial_$N(ptrdiff_t count, const $T *c, const $T *start, int is_given, const $T *xs,
        const $T *ys, $T *samples)
{
    $coefficients
    $serial_state
    ptrdiff_t n = 0;
    if (start != NULL)
        for (; n < count && n < $D; n++) {
            const $T x0 = samples[n];
            $T y0;
            $step
            y0 = is_given ? start[n] : y0 + start[n];
            $shift
            samples[n] = y0;
        }
#pragma GCC unroll 4
    for (; n < count; n++) {
        const $T x0 = samples[n];
        $T y0;
        $step
        $shift
        samples[n] = y0;
    }
}

/* All sections over samples in a row, in place; `last` are the last samples of every signal. */
static void _pm_rec_sections_$N(ptrdiff_t count, ptrdiff_t sections, const $T *c, const $T *start,
        int is_given, $T *last, $T *samples)
{
    for (ptrdiff_t s = 0; s < sections; s++) {
        $T before[$D];
        for (ptrdiff_t k = 0; k < $D; k++)
            before[k] = last[s * $D + k];
        _pm_rec_remember_$N(last + s * $D, count, samples, 1);
        _pm_rec_serial_$N(count, c + s * $NC, start == NULL ? NULL : start + s * $D, is_given, before,
                          last + (s + 1) * $D, samples);
    }
    _pm_rec_remember_$N(last + sections * $D, count, samples, 1);
}

/* A section over the vectors of a block, in place; `before` is added to what it reads by table t, if any. */
static inline __attribute__((always_inline)) void _pm_rec_pass_$N(ptrdiff_t run, const $T *c, const $T *t,
        const _pm_rec_vector_$N *before, const _pm_rec_vector_$N *xs, const _pm_rec_vector_$N *ys,
        _pm_rec_vector_$N *block)
{
    $coefficients
    $state
#pragma GCC unroll 2
    for (ptrdiff_t n = 0; n < run; n++) {
        _pm_rec_vector_$N x0 = block[n], y0;
        if (t != NULL) {
            x0 = x0$restored;
            t += $P;
        }
        $step
        $shift
        block[n] = y0;
    }
}

static __attribute__((noinline)) void _pm_rec_plain_$N(ptrdiff_t run, const $T *c,
        const _pm_rec_vector_$N *xs, const _pm_rec_vector_$N *ys, _pm_rec_vector_$N *block)
{
    _pm_rec_pass_$N(run, c, NULL, NULL, xs, ys, block);
}

static __attribute__((noinline)) void _pm_rec_corrected_$N(ptrdiff_t run, const $T *c, const $T *t,
        const _pm_rec_vector_$N *before, const _pm_rec_vector_$N *xs, const _pm_rec_vector_$N *ys,
        _pm_rec_vector_$N *block)
{
    _pm_rec_pass_$N(run, c, t, before, xs, ys, block);
}

/* Copy a block from memory: lane l of vector n is at x[l * across + n * along]; run is a multiple of 8. */
static void _pm_rec_load_$N(ptrdiff_t run, const $T *x, ptrdiff_t across, ptrdiff_t along, $T *block)
{
    if (across == 1) {
        for (ptrdiff_t n = 0; n < run; n++)
            ((_pm_rec_vector_$N *)(void *)block)[n] =
                    *(const _pm_rec_memory_$N *)(const void *)(x + n * along);
    } else if (along == 1) {
        for (ptrdiff_t n = 0; n < run; n += 8)
            for (int lane = 0; lane < $L; lane += 8) {
                _pm_octet_recursive_$N r[8];
#pragma GCC unroll 8
                for (int line = 0; line < 8; line++) {
                    const void *const from = x + (lane + line) * across + n;
                    r[line] = *(const _pm_octet_memory_recursive_$N *)from;
                }
                _pm_transpose_recursive_$N(r);
#pragma GCC unroll 8
                for (int line = 0; line < 8; line++)
                    *(_pm_octet_recursive_$N *)(void *)(block + (n + line) * $L + lane) = r[line];
            }
    } else {
        for (ptrdiff_t n = 0; n < run; n++)
            for (int lane = 0; lane < $L; lane++)
                block[n * $L + lane] = x[lane * across + n * along];
    }
}

/* Write a block to memory, and add what was before by table t, if any. */
static void _pm_rec_store_$N(ptrdiff_t run, const $T *block, const $T *t, const _pm_rec_vector_$N *before,
        $T *y, ptrdiff_t across, ptrdiff_t along)
{
    for (ptrdiff_t n = 0; n < run; n += 8) {
        _pm_rec_vector_$N rows[8];
#pragma GCC unroll 8
        for (int line = 0; line < 8; line++) {
            rows[line] = *(const _pm_rec_vector_$N *)(const void *)(block + (n + line) * $L);
            if (t != NULL) {
                rows[line] = rows[line]$restored;
                t += $P;
            }
        }
        if (across == 1) {
            for (int line = 0; line < 8; line++)
                *(_pm_rec_memory_$N *)(void *)(y + (n + line) * along) = rows[line];
        } else if (along == 1) {
#pragma GCC unroll 2
            for (int lane = 0; lane < $L; lane += 8) {
                _pm_octet_recursive_$N r[8];
#pragma GCC unroll 8
                for (int line = 0; line < 8; line++)
                    r[line] = ((const _pm_octet_recursive_$N *)(const void *)&rows[line])[lane / 8];
                _pm_transpose_recursive_$N(r);
#pragma GCC unroll 8
                for (int line = 0; line < 8; line++)
                    *(_pm_octet_memory_recursive_$N *)(void *)(y + (lane + line) * across + n) = r[line];
            }
        } else {
            for (int line = 0; line < 8; line++)
                for (int lane = 0; lane < $L; lane++)
                    y[lane * across + (n + line) * along] = rows[line][lane];
        }
    }
}

"""
