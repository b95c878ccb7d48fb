/* What turned products may be compiled apart as, declared for those that call it. */
#pragma once

#include "products/blocks.h"
#include "products/product.h"

_PM_SHARED int NAME(runs)(ptrdiff_t column_count, const ptrdiff_t *columns);
_PM_SHARED __attribute__((noinline)) void NAME(turned)(const NAME(product) *all);
