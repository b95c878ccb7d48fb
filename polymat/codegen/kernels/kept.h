/* Arrays that depend on no argument: whoever finds none computes them, and all keep those of whoever is first. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* Arrays that are the same in every call, computed by the first one.  Who comes at the same time computes its
   own, so that nobody waits; those of the call that ends first stay. */
static _Atomic(char *) _pm_kept_memory;

/* Keep what a call has computed; what else is there to free when it ends. */
static inline char *_pm_kept_give(char *computed)
{
    char *none = NULL;
    return atomic_compare_exchange_strong(&_pm_kept_memory, &none, computed) ? NULL : computed;
}

__attribute__((destructor)) static void _pm_kept_free(void)
{
    free(atomic_exchange(&_pm_kept_memory, NULL));
}
