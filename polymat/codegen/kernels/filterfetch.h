/* Requests for samples and results of a filter, before they are needed.

   takes T           the type of an element
   takes NAME(name)  functions and types of that type
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Have the lines of so many elements brought near while something else is computed; addresses may be any. */
static inline void NAME(filter_fetch)(const T *array, ptrdiff_t from, ptrdiff_t count, const int write)
{
    const uintptr_t at = (uintptr_t)array + (uintptr_t)from * sizeof(T);
    for (uintptr_t line = 0; line < (uintptr_t)count * sizeof(T); line += 64)
        if (write)
            __builtin_prefetch((const void *)(at + line), 1, 2);
        else
            __builtin_prefetch((const void *)(at + line), 0, 2);
}
