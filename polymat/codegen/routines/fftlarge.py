"""C for large transforms, axis by axis and in blocks of lines: shared by threads, and kind to caches.

The text of `large_text` defines, for `fftw` and with `fftwf` likewise,

    int _pm_fftw_large(kind, sign, rigour, rank, dims, batches, batch, in, out, pieces, team);

with the arguments of `_pm_fftw_plan_for`.  It computes the transform and returns 1; or 0 where it is better
computed by one plan (`Least`), or there is no plan or no memory, and then `out` may hold anything.  pieces:
threads that the work is worth, by the sizes alone, so that they may decide how it is computed; team: threads
that compute it now.

Of several axes the last one is transformed from `in` to `out`, the others in `out`, some lines at a time
copied to where they are contiguous: lines whose elements are a power of two apart share a few sets of the
caches, and plans that are not measured go along them one by one.  One axis is made a matrix, see
`polymat.codegen.routines.fftline`.

Measured (FFTW 3.3.5, Zen 5, complex double, one thread · two, against one plan that was estimated):
1024 x 1024 points took 0.15 · 0.07 of the time, 1000 x 1000 0.94 · 0.47, 2^14 0.68 · 0.39, 2^18 0.47 · 0.20,
2^20 0.66 · 0.33, 10^6 1.00 (so one plan is used) · 0.76.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from string import Template

from polymat.codegen.routines.fftline import LINE_TEXT
from polymat.idiom.parts import Least

LINES = 16  # computed side by side
SHORTEST = 64  # of the rows and columns that one axis is made
COLLIDING = 2048  # bytes: lines at a multiple of them share few sets of a cache
# An axis whose length is no multiple of it goes along such lines too little to gain on one thread.
EVEN = 4096

_TEXT = """\
enum { _PM_${P}_LINES = $LINES };
typedef $REAL _Complex _pm_${P}_value;

/* From one contiguous line to the next: so that they begin in different sets of a cache, on 64 bytes. */
static inline ptrdiff_t _pm_${P}_pitch(ptrdiff_t n)
{
    return (n + 15) / 8 * 8;
}

/* Lines side by side in memory, `across` apart, to a buffer where each is contiguous. */
static inline void _pm_${P}_gather(ptrdiff_t n, ptrdiff_t count, const _pm_${P}_value *from, ptrdiff_t along,
        ptrdiff_t across, _pm_${P}_value *to, ptrdiff_t pitch)
{
    ptrdiff_t i = 0;
    if (count == _PM_${P}_LINES && across == 1)
        for (; i + 4 <= n; i += 4)
            for (int c = 0; c < _PM_${P}_LINES; c++) {
                const _pm_${P}_value *const f = from + i * along + c;
                const _pm_${P}_value f0 = f[0], f1 = f[along], f2 = f[2 * along], f3 = f[3 * along];
                _pm_${P}_value *const t = to + c * pitch + i;
                t[0] = f0, t[1] = f1, t[2] = f2, t[3] = f3;
            }
    for (; i < n; i++)
        for (ptrdiff_t c = 0; c < count; c++)
            to[c * pitch + i] = from[i * along + c * across];
}

/* Back from the buffer. */
static inline void _pm_${P}_scatter(ptrdiff_t n, ptrdiff_t count, const _pm_${P}_value *from, ptrdiff_t pitch,
        _pm_${P}_value *to, ptrdiff_t along, ptrdiff_t across)
{
    ptrdiff_t i = 0;
    if (count == _PM_${P}_LINES && across == 1)
        for (; i < n; i++)
            for (int c = 0; c < _PM_${P}_LINES; c += 4) {
                const _pm_${P}_value *const f = from + c * pitch + i;
                const _pm_${P}_value f0 = f[0], f1 = f[pitch], f2 = f[2 * pitch], f3 = f[3 * pitch];
                _pm_${P}_value *const t = to + i * along + c;
                t[0] = f0, t[1] = f1, t[2] = f2, t[3] = f3;
            }
    for (; i < n; i++)
        for (ptrdiff_t c = 0; c < count; c++)
            to[i * along + c * across] = from[c * pitch + i];
}

/* A plan for some lines of n points side by side, each contiguous, in_pitch and out_pitch apart. */
static _pm_${P}_plan *_pm_${P}_lines(ptrdiff_t n, int sign, int rigour, _pm_${P}_value *in,
        ptrdiff_t in_pitch, _pm_${P}_value *out, ptrdiff_t out_pitch)
{
    const _pm_fft_dim line = {n, 1, 1}, lines = {_PM_${P}_LINES, in_pitch, out_pitch};
    const uintptr_t distances = (uintptr_t)(in_pitch | out_pitch) * sizeof *in;
    return _pm_${P}_plan_for(_PM_C2C, sign, rigour, 1, &line, 1, &lines, in, out,
                             (uintptr_t)in | (uintptr_t)out | distances);
}

/* Transform the last axis from `in` to `out`; in_bytes: of an element of `in`. */
static int _pm_${P}_rows(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, char *in,
        size_t in_bytes, _pm_${P}_value *out, int team)
{
    const _pm_fft_dim *const line = dims + rank - 1, *const lane = dims + rank - 2;
    const ptrdiff_t blocks = (lane->n + _PM_${P}_LINES - 1) / _PM_${P}_LINES;
    ptrdiff_t items = blocks;
    uintptr_t at = (uintptr_t)in | (uintptr_t)out;
    for (int d = 0; d < rank - 1; d++) {
        items *= d < rank - 2 ? dims[d].n : 1;
        at |= (uintptr_t)dims[d].is * in_bytes | (uintptr_t)dims[d].os * sizeof *out;
    }
    const _pm_fft_dim lines = {_PM_${P}_LINES, lane->is, lane->os};
    _pm_${P}_plan *several = _pm_${P}_plan_for(kind, sign, rigour, 1, line, 1, &lines, in, out, at);
    _pm_${P}_plan *single = _pm_${P}_plan_for(kind, sign, rigour, 1, line, 0, NULL, in, out, at);
    const int made = several != NULL && single != NULL;
#pragma omp parallel for num_threads(team) schedule(static) if(team > 1)
    for (ptrdiff_t item = 0; item < (made ? items : 0); item++) {
        const ptrdiff_t first = item % blocks * _PM_${P}_LINES;
        ptrdiff_t rest = item / blocks, from = first * lane->is, to = first * lane->os;
        for (int d = rank - 3; d >= 0; d--) {
            from += rest % dims[d].n * dims[d].is;
            to += rest % dims[d].n * dims[d].os;
            rest /= dims[d].n;
        }
        if (lane->n - first >= _PM_${P}_LINES)
            _pm_${P}_run(several, in + from * (ptrdiff_t)in_bytes, out + to);
        else
            for (ptrdiff_t c = 0; c < lane->n - first; c++)
                _pm_${P}_run(single, in + (from + c * lane->is) * (ptrdiff_t)in_bytes,
                             out + to + c * lane->os);
    }
    _pm_${P}_done(several);
    _pm_${P}_done(single);
    return made;
}

/* Transform one axis of `out` in place, a few lines beside each other in the last dimension at a time.
   dims: all of them, with what `out` has; buffers: `room` elements for each thread. */
static int _pm_${P}_axis(int sign, int rigour, int rank, const _pm_fft_dim *dims, int axis,
        _pm_${P}_value *out, _pm_${P}_value *buffers, ptrdiff_t room, int team)
{
    const ptrdiff_t n = dims[axis].n, along = dims[axis].os, width = dims[rank - 1].n;
    const ptrdiff_t blocks = (width + _PM_${P}_LINES - 1) / _PM_${P}_LINES;
    const ptrdiff_t pitch = _pm_${P}_pitch(n);
    _pm_${P}_plan *plan = _pm_${P}_lines(n, sign, rigour, buffers, pitch, buffers + room / 2, pitch);
    ptrdiff_t items = blocks;
    for (int d = 0; d < rank - 1; d++)
        items *= d == axis ? 1 : dims[d].n;
#pragma omp parallel for num_threads(team) schedule(static) if(team > 1)
    for (ptrdiff_t item = 0; item < (plan == NULL ? 0 : items); item++) {
        _pm_${P}_value *const lines = buffers + omp_get_thread_num() * room, *const done = lines + room / 2;
        const ptrdiff_t first = item % blocks * _PM_${P}_LINES;
        const ptrdiff_t count = width - first < _PM_${P}_LINES ? width - first : _PM_${P}_LINES;
        _pm_${P}_value *at = out + first;
        ptrdiff_t rest = item / blocks;
        for (int d = rank - 2; d >= 0; d--)
            if (d != axis) {
                at += rest % dims[d].n * dims[d].os;
                rest /= dims[d].n;
            }
        _pm_${P}_gather(n, count, at, along, 1, lines, pitch);
        _pm_${P}_run(plan, lines, done);
        _pm_${P}_scatter(n, count, done, pitch, at, along, 1);
    }
    _pm_${P}_done(plan);
    return plan != NULL;
}

static int _pm_${P}_axes(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, void *in,
        _pm_${P}_value *out, int team)
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
    const ptrdiff_t room = 2 * _pm_${P}_pitch(longest) * _PM_${P}_LINES;
    const size_t bytes = (size_t)room * (size_t)team * sizeof *out;
    _pm_${P}_value *const buffers = _pm_workspace_take(bytes);
    if (buffers == NULL)
        return 0;
    memset(buffers, 0, bytes);
    const size_t in_bytes = kind == _PM_R2C ? sizeof($REAL) : sizeof *out;
    int made = _pm_${P}_rows(kind, sign, rigour, rank, dims, in, in_bytes, out, team);
    for (int axis = rank - 2; made && axis >= 0; axis--)
        made = _pm_${P}_axis(sign, rigour, rank, there, axis, out, buffers, room, team);
    _pm_workspace_give(buffers);
    return made;
}

@LINE@
static int _pm_${P}_large(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, int batches,
        const _pm_fft_dim *batch, void *in, void *out, int pieces, int team)
{
    const ptrdiff_t reals = kind == _PM_R2C ? dims->is : 1; /* the stride of real values on one axis */
    const int pairs = kind == _PM_C2C || (dims->n % 2 == 0 && reals == 1);
    const int known = rank == 1 ? pairs : kind != _PM_C2R && (rigour != _PM_MEASURE || pieces > 1);
    if (in == out || !known || dims[rank - 1].os != 1)
        return 0;
    double points = rank == 1 && kind != _PM_C2C ? 0.5 : 1.0;
    for (int d = 0; d < rank; d++)
        points *= (double)dims[d].n;
    const int real = kind != _PM_C2C;
    double least = rank == 1 ? $SHARED : real ? $REAL_AXES_SHARED : $AXES_SHARED;
    if (pieces == 1) {
        const size_t distance = rank > 1 ? (size_t)dims[rank - 2].os * 2 * sizeof($REAL) : (size_t)dims->n;
        const int collides = distance % (rank > 1 ? $COLLIDING : $EVEN) == 0;
        const double line = real ? $PAIRS : $LINE, axes = collides ? $AXES : $APART;
        least = rank > 1 ? (real ? $REAL_AXES : axes) : collides ? line : HUGE_VAL;
    }
    if (points < least)
        return 0;
    if (batches > 0) {
        const ptrdiff_t in_bytes = (ptrdiff_t)sizeof($REAL) * (kind == _PM_R2C ? 1 : 2);
        const ptrdiff_t out_bytes = (ptrdiff_t)sizeof($REAL) * (kind == _PM_C2R ? 1 : 2);
        int made = 1;
        for (ptrdiff_t b = 0; made && b < batch->n; b++)
            made = _pm_${P}_large(kind, sign, rigour, rank, dims, batches - 1, batch + 1,
                                  (char *)in + b * batch->is * in_bytes,
                                  (char *)out + b * batch->os * out_bytes, pieces, team);
        return made;
    }
    if (rank > 1)
        return _pm_${P}_axes(kind, sign, rigour, rank, dims, in, out, team);
    return _pm_${P}_line(kind, sign, rigour, dims, in, out, team);
}
"""


def large_text(prefix: str, least: Least) -> str:
    """The C text for one precision; prefix: fftw or fftwf; least: points from which it is for a transform."""
    text = Template(_TEXT.replace("@LINE@\n", LINE_TEXT))
    return text.substitute(
        {name.upper(): _number(value) for name, value in asdict(least).items()},
        P=prefix,
        REAL="double" if prefix == "fftw" else "float",
        LINES=LINES,
        COLLIDING=COLLIDING,
        EVEN=EVEN,
        SHORTEST=SHORTEST,
    )


def _number(points: float) -> str:
    return f"{float(points)}" if math.isfinite(points) else "HUGE_VAL"
