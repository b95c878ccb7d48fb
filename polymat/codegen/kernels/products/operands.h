/* What register blocks read and write. */
#pragma once

#include "products/family.h"

/* A part of an operand, with the steps from row to row and along the depth. */
typedef struct {
    const T *first;
    ptrdiff_t row, step;
} NAME(operand);

/* Rows i..i + rows - 1 and columns j..j + columns - 1 of a result. */
typedef struct {
    ptrdiff_t i, rows, j, columns;
} NAME(area);

/* A part of C and of From, which is added to it (NULL: nothing), and of each the step from row to row; what
   becomes of the result in registers. */
typedef struct {
    const T *from;
    ptrdiff_t from_row;
    T *c;
    ptrdiff_t c_row;
#if ENDS
    const NAME(end) *end;
#endif
} NAME(result);

static inline NAME(result)
        NAME(result_of)(const T *from, ptrdiff_t from_row, T *c, ptrdiff_t c_row END(const NAME(end) *end))
{
    const NAME(result) result = {from, from_row, c, c_row END(end)};
    return result;
}

/* What of it begins at a row and a column. */
static inline NAME(result) NAME(result_at)(const NAME(result) *result, ptrdiff_t i, ptrdiff_t j)
{
    NAME(result) part = *result;
    part.from = result->from == NULL ? NULL : result->from + i * result->from_row + j;
    part.c = result->c + i * result->c_row + j;
    return part;
}

/* What is there already, to be added to. */
static inline NAME(result) NAME(result_added)(const NAME(result) *result)
{
    NAME(result) added = *result;
    added.from = result->c;
    added.from_row = result->c_row;
    return added;
}

/* The same, of which nothing else becomes anything. */
static inline NAME(result) NAME(unended)(const NAME(result) *result)
{
    return NAME(result_of)(result->from, result->from_row, result->c, result->c_row END(NULL));
}
