"""Register blocks of filters: the C function that filters a row of samples tap by tap.

`filter_text` gives the C function `_pm_filter_f64` or `_pm_filter_f32`:

    y[i] = from[i] + scale * sum over k of h[k * h_step] * x[down * i + k]

Neighbouring results need the same samples shifted by one, and loads that are not aligned cross cache lines.
So the lanes of a vector are results far apart: each lane has a run of results of its own, whose samples are
transposed into a table in the first-level cache, one vector for every position in the runs.  Then all loads
are aligned, and a vector of samples that is loaded once serves as many results of a register block as there
are taps in a step.  Of a signal of which every d-th result is kept, the samples d apart lie together in the
table (its phases), so that neighbouring results share their samples there as well.

With zeros between the samples (an interpolation by u), which are left out, every u-th result has the same
taps: the results of one position in a run are u vectors, computed from the same table.

The last run of a row begins where all of it is inside the row; what it has in common with the run before is
computed twice, to the same values.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.signals.complexfilters import COMPLEX_FILTER
from polymat.codegen.signals.octets import octets_text
from polymat.errors import InternalError
from polymat.machine.model import Machine

MOST_KINDS = 64  # of results that take their taps from different phases: the factor of an interpolation
LEAST = 8  # results of a row: a register block and its transposition need as many


@dataclass(frozen=True, slots=True)
class FilterShape:
    """A register block of `rows` vectors of `lanes` results, `taps` taps a step.

    suffix: "f32" or "f64".
    """

    suffix: str
    lanes: int
    rows: int
    taps: int

    @property
    def need(self) -> str:
        """The name under which the prelude knows it."""
        return f"filter_{self.suffix}_{self.lanes}x{self.rows}x{self.taps}"

    @staticmethod
    def parse(need: str) -> FilterShape:
        """The shape that has this name in the prelude."""
        kind, suffix, numbers = need.split("_")
        if kind != "filter" or suffix not in C_TYPES:
            raise InternalError(f"bug in polymat: {need} is no register block of filters")
        lanes, rows, taps = (int(number) for number in numbers.split("x"))
        return FilterShape(suffix, lanes, rows, taps)


def filter_shape(machine: Machine, suffix: str, element_bytes: int) -> FilterShape:
    """The block for a machine: half of the registers accumulate, the rest holds taps and samples.

    Vectors have at least eight lanes, since transpositions work on eight; shorter registers come in pairs.
    """
    lanes = max(8, machine.lanes(element_bytes))
    registers = machine.vector_registers * machine.lanes(element_bytes) // lanes
    return FilterShape(suffix, lanes, max(2, min(16, registers // 2)), 4 if registers >= 16 else 2)


def filter_text(need: str) -> str:
    """The C text behind a need of the prelude."""
    shape = FilterShape.parse(need)
    sizes = [shape.rows] if shape.rows <= LEAST else [shape.rows, LEAST]
    blocks = "\n".join(_block(shape, rows) for rows in sizes)
    rest = _run(shape, LEAST) if shape.rows > LEAST else ""
    octets = octets_text(C_TYPES[shape.suffix], shape.suffix)
    return octets + Template(_TEXT + COMPLEX_FILTER).substitute(
        S=shape.suffix,
        T=C_TYPES[shape.suffix],
        L=shape.lanes,
        M=MOST_KINDS,
        blocks=blocks,
        runs=f"{_run(shape, shape.rows)}{rest}",
    )


def _run(shape: FilterShape, rows: int) -> str:
    """The loop over register blocks of a height."""
    s, lanes = shape.suffix, shape.lanes
    return f"""\
            for (; row + {rows} <= run; row += {rows}) {{
                _pm_filter_block_{s}_{rows}(down, begins[kind], counts[kind], depth, kind_taps,
                        table + row * {lanes}, results + (row * up + kind) * {lanes}, up);
                if (kind == 0) {{
                    const ptrdiff_t here = first + row * {lanes}, beyond = here + {lanes} * run;
                    _pm_filter_fetch_{s}(x, beyond * down, {rows} * {lanes} * down, 0);
                    _pm_filter_fetch_{s}(y, here * up, {rows} * {lanes} * up, 1);
                }}
            }}
"""


def _block(shape: FilterShape, rows: int) -> str:
    """One block: its results at consecutive positions of all runs."""
    s, t, step = shape.suffix, C_TYPES[shape.suffix], shape.taps
    sums = ", ".join(f"c{row} = {{0}}" for row in range(rows))
    one = "\n".join(f"            c{row} += h[0] * x[{row}];" for row in range(rows))
    store = "\n".join(f"    y[{row} * across] = c{row};" for row in range(rows))
    return f"""\
/* {rows} results of every run, `across` vectors apart: phase after phase, {step} taps a step.  The first tap
   meets sample `begin` of each run. */
static __attribute__((noinline)) void _pm_filter_block_{s}_{rows}(ptrdiff_t down, ptrdiff_t begin,
        ptrdiff_t count, ptrdiff_t depth, const {t} *h, const {t} *table, {t} *results, ptrdiff_t across)
{{
    _pm_lanes_{s} {sums};
    _pm_lanes_{s} *const y = (_pm_lanes_{s} *)(void *)results;
    const ptrdiff_t phases = down < count ? down : count;
    const ptrdiff_t each = down == 1 ? count : count / down;
    const ptrdiff_t more = count - each * down;
    ptrdiff_t place = down == 1 ? begin : begin / down, at = begin - place * down;
    for (ptrdiff_t phase = 0; phase < phases; phase++) {{
        const _pm_lanes_{s} *x = (const _pm_lanes_{s} *)(const void *)table + at * depth + place;
        ptrdiff_t left = each + (phase < more);
        if (++at == down) {{
            at = 0;
            place++;
        }}
#pragma GCC unroll 1
        for (; left >= {step}; left -= {step}) {{
{_step(shape, rows)}
            h += {step};
            x += {step};
        }}
#pragma GCC unroll 1
        for (; left > 0; left--) {{
{one}
            h++;
            x++;
        }}
    }}
{store}
}}
"""


def _step(shape: FilterShape, rows: int) -> str:
    """Add a step of taps to all results of a block; each vector of samples is loaded once."""
    taps = range(shape.taps)
    lines = [f"const {C_TYPES[shape.suffix]} {', '.join(f't{k} = h[{k}]' for k in taps)};"]
    for place in range(rows + shape.taps - 1):
        lines.append(f"const _pm_lanes_{shape.suffix} v{place} = x[{place}];")
        lines += [f"c{place - k} += t{k} * v{place};" for k in taps if 0 <= place - k < rows]
    return "\n".join(f"            {line}" for line in lines)


_TEXT = """\
/* Vectors of $L. */
typedef $T _pm_lanes_$S __attribute__((vector_size($L * sizeof($T)), may_alias));

$blocks
/* Have the lines of so many elements brought near while something else is computed; addresses may be any. */
static inline void _pm_filter_fetch_$S(const $T *array, ptrdiff_t from, ptrdiff_t count,
        const int write)
{
    const uintptr_t at = (uintptr_t)array + (uintptr_t)from * sizeof($T);
    for (uintptr_t line = 0; line < (uintptr_t)count * sizeof($T); line += 64)
        if (write)
            __builtin_prefetch((const void *)(at + line), 1, 2);
        else
            __builtin_prefetch((const void *)(at + line), 0, 2);
}

/* Positions of a run, odd times eight so that runs begin in different sets of a cache: the table of samples
   and the results stay near the first level with short filters, and long ones pay for their first samples. */
static inline ptrdiff_t _pm_filter_run_$S(ptrdiff_t span, ptrdiff_t up, ptrdiff_t down)
{
    const ptrdiff_t least = up > 2 || down > 2 ? 72 : 136, wanted = span / (8 * down) / 16 * 16 + 8;
    return wanted > least ? wanted : least;
}

/* Vectors of the table in each phase. */
static inline ptrdiff_t _pm_filter_depth_$S(ptrdiff_t run, ptrdiff_t span, ptrdiff_t down)
{
    return run + (span + down - 1) / down;
}

/* Bytes that a filter of so many taps needs: the taps, the table and the results. */
static inline double _pm_filter_bytes_$S(ptrdiff_t count, ptrdiff_t up, ptrdiff_t down)
{
    if (count <= 0)
        return 0.0;
    const ptrdiff_t span = (count + up - 1) / up + (up > 1 ? down : 0);
    const ptrdiff_t run = _pm_filter_run_$S(span, up, down);
    const double vectors = (double)_pm_filter_depth_$S(run, span, down) * (double)down + (double)(run * up);
    return ((double)count + $L + $L * vectors) * sizeof($T);
}

/* Transpose `count` samples of every run into the table. */
static void _pm_filter_pack_$S(ptrdiff_t count, const $T *x, const ptrdiff_t *at, ptrdiff_t down,
        ptrdiff_t depth, $T *table)
{
    ptrdiff_t m = 0, phase = 0, place = 0;
    for (; m + 8 <= count; m += 8) {
        $T *row[8];
        for (int line = 0; line < 8; line++) {
            row[line] = table + (phase * depth + place) * $L;
            if (++phase == down) {
                phase = 0;
                place++;
            }
        }
#pragma GCC unroll 2
        for (int lane = 0; lane < $L; lane += 8) {
            _pm_octet_$S r[8];
#pragma GCC unroll 8
            for (int line = 0; line < 8; line++)
                r[line] = *(const _pm_octet_memory_$S *)(const void *)(x + at[lane + line] + m);
            _pm_transpose_$S(r);
#pragma GCC unroll 8
            for (int line = 0; line < 8; line++)
                *(_pm_octet_$S *)(void *)(row[line] + lane) = r[line];
        }
    }
    for (; m < count; m++) {
        for (int lane = 0; lane < $L; lane++)
            table[(phase * depth + place) * $L + lane] = x[at[lane] + m];
        if (++phase == down) {
            phase = 0;
            place++;
        }
    }
}

/* Write `run` results of every run where they belong: y = scale * result, plus `from` where there is one. */
static void _pm_filter_unpack_$S(ptrdiff_t run, const $T *results, const ptrdiff_t *to, $T scale,
        const $T *from, $T *y)
{
    for (ptrdiff_t row = 0; row < run; row += 8)
#pragma GCC unroll 2
        for (int lane = 0; lane < $L; lane += 8) {
            _pm_octet_$S r[8];
#pragma GCC unroll 8
            for (int line = 0; line < 8; line++)
                r[line] = *(const _pm_octet_$S *)(const void *)(results + (row + line) * $L + lane) * scale;
            _pm_transpose_$S(r);
            if (from != NULL)
#pragma GCC unroll 8
                for (int line = 0; line < 8; line++)
                    r[line] += *(const _pm_octet_memory_$S *)(const void *)(from + to[lane + line] + row);
#pragma GCC unroll 8
            for (int line = 0; line < 8; line++)
                *(_pm_octet_memory_$S *)(void *)(y + to[lane + line] + row) = r[line];
        }
}

/* `up` kinds of results in turn: result up * q + kind is the sum over k < counts[kind] of
   taps[k] x[down * q + begins[kind] + k], for q < n; n >= 8.  The taps of all kinds follow each other,
   those of a kind phase by phase: k = 0, down, 2 down, ..., then 1, down + 1, ...
   span: no kind reaches beyond so many samples.  No `from` is NULL. */
static void _pm_filter_kinds_$S(ptrdiff_t n, ptrdiff_t up, const ptrdiff_t *counts, const ptrdiff_t *begins,
        ptrdiff_t span, ptrdiff_t down, const $T *taps, const $T *x, $T scale, const $T *from, $T *y,
        $T *scratch)
{
    const ptrdiff_t most = $L * _pm_filter_run_$S(span, up, down), tiles = (n + most - 1) / most;
    const ptrdiff_t run = ((n + tiles * $L - 1) / (tiles * $L) + 7) / 8 * 8;
    const ptrdiff_t depth = _pm_filter_depth_$S(run, span, down);
    $T *const table = scratch, *const results = table + depth * down * $L;
    for (ptrdiff_t first = 0; first < n; first += $L * run) {
        ptrdiff_t at[$L], to[$L];
        for (ptrdiff_t lane = 0; lane < $L; lane++) {
            const ptrdiff_t start = first + lane * run, begin = start < n - run ? start : n - run;
            to[lane] = begin * up;
            at[lane] = begin * down;
        }
        _pm_filter_pack_$S(down * (run - 1) + span, x, at, down, depth, table);
        const $T *kind_taps = taps;
        for (ptrdiff_t kind = 0; kind < up; kind++) {
            ptrdiff_t row = 0;
$runs\
            kind_taps += counts[kind];
        }
        _pm_filter_unpack_$S(run * up, results, to, scale, from, y);
    }
}

/* Copy taps h[0], h[h_step], ..., phase by phase. */
static $T *_pm_filter_taps_$S(ptrdiff_t count, ptrdiff_t down, const $T *h, ptrdiff_t h_step, $T *to)
{
    for (ptrdiff_t phase = 0; phase < down && phase < count; phase++)
        for (ptrdiff_t k = phase; k < count; k += down)
            *to++ = h[k * h_step];
    return to;
}

/* y[i] = from[i] + scale * sum over k < count of h[k * h_step] * x[down * i + k], for i < n; n >= 8. */
static inline void _pm_filter_$S(ptrdiff_t n, ptrdiff_t count, ptrdiff_t down, const $T *h, ptrdiff_t h_step,
        const $T *x, $T scale, const $T *from, $T *y, $T *scratch)
{
    const ptrdiff_t begin = 0;
    (void)_pm_filter_taps_$S(count, down, h, h_step, scratch);
    _pm_filter_kinds_$S(n, 1, &count, &begin, count, down, scratch, x, scale, from, y,
                        scratch + (count + $L - 1) / $L * $L);
}

/* y[i] = from[i] + scale * sum over k of h[p % up + up * k] * x[p / up - k], p = down * i + shift, for
   i < up * n, n >= 8, over all k for which there are such taps, `count` of them altogether; x has all that
   meet them, and up is at most $M. */
static inline void _pm_filter_up_$S(ptrdiff_t n, ptrdiff_t count, ptrdiff_t up, ptrdiff_t down,
        ptrdiff_t shift, const $T *h, const $T *x, $T scale, const $T *from, $T *y, $T *scratch)
{
    ptrdiff_t counts[$M], begins[$M];
    const ptrdiff_t oldest = shift / up - (count + up - 1) / up + 1;
    $T *taps = scratch;
    for (ptrdiff_t kind = 0; kind < up; kind++) {
        const ptrdiff_t place = shift + down * kind, phase = place % up, newest = place / up;
        counts[kind] = phase < count ? (count - phase + up - 1) / up : 0;
        begins[kind] = newest - counts[kind] + 1 - oldest;
        taps = _pm_filter_taps_$S(counts[kind], down, h + phase + up * (counts[kind] - 1), -up, taps);
    }
    const ptrdiff_t span = (shift + down * (up - 1)) / up + 1 - oldest;
    _pm_filter_kinds_$S(n, up, counts, begins, span, down, scratch, x + oldest, scale, from, y,
                        scratch + (count + $L - 1) / $L * $L);
}
"""
