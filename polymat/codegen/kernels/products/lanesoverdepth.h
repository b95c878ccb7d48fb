/* Products with a few columns only, whose left operand is contiguous along its depth.

   Vectors of columns would be mostly empty; here the lanes of a vector are steps of depth.  Columns that are
   not contiguous are copied, a vector of A is loaded once for up to four of them, and lanes are added up at
   the end.  Measured (Zen 5, one thread, 300 x 4 x 300, float64): 0.8 of the time of OpenBLAS. */
#pragma once

#include "products/blocks.h"
#include "products/product.h"

enum { CONST(PART_OF_DEPTH) = 512, CONST(ROWS_OF_PART) = 32 };

/* What is done of each column, and of each row: written out, since sums in an array are kept in registers where
   a compiler knows their places before it looks for loops. */
#define EACH_COLUMN(does) \
    does(0); \
    if (n > 1) { \
        does(1); \
    } \
    if (n > 2) { \
        does(2); \
    } \
    if (n > 3) { \
        does(3); \
    }
#define EACH_ROW(does) \
    does(0); \
    if (rows > 1) { \
        does(1); \
        does(2); \
        does(3); \
    }

/* Loads are volatile, or gcc repeats them: it takes memory that nobody writes for as good as a register. */
static inline __attribute__((always_inline)) void NAME(over_depth_rows)(const int rows, const int n,
        ptrdiff_t k, T scale, const T *a, ptrdiff_t a_row, const T *columns, ptrdiff_t apart, T beta,
        const NAME(result) *to)
{
    const T *const from = to->from;
    T *const c = to->c;
    const ptrdiff_t from_row = to->from_row, c_row = to->c_row;
    NAME(vector) sums[4 * 4] = {{0}}, right[4], left;
    const ptrdiff_t whole = k / LANES * LANES;
#define LOAD(j) right[j] = *(const volatile NAME(memory) *)(columns + (j) * apart + p)
#define ADD(j) sums[4 * (j) + row] += left * right[j]
#define ADD_ROW(r) \
    { \
        enum { row = r }; \
        left = *(const volatile NAME(memory) *)(a + row * a_row + p); \
        EACH_COLUMN(ADD) \
    }
    for (ptrdiff_t p = 0; p < whole; p += LANES) {
        EACH_COLUMN(LOAD)
        EACH_ROW(ADD_ROW)
    }
#undef LOAD
#undef ADD_ROW
#define LOAD(j) right[j] = NAME(load)(columns + (j) * apart + whole, mask)
#define ADD_ROW(r) \
    { \
        enum { row = r }; \
        left = NAME(load)(a + row * a_row + whole, mask); \
        EACH_COLUMN(ADD) \
    }
    if (whole < k) {
        const NAME(mask) mask = MASK(k - whole);
        EACH_COLUMN(LOAD)
        EACH_ROW(ADD_ROW)
    }
#undef LOAD
#undef ADD
#undef ADD_ROW
    T totals[4 * 4];
#define TOTAL(j) \
    NAME(row_sums)(sums[4 * (j)], sums[4 * (j) + 1], sums[4 * (j) + 2], sums[4 * (j) + 3], totals + 4 * (j))
#define STORE(j) \
    { \
        const T sum = scale * totals[4 * (j) + row]; \
        c[row * c_row + (j)] = from == NULL ? sum : sum + beta * from[row * from_row + (j)]; \
    }
#define STORE_ROW(r) \
    { \
        enum { row = r }; \
        EACH_COLUMN(STORE) \
    }
    EACH_COLUMN(TOTAL)
    EACH_ROW(STORE_ROW)
#undef TOTAL
#undef STORE
#undef STORE_ROW
}
#undef EACH_COLUMN
#undef EACH_ROW

/* A part of the depth of so many columns, for all rows. */
#define PART(count, name) \
    static void name(ptrdiff_t m, ptrdiff_t k, T scale, const T *a, ptrdiff_t a_row, const T *columns, \
            ptrdiff_t apart, T beta, const NAME(result) *to) \
    { \
        ptrdiff_t i = 0; \
        for (; i + 4 <= m; i += 4) { \
            const NAME(result) part = NAME(result_at)(to, i, 0); \
            NAME(over_depth_rows)(4, count, k, scale, a + i * a_row, a_row, columns, apart, beta, &part); \
        } \
        for (; i < m; i++) { \
            const NAME(result) part = NAME(result_at)(to, i, 0); \
            NAME(over_depth_rows)(1, count, k, scale, a + i * a_row, a_row, columns, apart, beta, &part); \
        } \
    }
PART(1, NAME(over_depth_1))
PART(2, NAME(over_depth_2))
PART(3, NAME(over_depth_3))
PART(4, NAME(over_depth_4))
#undef PART

static void (*const NAME(over_depth_parts)[])(ptrdiff_t, ptrdiff_t, T, const T *, ptrdiff_t, const T *,
        ptrdiff_t, T, const NAME(result) *) = {NAME(over_depth_1), NAME(over_depth_2), NAME(over_depth_3),
        NAME(over_depth_4)};

/* Contiguous columns are read where they are, so that few rows pay as well.  Of more than four columns, rows
   that the first level holds are read again for the next ones. */
_PM_SHARED __attribute__((noinline)) void NAME(lanes_over_depth)(const NAME(product) *all)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k, a_row = all->a_row, b_step = all->b_step,
                    b_column = all->b_column, c_row = all->c_row;
    const T scale = all->scale;
    const T *const a = all->a;
    const T *const b = all->b;
    T *const c = all->c;
    T beta = all->beta;
    const T *from = all->from;
    ptrdiff_t from_row = all->from_row;
    const int stays = b_step == 1;
    const ptrdiff_t most = stays && n == 1 ? 8 * CONST(PART_OF_DEPTH) : CONST(PART_OF_DEPTH);
    const ptrdiff_t height = n > 4 ? CONST(ROWS_OF_PART) : m, apart = stays ? b_column : CONST(PART_OF_DEPTH);
    _Alignas(64) T copy[CONST(OVER_DEPTH) * CONST(PART_OF_DEPTH)];
    for (ptrdiff_t p = 0; p < k; p += most) {
        const ptrdiff_t depth = k - p < most ? k - p : most;
        const T *const columns = stays ? b + p : copy;
        for (ptrdiff_t j = 0; j < n && !stays; j++)
#pragma GCC unroll 8
            for (ptrdiff_t q = 0; q < depth; q++)
                copy[j * CONST(PART_OF_DEPTH) + q] = b[(p + q) * b_step + j * b_column];
        for (ptrdiff_t i = 0; i < m; i += height)
            for (ptrdiff_t j = 0; j < n; j += 4) {
                const NAME(result) part = NAME(result_of)(from == NULL ? NULL : from + i * from_row + j,
                        from_row, c + i * c_row + j, c_row END(NULL));
                NAME(over_depth_parts)[n - j < 4 ? n - j - 1 : 3](m - i < height ? m - i : height, depth,
                        scale, a + i * a_row + p, a_row, columns + j * apart, apart, beta, &part);
            }
        beta = 1;
        from = c;
        from_row = c_row;
    }
}
