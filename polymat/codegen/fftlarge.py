"""C for large transforms, axis by axis and in blocks of lines: shared by threads, and kind to caches.

The text of `large_text` defines, for `fftw` and with `fftwf` likewise,

    int _pm_fftw_large(kind, sign, rigour, rank, dims, batches, batch, in, out, pieces, team);

with the arguments of `_pm_fftw_plan_for`.  It computes the transform and returns 1; or 0 where it is better
computed by one plan, or there is no plan or no memory, and then `out` may hold anything.  pieces: threads
that the work is worth, by the sizes alone, so that they may decide how it is computed; team: threads that
compute it now.

Of several axes the last one is transformed from `in` to `out`, the others in `out`, some lines at a time
copied to where they are contiguous: lines whose elements are a power of two apart share a few sets of the
caches, and plans that are not measured go along them one by one.  One axis of n1 n2 points is a matrix of
n1 rows (the six-step method: D. Bailey, "FFTs in external or hierarchical memory", 1990): its columns are
transformed and multiplied with roots of unity, then its rows, which are the columns of the result.

Measured (FFTW 3.3.5, Zen 5, complex double, one thread · two, against one plan that was estimated):
1024 x 1024 points took 0.15 · 0.07 of the time, 1000 x 1000 0.94 · 0.47, 2^20 0.64 · 0.32, 10^6 1.16 (so one
plan is used) · 0.58.
"""

from __future__ import annotations

from string import Template

from polymat.idiom.transform import SHARED_AXES, SHARED_LINE

LINES = 16  # computed side by side
SHORTEST = 64  # of the rows and columns that one axis is made
# Points from which this pays, measured: of several axes that threads share or whose lines collide, of others
# on one thread, of one axis on one thread, and of one that threads share.
LEAST_AXES, LEAST_ALONE, LEAST_LINE, LEAST_SHARED = SHARED_AXES, 1 << 17, 1 << 18, SHARED_LINE
COLLIDING = 2048  # bytes: lines at a multiple of them share few sets of a cache
# An axis whose length is no multiple of it goes along such lines too little to gain on one thread.
EVEN = 4096

_TEXT = Template(
    """\
enum { _PM_${P}_LINES = $LINES };
typedef $REAL _Complex _pm_${P}_value;

/* Lines first..first + count - 1 of an axis, from or to a buffer where each is contiguous. */
static inline void _pm_${P}_copy(ptrdiff_t n, ptrdiff_t count, const _pm_${P}_value *from, ptrdiff_t along,
        ptrdiff_t across, _pm_${P}_value *to, ptrdiff_t to_along, ptrdiff_t to_across)
{
    if (count == _PM_${P}_LINES && across == 1)
        for (ptrdiff_t i = 0; i < n; i++)
            for (int c = 0; c < _PM_${P}_LINES; c++)
                to[i * to_along + c * to_across] = from[i * along + c];
    else if (count == _PM_${P}_LINES && to_across == 1)
        for (ptrdiff_t i = 0; i < n; i++)
            for (int c = 0; c < _PM_${P}_LINES; c++)
                to[i * to_along + c] = from[i * along + c * across];
    else
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t c = 0; c < count; c++)
                to[i * to_along + c * to_across] = from[i * along + c * across];
}

/* A plan for some lines of n points side by side in a buffer, each contiguous. */
static _pm_${P}_plan *_pm_${P}_lines(ptrdiff_t n, int sign, int rigour, _pm_${P}_value *in, ptrdiff_t pitch,
        _pm_${P}_value *out)
{
    const _pm_fft_dim line = {n, 1, 1}, lines = {_PM_${P}_LINES, pitch, n};
    const uintptr_t distances = (uintptr_t)(pitch | n) * sizeof *in;
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
    _pm_${P}_plan *plan = _pm_${P}_lines(n, sign, rigour, buffers, n, buffers + n * _PM_${P}_LINES);
    ptrdiff_t items = blocks;
    for (int d = 0; d < rank - 1; d++)
        items *= d == axis ? 1 : dims[d].n;
#pragma omp parallel for num_threads(team) schedule(static) if(team > 1)
    for (ptrdiff_t item = 0; item < (plan == NULL ? 0 : items); item++) {
        _pm_${P}_value *const lines = buffers + omp_get_thread_num() * room;
        _pm_${P}_value *const done = lines + n * _PM_${P}_LINES;
        const ptrdiff_t first = item % blocks * _PM_${P}_LINES;
        const ptrdiff_t count = width - first < _PM_${P}_LINES ? width - first : _PM_${P}_LINES;
        _pm_${P}_value *at = out + first;
        ptrdiff_t rest = item / blocks;
        for (int d = rank - 2; d >= 0; d--)
            if (d != axis) {
                at += rest % dims[d].n * dims[d].os;
                rest /= dims[d].n;
            }
        _pm_${P}_copy(n, count, at, along, 1, lines, 1, n);
        _pm_${P}_run(plan, lines, done);
        _pm_${P}_copy(n, count, done, 1, n, at, along, 1);
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
    const ptrdiff_t room = 2 * longest * _PM_${P}_LINES;
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

/* exp(sign 2 pi i k / n) for k = 0, step, .. */
static void _pm_${P}_roots(ptrdiff_t n, int sign, ptrdiff_t step, ptrdiff_t count, double _Complex *roots)
{
    for (ptrdiff_t k = 0; k < count; k++) {
        const double angle = sign * 6.283185307179586477 * ((double)(k * step) / (double)n);
        roots[k] = __builtin_complex(cos(angle), sin(angle));
    }
}

/* One axis as `rows` rows of `columns`. */
static int _pm_${P}_line(int sign, int rigour, const _pm_fft_dim *dim, ptrdiff_t rows, ptrdiff_t columns,
        const _pm_${P}_value *in, _pm_${P}_value *out, int team)
{
    /* The rows begin in different sets of a cache. */
    const ptrdiff_t lines = _PM_${P}_LINES, pitch = columns + lines / 2;
    const ptrdiff_t room = 2 * lines * (rows > columns ? rows : columns);
    int shift = 0;
    while ((ptrdiff_t)1 << 2 * shift < dim->n)
        shift++;
    const ptrdiff_t fine = (ptrdiff_t)1 << shift, coarse = (dim->n >> shift) + 1;
    const size_t roots = (size_t)(fine + coarse) * sizeof(double _Complex);
    const ptrdiff_t elements = (rows + lines) * pitch + room * team;
    char *const memory = _pm_workspace_take(roots + (size_t)elements * sizeof *out + 64);
    if (memory == NULL)
        return 0;
    double _Complex *const low = (void *)memory, *const high = low + fine;
    _pm_${P}_value *const matrix = (void *)(memory + (roots + 63) / 64 * 64);
    _pm_${P}_value *const buffers = matrix + (rows + lines) * pitch;
    _pm_${P}_plan *down = _pm_${P}_lines(rows, sign, rigour, buffers, rows, buffers + lines * rows);
    _pm_${P}_plan *across = _pm_${P}_lines(columns, sign, rigour, matrix, pitch, buffers);
    const int made = down != NULL && across != NULL;
    _pm_${P}_roots(dim->n, sign, 1, fine, low);
    _pm_${P}_roots(dim->n, sign, fine, coarse, high);
    memset(matrix + rows * pitch, 0, (size_t)(lines * pitch + room * team) * sizeof *out);
#pragma omp parallel num_threads(team) if(team > 1)
    {
        _pm_${P}_value *const work = buffers + omp_get_thread_num() * room;
#pragma omp for schedule(static)
        for (ptrdiff_t j = 0; j < (made ? columns : 0); j += lines) {
            _pm_${P}_value *const done = work + lines * rows;
            const ptrdiff_t count = columns - j < lines ? columns - j : lines;
            _pm_${P}_copy(rows, count, in + j * dim->is, columns * dim->is, dim->is, work, 1, rows);
            _pm_${P}_run(down, work, done);
            for (ptrdiff_t c = 0; c < count; c++)
                for (ptrdiff_t k = 0; k < rows; k++) {
                    const ptrdiff_t turn = (j + c) * k;
                    const double _Complex a = low[turn & (fine - 1)], b = high[turn >> shift];
                    const double _Complex z = done[c * rows + k];
                    const double x = __real__ a * __real__ b - __imag__ a * __imag__ b;
                    const double y = __real__ a * __imag__ b + __imag__ a * __real__ b;
                    done[c * rows + k] = __builtin_complex(($REAL)(__real__ z * x - __imag__ z * y),
                                                           ($REAL)(__real__ z * y + __imag__ z * x));
                }
            _pm_${P}_copy(rows, count, done, 1, rows, matrix + j, pitch, 1);
        }
#pragma omp for schedule(static)
        for (ptrdiff_t k = 0; k < (made ? rows : 0); k += lines) {
            const ptrdiff_t count = rows - k < lines ? rows - k : lines;
            _pm_${P}_run(across, matrix + k * pitch, work);
            _pm_${P}_copy(columns, count, work, 1, columns, out + k * dim->os, rows * dim->os, dim->os);
        }
    }
    _pm_${P}_done(down);
    _pm_${P}_done(across);
    _pm_workspace_give(memory);
    return made;
}

static int _pm_${P}_large(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims, int batches,
        const _pm_fft_dim *batch, void *in, void *out, int pieces, int team)
{
    const int known = kind == _PM_C2C || (kind == _PM_R2C && rank > 1);
    /* A plan that was measured goes along one axis well by itself. */
    const int measured = rigour == _PM_MEASURE && (pieces == 1 || rank == 1);
    if (in == out || !known || dims[rank - 1].os != 1 || measured)
        return 0;
    double points = 1.0;
    for (int d = 0; d < rank; d++)
        points *= (double)dims[d].n;
    double least = rank > 1 ? $AXES : $SHARED;
    if (pieces == 1) {
        const size_t distance = rank > 1 ? (size_t)dims[rank - 2].os * 2 * sizeof($REAL) : (size_t)dims->n;
        const int collides = distance % (rank > 1 ? $COLLIDING : $EVEN) == 0;
        least = rank > 1 ? (collides ? $AXES : $ALONE) : collides ? $LINE : HUGE_VAL;
    }
    if (points < least)
        return 0;
    const size_t in_bytes = kind == _PM_R2C ? sizeof($REAL) : 2 * sizeof($REAL);
    if (batches > 0) {
        int made = 1;
        for (ptrdiff_t b = 0; made && b < batch->n; b++)
            made = _pm_${P}_large(kind, sign, rigour, rank, dims, batches - 1, batch + 1,
                                  (char *)in + b * batch->is * (ptrdiff_t)in_bytes,
                                  (_pm_${P}_value *)out + b * batch->os, pieces, team);
        return made;
    }
    if (rank > 1)
        return _pm_${P}_axes(kind, sign, rigour, rank, dims, in, out, team);
    ptrdiff_t rows = (ptrdiff_t)sqrt(points);
    while (rows >= $SHORTEST && dims->n % rows != 0)
        rows--;
    return rows >= $SHORTEST && _pm_${P}_line(sign, rigour, dims, rows, dims->n / rows, in, out, team);
}
"""
)


def large_text(prefix: str) -> str:
    """The C text for one precision; prefix: fftw or fftwf."""
    points = {"AXES": LEAST_AXES, "ALONE": LEAST_ALONE, "LINE": LEAST_LINE, "SHARED": LEAST_SHARED}
    return _TEXT.substitute(
        {name: f"{float(value)}" for name, value in points.items()},
        P=prefix,
        REAL="double" if prefix == "fftw" else "float",
        LINES=LINES,
        COLLIDING=COLLIDING,
        EVEN=EVEN,
        SHORTEST=SHORTEST,
    )
