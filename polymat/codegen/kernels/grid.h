/* How pieces of a product are laid out in a grid over two ranges, as `polymat.product.shares` has it.

   takes COPIED=24.0   points in the time of copying one of a row or a column beside them
   takes GAIN=0.97     of what the largest piece of one range takes, what that of a grid has to take less than
   takes LEAST_GRID=4  pieces from which on there may be a grid
   takes CUT_WITHIN=const double cut = before + first + last + length + unit + part + parts  declares `cut`, by formulas
*/
#pragma once

#include <math.h>
#include <stddef.h>

enum { _PM_LEAST_GRID = LEAST_GRID };

/* A range: its length, of how many points there are whole ones in a piece, and rows or columns that each of
   them stands for. */
typedef struct {
    ptrdiff_t length, unit;
    double each;
} _pm_side;

/* Rows or columns of the longest of some pieces. */
static inline double _pm_side_longest(_pm_side side, ptrdiff_t pieces)
{
    const ptrdiff_t units = (side.length + side.unit - 1) / side.unit;
    return (double)((units + pieces - 1) / pieces * side.unit) * side.each;
}

/* What the largest of `rows` by `columns` pieces takes. */
static inline double _pm_grid_largest(_pm_side down, ptrdiff_t rows, _pm_side across, ptrdiff_t columns)
{
    const double high = _pm_side_longest(down, rows), wide = _pm_side_longest(across, columns);
    return high * wide + COPIED * (high + wide);
}

/* How many of some pieces lie along the first range; the same number along the other one. */
static inline ptrdiff_t _pm_grid_down(ptrdiff_t pieces, ptrdiff_t length, ptrdiff_t unit, double each,
        ptrdiff_t other_length, ptrdiff_t other_unit, double other_each)
{
    const _pm_side down = {length, unit, each}, across = {other_length, other_unit, other_each};
    if (pieces < _PM_LEAST_GRID || length <= 0 || other_length <= 0)
        return pieces;
    double least = _pm_grid_largest(down, pieces, across, 1);
    const double usual = least;
    ptrdiff_t best = pieces;
    for (ptrdiff_t rows = pieces - 1; rows >= 1; rows--) {
        if (pieces % rows != 0)
            continue;
        const double largest = _pm_grid_largest(down, rows, across, pieces / rows);
        if (largest < least) {
            least = largest;
            best = rows;
        }
    }
    return least < GAIN * usual ? best : pieces;
}

/* Where a part of the columns begins that rows first..last - 1 of a triangle of the result have: equal numbers
   of points, before the diagonal or from there on. */
static inline ptrdiff_t _pm_grid_within(int before, double first, double last, double length, double unit,
        double part, double parts)
{
    CUT_WITHIN;
    return (ptrdiff_t)cut;
}
