"""C for one axis that is large: computed as a matrix, by transforms of its columns and of its rows.

The text of `line_text` defines, for `fftw` and with `fftwf` likewise,

    int _pm_fftw_line(sign, rigour, n, is, os, in, out, team);

which transforms n complex values at the strides `is` and `os`; 0 where there is no plan or no memory, or n
has no factor that suits.  It stands in the text of `polymat.codegen.fftlarge`.

n1 n2 points are a matrix of n1 rows (the six-step method: D. Bailey, "FFTs in external or hierarchical
memory", 1990): its columns are transformed and multiplied with roots of unity, then its rows, which are the
columns of the result.
"""

from __future__ import annotations

LINE_TEXT = """\
/* exp(sign 2 pi i k / n) for k = 0, step, .., shared by the threads that are there */
static void _pm_${P}_roots(ptrdiff_t n, int sign, ptrdiff_t step, ptrdiff_t count, double _Complex *roots)
{
#pragma omp for schedule(static)
    for (ptrdiff_t k = 0; k < count; k++) {
        const double angle = sign * 6.283185307179586477 * ((double)(k * step) / (double)n);
        roots[k] = __builtin_complex(cos(angle), sin(angle));
    }
}

/* The root of a product of indices, from those of its low bits and of the others. */
typedef struct { const double _Complex *low, *high; int shift; } _pm_${P}_table;

static inline double _Complex _pm_${P}_root(const _pm_${P}_table *table, ptrdiff_t turn)
{
    const double _Complex a = table->low[turn & (((ptrdiff_t)1 << table->shift) - 1)];
    const double _Complex b = table->high[turn >> table->shift];
    return __builtin_complex(__real__ a * __real__ b - __imag__ a * __imag__ b,
                             __real__ a * __imag__ b + __imag__ a * __real__ b);
}

/* Multiply n values with the roots of 0, j, 2 j, ..: blocks of them are one root times those of the first. */
static inline void _pm_${P}_turn(ptrdiff_t n, $REAL *restrict z, ptrdiff_t j, const _pm_${P}_table *table)
{
    enum { STEPS = 32 };
    $REAL re[STEPS], im[STEPS];
    for (int b = 0; b < STEPS; b++) {
        const double _Complex root = b < n ? _pm_${P}_root(table, j * b) : 0.0;
        re[b] = ($REAL)__real__ root;
        im[b] = ($REAL)__imag__ root;
    }
    for (ptrdiff_t k = 0; k < n; k += STEPS) {
        const double _Complex root = _pm_${P}_root(table, j * k);
        const $REAL u = ($REAL)__real__ root, v = ($REAL)__imag__ root;
        const int count = n - k < STEPS ? (int)(n - k) : STEPS;
        $REAL *const at = z + 2 * k;
        for (int b = 0; b < count; b++) {
            const $REAL c = u * re[b] - v * im[b], s = u * im[b] + v * re[b];
            const $REAL x = at[2 * b], y = at[2 * b + 1];
            at[2 * b] = x * c - y * s;
            at[2 * b + 1] = x * s + y * c;
        }
    }
}

/* One axis as `rows` rows of `columns`. */
static int _pm_${P}_matrix(int sign, int rigour, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t is,
        ptrdiff_t os, const _pm_${P}_value *in, _pm_${P}_value *out, int team)
{
    const ptrdiff_t n = rows * columns, lines = _PM_${P}_LINES;
    const ptrdiff_t tall = _pm_${P}_pitch(rows), wide = _pm_${P}_pitch(columns);
    const ptrdiff_t room = 2 * lines * (tall > wide ? tall : wide), elements = (rows + lines) * wide;
    _pm_${P}_table table = {NULL, NULL, 0};
    while ((ptrdiff_t)1 << 2 * table.shift < n)
        table.shift++;
    const ptrdiff_t fine = (ptrdiff_t)1 << table.shift, coarse = (n >> table.shift) + 1;
    const size_t roots = ((size_t)(fine + coarse) * sizeof(double _Complex) + 63) / 64 * 64;
    char *const memory = _pm_workspace_take(roots + (size_t)(elements + room * team) * sizeof *out);
    if (memory == NULL)
        return 0;
    double _Complex *const low = (void *)memory, *const high = low + fine;
    _pm_${P}_value *const matrix = (void *)(memory + roots), *const buffers = matrix + elements;
    table.low = low;
    table.high = high;
    _pm_${P}_plan *down = _pm_${P}_lines(rows, sign, rigour, buffers, tall, buffers + room / 2, tall);
    _pm_${P}_plan *across = _pm_${P}_lines(columns, sign, rigour, matrix, wide, buffers, wide);
    const int made = down != NULL && across != NULL;
    memset(matrix + rows * wide, 0, (size_t)(lines * wide + room * team) * sizeof *out);
#pragma omp parallel num_threads(team) if(team > 1)
    {
        _pm_${P}_value *const work = buffers + omp_get_thread_num() * room, *const done = work + room / 2;
        _pm_${P}_roots(n, sign, 1, fine, low);
        _pm_${P}_roots(n, sign, fine, coarse, high);
#pragma omp for schedule(static)
        for (ptrdiff_t j = 0; j < (made ? columns : 0); j += lines) {
            const ptrdiff_t count = columns - j < lines ? columns - j : lines;
            _pm_${P}_gather(rows, count, in + j * is, columns * is, is, work, tall);
            _pm_${P}_run(down, work, done);
            for (ptrdiff_t c = 0; c < count; c++)
                _pm_${P}_turn(rows, ($REAL *)(done + c * tall), j + c, &table);
            _pm_${P}_scatter(rows, count, done, tall, matrix + j, wide, 1);
        }
#pragma omp for schedule(static)
        for (ptrdiff_t k = 0; k < (made ? rows : 0); k += lines) {
            const ptrdiff_t count = rows - k < lines ? rows - k : lines;
            _pm_${P}_run(across, matrix + k * wide, work);
            _pm_${P}_scatter(columns, count, work, wide, out + k * os, rows * os, os);
        }
    }
    _pm_${P}_done(down);
    _pm_${P}_done(across);
    _pm_workspace_give(memory);
    return made;
}

static int _pm_${P}_line(int sign, int rigour, ptrdiff_t n, ptrdiff_t is, ptrdiff_t os,
        const _pm_${P}_value *in, _pm_${P}_value *out, int team)
{
    ptrdiff_t rows = (ptrdiff_t)sqrt((double)n);
    while (rows >= $SHORTEST && n % rows != 0)
        rows--;
    return rows >= $SHORTEST && _pm_${P}_matrix(sign, rigour, rows, n / rows, is, os, in, out, team);
}

"""
