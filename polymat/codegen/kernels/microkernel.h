/* How a microkernel of the user's is declared: its own text, which follows, has to agree.

   takes T
   takes KERNEL=_pm_microkernel
*/
#pragma once

#include <stddef.h>

static __attribute__((unused)) void KERNEL(ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_depth,
        const T *b, ptrdiff_t b_depth, ptrdiff_t b_column, T *c, ptrdiff_t c_row, ptrdiff_t c_column);
