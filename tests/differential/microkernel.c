void NAME(ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_depth, const T *b, ptrdiff_t b_depth,
        ptrdiff_t b_column, T *c, ptrdiff_t c_row, ptrdiff_t c_column)
{
    if (depth < 1 || depth % WHOLE)
        __builtin_trap();
    for (ptrdiff_t row = 0; row < ROWS; row++)
        for (ptrdiff_t column = 0; column < COLUMNS; column++)
            for (ptrdiff_t k = 0; k < depth; k++)
                c[row * c_row + column * c_column] += a[row * a_row + k * a_depth] * b[k * b_depth + column * b_column];
}
