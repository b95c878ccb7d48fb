/* What register blocks request meanwhile that read one operand where it is. */
#pragma once

#include "products/family.h"

/* What a block requests at each step of its depth: lines at `next`, `apart` bytes beyond it and twice as far,
   then `pace` bytes further on, and after each `width` bytes of these `jump` more. */
typedef struct {
    const char *next;
    ptrdiff_t pace, apart, width, jump;
} NAME(requests);
