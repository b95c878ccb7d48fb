"""The price of register blocks in generated C: the formulas that Python evaluates, printed."""

from __future__ import annotations

from polymat.codegen.products.ways import WAYS_TEXT, returned, statements, way_name
from polymat.product.asked import KNOWN, place
from polymat.product.prices import price
from polymat.product.ways import Way

_FLAGS = ", ".join(f"_PM_IS_{name.upper()} = {1 << (number + 2)}" for number, name in enumerate(KNOWN))
_READ = "\n".join(f"    asked.{name} = (facts & _PM_IS_{name.upper()}) != 0;" for name in KNOWN)
_PRICES = {way: price(way) for way in Way if way is not Way.UNROLLED}
_CASES = "\n".join(f"    case {way_name(way)}:\n{returned(formula, 8)}" for way, formula in _PRICES.items())

BLOCKS_HELPER = f"""\
{WAYS_TEXT}
#ifndef _PM_BLOCKS
#define _PM_BLOCKS
/* What is known of a product, as one number: its triangle, of A (1), B (2), or the result (3), and: */
enum {{ {_FLAGS} }};

/* A product of so many rows, columns and so much depth, and how many segments each has. */
static _pm_asked _pm_extents(double m, double n, double k, double row_segments, double column_segments,
        double depth_segments)
{{
    _pm_asked asked = {{0}};
    asked.m = m > 1.0 ? m : 1.0;
    asked.n = n > 1.0 ? n : 1.0;
    asked.k = k > 1.0 ? k : 1.0;
    asked.row_segments = row_segments > 1.0 ? row_segments : 1.0;
    asked.column_segments = column_segments > 1.0 ? column_segments : 1.0;
    asked.depth_segments = depth_segments > 1.0 ? depth_segments : 1.0;
    return asked;
}}

/* The same with the elements between neighbours in A and B, and what else is known. */
static _pm_asked _pm_lying(_pm_asked asked, long long a_row, long long a_step, long long b_step,
        long long b_column, int facts)
{{
    asked.left_power = _pm_power(a_step);
    asked.right_power = _pm_power(b_step);
    asked.along = a_step == 1;
    asked.rowwise = a_row == 1;
    asked.in_order = b_column == 1;
    asked.down = b_step == 1;
    asked.{place.name} = facts & 3;
{_READ}
    return asked;
}}

/* The same for register blocks of rows x (vectors x lanes), with blocks of so much depth and so many columns
   for the caches; small: elements that the second level holds; turned_depth: the most of turned blocks. */
static _pm_asked _pm_in_blocks(_pm_asked asked, double rows, double vectors, double lanes, double kc,
        double nc, double small, double turned_depth)
{{
    asked.rows = rows;
    asked.vectors = vectors;
    asked.lanes = lanes;
    asked.kc = kc;
    asked.nc = nc;
    asked.small = small;
    asked.turned_depth = turned_depth;
    return asked;
}}

/* Operations at the peak that take as long as a product in the way that it takes. */
static double _pm_price(const _pm_asked *asked)
{{
{statements([*_PRICES.values()])}
    switch (_pm_way(asked)) {{
{_CASES}
    default:
        return 0.0; /* straight code, which is not asked for */
    }}
}}

static double _pm_blocks_operations(_pm_asked asked)
{{
    return _pm_price(&asked);
}}
#endif
"""
