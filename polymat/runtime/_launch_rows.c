/* Arithmetic of rows; whatever leaves ptrdiff_t is refused. */
#include "_launch.h"

static ptrdiff_t floor_divide(ptrdiff_t value, ptrdiff_t positive)
{
    ptrdiff_t quotient = value / positive;
    return value % positive < 0 ? quotient - 1 : quotient;
}

static Status numerator(const Row *row, const ptrdiff_t *symbols, ptrdiff_t *value)
{
    ptrdiff_t sum = row->constant;
    for (Py_ssize_t t = 0; t < row->n_terms; t++) {
        ptrdiff_t product;
        if (__builtin_mul_overflow(row->terms[t].coefficient, symbols[row->terms[t].symbol], &product)
            || __builtin_add_overflow(sum, product, &sum))
            return REFUSED;
    }
    *value = sum;
    return DONE;
}

Status row_value(const Row *row, const ptrdiff_t *symbols, ptrdiff_t *value)
{
    if (row->plain >= 0) {
        *value = symbols[row->plain];
        return DONE;
    }
    Status status = numerator(row, symbols, value);
    if (status == DONE && row->divisor != 1)
        *value = floor_divide(*value, row->divisor);
    return status;
}

/* The least size (for a negative coefficient: the greatest) whose row is not below `extent`.  Whether the row
   is then `extent` is found when all extents are checked. */
Status size_from_extent(const SizeSpec *size, const ptrdiff_t *symbols, ptrdiff_t extent, ptrdiff_t *value)
{
    ptrdiff_t rest, low, negated;
    if (numerator(&size->rest, symbols, &rest) != DONE
        || __builtin_mul_overflow(extent, size->rest.divisor, &low) || __builtin_sub_overflow(low, rest, &low)
        || __builtin_sub_overflow((ptrdiff_t)0, low, &negated))
        return REFUSED;
    if (size->coefficient > 0)
        *value = -floor_divide(negated, size->coefficient);
    else
        *value = floor_divide(negated, -size->coefficient);
    return DONE;
}
