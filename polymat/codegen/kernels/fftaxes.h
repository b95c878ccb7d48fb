/* Large transforms of several axes: axis by axis, in blocks of lines.

   See `polymat.codegen.routines.fftlarge`.

   takes T=float / double  the type of a real value
   takes NAME(name)        functions and types of that type
   takes CONSTANT(name)    constants
   takes LINES=16          computed side by side
*/
#pragma once

#include <complex.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "fftplans.h"
#include "workspace.h"

enum { CONSTANT(LINES) = LINES };
typedef T _Complex NAME(value);

/* From one contiguous line to the next: so that they begin in different sets of a cache, on 64 bytes. */
static inline ptrdiff_t NAME(pitch)(ptrdiff_t n)
{
    return (n + 15) / 8 * 8;
}

/* Lines side by side in memory, `across` apart, to a buffer where each is contiguous. */
static inline void NAME(gather)(ptrdiff_t n, ptrdiff_t count, const NAME(value) *from, ptrdiff_t along,
        ptrdiff_t across, NAME(value) *to, ptrdiff_t pitch)
{
    ptrdiff_t i = 0;
    if (count == CONSTANT(LINES) && across == 1)
        for (; i + 4 <= n; i += 4)
            for (int c = 0; c < CONSTANT(LINES); c++) {
                const NAME(value) *const f = from + i * along + c;
                const NAME(value) f0 = f[0], f1 = f[along], f2 = f[2 * along], f3 = f[3 * along];
                NAME(value) *const t = to + c * pitch + i;
                t[0] = f0, t[1] = f1, t[2] = f2, t[3] = f3;
            }
    for (; i < n; i++)
        for (ptrdiff_t c = 0; c < count; c++)
            to[c * pitch + i] = from[i * along + c * across];
}

/* Back from the buffer. */
static inline void NAME(scatter)(ptrdiff_t n, ptrdiff_t count, const NAME(value) *from, ptrdiff_t pitch,
        NAME(value) *to, ptrdiff_t along, ptrdiff_t across)
{
    ptrdiff_t i = 0;
    if (count == CONSTANT(LINES) && across == 1)
        for (; i < n; i++)
            for (int c = 0; c < CONSTANT(LINES); c += 4) {
                const NAME(value) *const f = from + c * pitch + i;
                const NAME(value) f0 = f[0], f1 = f[pitch], f2 = f[2 * pitch], f3 = f[3 * pitch];
                NAME(value) *const t = to + i * along + c;
                t[0] = f0, t[1] = f1, t[2] = f2, t[3] = f3;
            }
    for (; i < n; i++)
        for (ptrdiff_t c = 0; c < count; c++)
            to[i * along + c * across] = from[c * pitch + i];
}

/* A plan for some lines of n points side by side, each contiguous, in_pitch and out_pitch apart. */
static NAME(plan) *NAME(lines)(ptrdiff_t n, int sign, int rigour, NAME(value) *in, ptrdiff_t in_pitch,
        NAME(value) *out, ptrdiff_t out_pitch)
{
    const _pm_fft_dim line = {n, 1, 1}, lines = {CONSTANT(LINES), in_pitch, out_pitch};
    const uintptr_t distances = (uintptr_t)(in_pitch | out_pitch) * sizeof *in;
    return NAME(plan_for)(_PM_C2C, sign, rigour, 1, &line, 1, &lines, in, out,
            (uintptr_t)in | (uintptr_t)out | distances);
}

/* Transform the last axis from `in` to `out`; in_bytes: of an element of `in`. */
static int NAME(rows)(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, char *in,
        size_t in_bytes, NAME(value) *out, int team)
{
    const _pm_fft_dim *const line = dims + rank - 1, *const lane = dims + rank - 2;
    const ptrdiff_t blocks = (lane->n + CONSTANT(LINES) - 1) / CONSTANT(LINES);
    ptrdiff_t items = blocks;
    uintptr_t at = (uintptr_t)in | (uintptr_t)out;
    for (int d = 0; d < rank - 1; d++) {
        items *= d < rank - 2 ? dims[d].n : 1;
        at |= (uintptr_t)dims[d].is * in_bytes | (uintptr_t)dims[d].os * sizeof *out;
    }
    const _pm_fft_dim lines = {CONSTANT(LINES), lane->is, lane->os};
    NAME(plan) *several = NAME(plan_for)(kind, sign, rigour, 1, line, 1, &lines, in, out, at);
    NAME(plan) *single = NAME(plan_for)(kind, sign, rigour, 1, line, 0, NULL, in, out, at);
    const int made = several != NULL && single != NULL;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (ptrdiff_t item = 0; item < (made ? items : 0); item++) {
        const ptrdiff_t first = item % blocks * CONSTANT(LINES);
        ptrdiff_t rest = item / blocks, from = first * lane->is, to = first * lane->os;
        for (int d = rank - 3; d >= 0; d--) {
            from += rest % dims[d].n * dims[d].is;
            to += rest % dims[d].n * dims[d].os;
            rest /= dims[d].n;
        }
        if (lane->n - first >= CONSTANT(LINES))
            NAME(run)(several, in + from * (ptrdiff_t)in_bytes, out + to);
        else
            for (ptrdiff_t c = 0; c < lane->n - first; c++)
                NAME(run)(single, in + (from + c * lane->is) * (ptrdiff_t)in_bytes, out + to + c * lane->os);
    }
    NAME(done)(several);
    NAME(done)(single);
    return made;
}

/* Transform one axis of `out` in place, a few lines beside each other in the last dimension at a time.
   dims: all of them, with what `out` has; buffers: `room` elements for each thread. */
static int NAME(axis)(int sign, int rigour, int rank, const _pm_fft_dim *dims, int axis, NAME(value) *out,
        NAME(value) *buffers, ptrdiff_t room, int team)
{
    const ptrdiff_t n = dims[axis].n, along = dims[axis].os, width = dims[rank - 1].n;
    const ptrdiff_t blocks = (width + CONSTANT(LINES) - 1) / CONSTANT(LINES);
    const ptrdiff_t pitch = NAME(pitch)(n);
    NAME(plan) *plan = NAME(lines)(n, sign, rigour, buffers, pitch, buffers + room / 2, pitch);
    ptrdiff_t items = blocks;
    for (int d = 0; d < rank - 1; d++)
        items *= d == axis ? 1 : dims[d].n;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (ptrdiff_t item = 0; item < (plan == NULL ? 0 : items); item++) {
        NAME(value) *const lines = buffers + omp_get_thread_num() * room, *const done = lines + room / 2;
        const ptrdiff_t first = item % blocks * CONSTANT(LINES);
        const ptrdiff_t count = width - first < CONSTANT(LINES) ? width - first : CONSTANT(LINES);
        NAME(value) *at = out + first;
        ptrdiff_t rest = item / blocks;
        for (int d = rank - 2; d >= 0; d--)
            if (d != axis) {
                at += rest % dims[d].n * dims[d].os;
                rest /= dims[d].n;
            }
        NAME(gather)(n, count, at, along, 1, lines, pitch);
        NAME(run)(plan, lines, done);
        NAME(scatter)(n, count, done, pitch, at, along, 1);
    }
    NAME(done)(plan);
    return plan != NULL;
}

static int NAME(axes)(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, void *in,
        NAME(value) *out, int team)
{
    _pm_fft_dim there[_PM_FFT_DIMS];
    ptrdiff_t longest = 1;
    for (int d = 0; d < rank; d++) {
        there[d] = dims[d];
        longest = d < rank - 1 && dims[d].n > longest ? dims[d].n : longest;
    }
    if (kind == _PM_R2C) {
        there[rank - 1].n = there[rank - 1].n / 2 + 1;
        sign = -1;
    }
    const ptrdiff_t room = 2 * NAME(pitch)(longest) * CONSTANT(LINES);
    const size_t bytes = (size_t)room * (size_t)team * sizeof *out;
    NAME(value) *const buffers = _pm_workspace_take(bytes);
    if (buffers == NULL)
        return 0;
    memset(buffers, 0, bytes);
    const size_t in_bytes = kind == _PM_R2C ? sizeof(T) : sizeof *out;
    int made = NAME(rows)(kind, sign, rigour, rank, dims, in, in_bytes, out, team);
    for (int axis = rank - 2; made && axis >= 0; axis--)
        made = NAME(axis)(sign, rigour, rank, there, axis, out, buffers, room, team);
    _pm_workspace_give(buffers);
    return made;
}
