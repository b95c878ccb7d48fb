/* Asks, once, whether the processor has the instructions that a library was compiled with. */
#pragma once

#include "shared.h"

static int _pm_processor_known; /* 0 not asked yet, 1 it has, 2 it lacks some */

_PM_SHARED int _pm_processor_asked(int *known);

static inline int _pm_processor_fits(void)
{
    return __atomic_load_n(&_pm_processor_known, __ATOMIC_RELAXED) == 1
            || _pm_processor_asked(&_pm_processor_known);
}
