/* A product of matrices: C = scale * A * B + beta * From. */
#pragma once

#include "products/finish.h"
#include "products/half.h"

/* C = scale * A * B + beta * From (no From: NULL); elements of a row of C and of From are contiguous.
   m, n, k: extents of a segment; row_count, column_count, depth_count: segments; rows, columns, depths: their
   offsets, for each segment of rows those in A, C and From, of columns in B, C and From, of depth in A and B.
   kc, mc, nc: blocks for the caches; small: the elements that the second-level cache holds.
   large: whether the whole result is so large that it is written past the caches.
   half: a triangle, where there is one segment of each; scratch: 2 * kc * nc elements, less where the
   matrices are smaller.
   finish, around: who is called with complete parts of the result (NULL: nobody), and what it is handed.
   end: what is made of the result in registers (NULL: nothing); then nobody is called.
   left_rows, left_each: offsets of segments of rows in A alone, where rows are of one segment elsewhere, and
   how many each has (NULL: they are of the same segments). */
typedef struct {
    ptrdiff_t m, n, k, row_count;
    const ptrdiff_t *rows;
    ptrdiff_t column_count;
    const ptrdiff_t *columns;
    ptrdiff_t depth_count;
    const ptrdiff_t *depths;
    T scale;
    const T *a;
    ptrdiff_t a_row, a_step;
    const T *b;
    ptrdiff_t b_step, b_column;
    T beta;
    const T *from;
    ptrdiff_t from_row;
    T *c;
    ptrdiff_t c_row, kc, mc, nc, small;
    int large;
    NAME(half) half;
    T *scratch;
    NAME(finish) finish;
    void *const *around;
    const void *end;
    const ptrdiff_t *left_rows;
    ptrdiff_t left_each;
} NAME(product);
