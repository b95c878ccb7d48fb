/* Products of a right operand that is packed before, declared for those that call them. */
#pragma once

#include "products/blocks.h"
#include "products/product.h"

_PM_SHARED __attribute__((noinline)) void NAME(pack_panels)(ptrdiff_t n, ptrdiff_t k, const T *b,
        ptrdiff_t b_step, ptrdiff_t b_column, ptrdiff_t kc, T *to, ptrdiff_t part, ptrdiff_t parts);
_PM_SHARED __attribute__((noinline)) void NAME(by_panels)(const NAME(product) *all);

/* Bytes of all panels. */
static inline double NAME(panels_room)(double n, double k, double kc)
{
    const double pieces = k / kc + 1.0, panels = n / (VECTORS * LANES) + 1.0;
    return panels * (sizeof(T) * (VECTORS * LANES) * (k + pieces) + 128.0 * pieces);
}
