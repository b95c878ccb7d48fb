/* Arrays that depend on no argument: whoever finds none computes them, and all keep those of whoever is first. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* Arrays of one function that are the same in every call, computed by the first one.  Who comes at the same
   time computes its own, so that nobody waits; those of the call that ends first stay. */
struct _pm_kept_arrays {
    _Atomic(char *) memory;
    struct _pm_kept_arrays *next; /* of a function that kept some before */
};

static _Atomic(struct _pm_kept_arrays *) _pm_kept_last;

/* Keep what a call has computed; what else is there to free when it ends. */
static inline char *_pm_kept_give(struct _pm_kept_arrays *arrays, char *computed)
{
    char *none = NULL;
    if (!atomic_compare_exchange_strong(&arrays->memory, &none, computed))
        return computed;
    struct _pm_kept_arrays *last = atomic_load(&_pm_kept_last);
    do
        arrays->next = last;
    while (!atomic_compare_exchange_weak(&_pm_kept_last, &last, arrays));
    return NULL;
}

__attribute__((destructor)) static void _pm_kept_free(void)
{
    struct _pm_kept_arrays *arrays = atomic_exchange(&_pm_kept_last, NULL);
    for (; arrays; arrays = arrays->next)
        free(atomic_exchange(&arrays->memory, NULL));
}
