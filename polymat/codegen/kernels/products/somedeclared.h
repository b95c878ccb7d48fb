/* What stores some lanes of a vector, declared for register blocks that are compiled apart. */
#pragma once

#include "products/blocks.h"

_PM_SHARED __attribute__((noinline)) void NAME(some)(T *to, NAME(vector) value, int first, int end);
