"""Which operand of a product is read where it is: generated code asks with the conditions of the model."""

from __future__ import annotations

from polymat.product.inequality import in_c
from polymat.product.reading import BESIDE_COLUMNS, BESIDE_ROWS, DEEP, SPREAD, WAYS

WHICH_IS_READ = f"""\
/* The operand that is read where it is: 1 beside few columns, 2 beside few rows, 0: none.  m, n: all rows and
   columns; width: columns of a segment; k: depth; strips and panels of rows x columns, of vectors of `lanes`;
   kc: deepest block; small: elements of the second level; row_step, column_step: between neighbours along the
   depth of the operand that is read beside rows or columns. */
#ifndef _PM_READING
#define _PM_READING
static inline int _pm_reading(int beside_rows, int beside_columns, double m, double n, double width, double k,
    double strips, double panels, double rows, double columns, double lanes, double kc, double small,
    long long row_step, long long column_step)
{{
    beside_rows = beside_rows && {in_c(BESIDE_ROWS)};
    beside_columns = beside_columns && {in_c(BESIDE_COLUMNS)};
    if (!(beside_rows || beside_columns) || !({in_c(DEEP)}))
        return 0;
    /* Lines of the second level that share few sets of it push each other out. */
    const long long step = beside_rows ? row_step : column_step;
    const long long power = step & -step, way = (long long)(small / {WAYS}) / (power > 0 ? power : 1);
    const double sets = way < 1 ? 1 : (double)way;
    return {SPREAD} ? beside_rows ? 2 : 1 : 0;
}}
#endif
"""
