/* The ways in which a product is computed, and what is asked of it to choose one.

   takes WAYS=_PM_WAY_UNROLLED, _PM_WAY_LANES_OVER_DEPTH, _PM_WAY_FEW_ROWS, _PM_WAY_FEW_COLUMNS, _PM_WAY_RESULT_TRANSPOSED, _PM_WAY_COPIED_NEAR, _PM_WAY_SMALL, _PM_WAY_LANES_OVER_SEGMENTS, _PM_WAY_RIGHT_IN_PARTS, _PM_WAY_BLOCKED, _PM_WAY_ROW, _PM_WAY_COLUMN, _PM_WAY_DIRECT  their names */
#pragma once

/* The ways in which a product is computed. */
enum { WAYS };

/* What is asked of a product: extents of a segment and how many there are, how operands lie in memory, what
   else is known of it, and the blocks of the machine. */
typedef struct {
    double m, n, k, row_segments, column_segments, depth_segments, left_power, right_power;
    double rows, vectors, lanes, kc, nc, small, turned_depth;
    int place, along, rowwise, in_order, down, mirrored, slides, runs, handed, ended, added, started, past;
} _pm_asked;

/* The largest power of two that divides a step. */
static inline double _pm_power(long long step)
{
    return step == 0 ? 1.0 : (double)(step & -step);
}

/* Tests ask which ways were taken, and may do so without multiplying, where _PM_TRACE is 1.  The products of
   all threads are counted by their ways; other programs have nothing of this. */
#ifdef _PM_TRACE
static int _pm_taken, _pm_packed_left, _pm_packed_right;
__attribute__((weak, visibility("default"))) int _pm_ways_taken[_PM_WAY_DIRECT + 1];
#define _PM_COUNTS(way) \
    _pm_taken = _PM_WAY_##way; \
    (void)__atomic_fetch_add(&_pm_ways_taken[_PM_WAY_##way], 1, __ATOMIC_RELAXED)
#define _PM_TAKES(way) \
    _PM_COUNTS(way); \
    if (_PM_TRACE) \
    return
#define _PM_PACKS(left, right) \
    _pm_packed_left = left, _pm_packed_right = right; \
    if (_PM_TRACE) \
    return
#else
#define _PM_COUNTS(way) (void)0
#define _PM_TAKES(way) (void)0
#define _PM_PACKS(left, right) (void)0
#endif
