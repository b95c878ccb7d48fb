/* Who is called with complete parts of a result. */
#pragma once

#include "products/family.h"

/* What is called with a complete part of the result: rows i..i_end - 1 of a segment of rows, and columns
   j..j_end - 1 of one of columns. */
typedef void (*NAME(finish))(void *const *around, ptrdiff_t row_segment, ptrdiff_t i, ptrdiff_t i_end,
        ptrdiff_t column_segment, ptrdiff_t j, ptrdiff_t j_end);

static const ptrdiff_t NAME(origin)[3] __attribute__((unused)) = {0, 0, 0};
