/* The price of a product by register blocks: the formulas that Python evaluates, printed.

   takes KNOWN=_PM_IS_PAST = 4  bits of what is known of a product
   takes READ=asked.past = (facts & _PM_IS_PAST) != 0  statements that take them apart
   takes PRICES=case _PM_WAY_BLOCKED: return asked->m * asked->n * asked->k  the price in each way */
#pragma once

#include "products/blocks.h"
#include "products/ways.h"

/* What is known of a product, as one number: its triangle, of A (1), B (2), or the result (3), and: */
enum { KNOWN };

/* A product of so many rows, columns and so much depth, and how many segments each has. */
static _pm_asked _pm_extents(double m, double n, double k, double row_segments, double column_segments,
        double depth_segments)
{
    _pm_asked asked = {0};
    asked.m = m > 1.0 ? m : 1.0;
    asked.n = n > 1.0 ? n : 1.0;
    asked.k = k > 1.0 ? k : 1.0;
    asked.row_segments = row_segments > 1.0 ? row_segments : 1.0;
    asked.column_segments = column_segments > 1.0 ? column_segments : 1.0;
    asked.depth_segments = depth_segments > 1.0 ? depth_segments : 1.0;
    return asked;
}

/* The same with the elements between neighbours in A and B, and what else is known. */
static _pm_asked _pm_lying(_pm_asked asked, long long a_row, long long a_step, long long b_step,
        long long b_column, int facts)
{
    asked.left_power = _pm_power(a_step);
    asked.right_power = _pm_power(b_step);
    asked.along = a_step == 1;
    asked.rowwise = a_row == 1;
    asked.in_order = b_column == 1;
    asked.down = b_step == 1;
    asked.place = facts & 3;
    READ;
    return asked;
}

/* The same for register blocks of rows x (vectors x lanes), with blocks of so much depth and so many columns
   for the caches; small: elements that the second level holds; turned_depth: the most of turned blocks. */
static _pm_asked _pm_in_blocks(_pm_asked asked, double rows, double vectors, double lanes, double kc,
        double nc, double small, double turned_depth)
{
    asked.rows = rows;
    asked.vectors = vectors;
    asked.lanes = lanes;
    asked.kc = kc;
    asked.nc = nc;
    asked.small = small;
    asked.turned_depth = turned_depth;
    return asked;
}

/* Operations at the peak that take as long as a product in the way that it takes. */
static double _pm_price(const _pm_asked *asked)
{
    switch (_pm_way(asked)) {
        PRICES;
    default:
        return 0.0; /* straight code, which is not asked for */
    }
}

static double _pm_blocks_operations(_pm_asked asked)
{
    return _pm_price(&asked);
}
