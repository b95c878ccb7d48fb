/* The functions of a product that may be compiled apart from the program, declared for those that call them. */
#pragma once

#include "products/blocks.h"
#include "products/product.h"

_PM_SHARED __attribute__((noinline)) void NAME(lanes_over_depth)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(column)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(one_row)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(copied_near)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth,
        T scale, const NAME(operand) *a, const T *b, ptrdiff_t b_step, ptrdiff_t b_column, T beta,
        const NAME(result) *whole, const NAME(half) *half);
_PM_SHARED __attribute__((noinline)) void NAME(result_transposed)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(few_rows)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(few_columns)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(right_in_parts)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(blocked)(const NAME(product) *all);
_PM_SHARED __attribute__((noinline)) void NAME(direct)(const NAME(product) *all, ptrdiff_t deep);
_PM_SHARED __attribute__((noinline)) void NAME(general)(const NAME(product) *all);
