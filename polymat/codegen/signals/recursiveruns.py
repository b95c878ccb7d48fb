"""The C text of recursive filters: runs of one channel side by side, and what was before each of them."""

from __future__ import annotations

RUNS = """\
/* Whether neighbouring results are rather alike (1) or of opposite sign (-1): where the poles are. */
static inline $T _pm_rec_turn_$N(const $T *c)
{
    return c[$NC - $NB] <= 0 ? 1 : -1;
}

/* The first `run` results that each past result alone has in a section, and the largest state that they are
   used for.  All follow from those of 1 among zeros, which are computed in a wider type: an error here is the
   same in every run. */
static $T _pm_rec_table_$N(ptrdiff_t run, const $T *c, $T *table)
{
    static const int offsets[] = {$offsets};
    $WIDE pulse[$R + 2 * $D] = {0}, largest = 1;
    $WIDE *const now = pulse + $D;
    const $T turn = _pm_rec_turn_$N(c);
    now[0] = 1;
    for (ptrdiff_t n = 0; n < run; n++) {
        $WIDE next = 0, sum = 0;
        for (int i = $P - 1; i >= 0; i--) {
            $WIDE value = 0;
            for (int k = 0; k < $NB; k++)
                if (offsets[k] > i)
                    value -= ($WIDE)c[$NC - $NB + k] * now[n - offsets[k] + i + 1];
            sum = value + turn * sum;
            table[n * $P + i] = ($T)(i == 0 ? sum : -turn * sum);
            const $WIDE size = value < 0 ? -value : value;
            largest = size <= largest ? largest : size;
        }
        for (int k = $NB - 1; k >= 0; k--)
            next -= ($WIDE)c[$NC - $NB + k] * now[n + 1 - offsets[k]];
        now[n + 1] = next;
    }
    return ($T)($LIMIT / (2 * $P * $P * largest));
}

/* All sections over runs of one channel side by side; 0 where they have to go sample by sample.
   most: the largest state of each section.  states: $D vectors for every section, what was before. */
static int _pm_rec_runs_$N(ptrdiff_t run, ptrdiff_t sections, const $T *c, const $T *tables, const $T *most,
        $T *last, _pm_rec_vector_$N *states, $T *next, _pm_rec_vector_$N *block, const $T *x, const $T *y,
        ptrdiff_t beyond)
{
    const $T *const rows = (const $T *)(const void *)(block + run - 1);
    _pm_rec_vector_$N none[$D], entering[$D];
    for (int k = 0; k < $D; k++) {
        none[k] = (_pm_rec_vector_$N){0};
        for (int lane = 0; lane < $L; lane++)
            entering[k][lane] = lane == 0 ? last[k] : rows[lane - 1 - k * $L];
        next[k] = rows[$L - 1 - k * $L];
    }
    for (ptrdiff_t s = 0; s < sections; s++) {
        const $T *const table = tables + s * $R * $P, *const own = c + s * $NC;
        _pm_rec_vector_$N *const mine = states + s * $D, *const parts = states + sections * $D + s * $P;
        _pm_rec_fetch_$N((uintptr_t)x, beyond, s, sections, 0);
        _pm_rec_fetch_$N((uintptr_t)y, beyond, s, sections, 1);
        if (s == 0)
            _pm_rec_plain_$N(run, own, entering, none, block);
        else
            _pm_rec_corrected_$N(run, own, table - $R * $P, parts - $P, mine - $D, none, block);
        const $T turn = _pm_rec_turn_$N(own);
        $T old[$D];
        int fits = 1;
        for (int k = 0; k < $D; k++)
            old[k] = last[(s + 1) * $D + k];
        for (int lane = 0; lane < $L; lane++) {
            $T now[$D];
            const $T part[] = $parts;
#pragma GCC unroll $P
            for (int k = 0; k < $P; k++)
                ((($T *)(void *)(parts + k)))[lane] = part[k];
#pragma GCC unroll $D
            for (int k = 0; k < $D; k++) {
                const $T *const h = table + (run - 1 - k) * $P;
                ((($T *)(void *)(mine + k)))[lane] = old[k];
                now[k] = rows[lane - k * $L]$carried;
            }
#pragma GCC unroll $D
            for (int k = 0; k < $D; k++) {
                old[k] = now[k];
                fits &= now[k] <= most[s] && now[k] >= -most[s];
            }
        }
        if (!fits)
            return 0;
        for (int k = 0; k < $D; k++)
            next[(s + 1) * $D + k] = old[k];
    }
    for (ptrdiff_t k = 0; k < (sections + 1) * $D; k++)
        last[k] = next[k];
    return 1;
}

/* One channel. */
static void _pm_rec_channel_$N(ptrdiff_t first, ptrdiff_t count, ptrdiff_t sections, const $T *c,
        const $T *start, int is_given, const $T *x, ptrdiff_t x_step, $T *y, ptrdiff_t y_step, $T *last,
        int is_tabled, $T *work)
{
    $T *const tables = work, *const states = tables + sections * $R * $P;
    $T *const most = states + sections * ($D + $P) * $L, *const next = most + sections;
    $T *const block = states + 2 * sections * ($D + $P) * $L + (4 * $D + 4) * $L;
    int whole = is_tabled;
    ptrdiff_t n = first;
    while (n < count) {
        const ptrdiff_t rest = count - n, share = rest / $L / 8 * 8, run = share < $R ? share : $R;
        if (whole && n > 0 && run >= $LEAST) {
            _pm_rec_load_$N(run, x + n * x_step, run * x_step, x_step, block);
            whole = _pm_rec_runs_$N(run, sections, c, tables, most, last,
                    (_pm_rec_vector_$N *)(void *)states, next, (_pm_rec_vector_$N *)(void *)block,
                    x + (n + run * $L) * x_step, y + (n + run * $L) * y_step,
                    x_step == 1 ? run * $L * (ptrdiff_t)sizeof($T) : 0);
            if (whole) {
                const _pm_rec_vector_$N *const parts = (const _pm_rec_vector_$N *)(const void *)states
                        + sections * $D + (sections - 1) * $P;
                _pm_rec_store_$N(run, block, tables + (sections - 1) * $R * $P, parts, y + n * y_step,
                        run * y_step, y_step);
                n += run * $L;
                continue;
            }
        }
        const ptrdiff_t most_now = n == 0 && whole ? $D : $R * $L, some = rest < most_now ? rest : most_now;
        for (ptrdiff_t k = 0; k < some; k++)
            block[k] = x[(n + k) * x_step];
        _pm_rec_sections_$N(some, sections, c, n == 0 ? start : NULL, is_given, last, block);
        for (ptrdiff_t k = 0; k < some; k++)
            y[(n + k) * y_step] = block[k];
        n += some;
    }
}

"""
