/* The end of a row as a vector.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes LANES=4|8|16                 elements of a vector
   takes INTEGER=int / long long    as large as an element
   takes PLACES=0                     the places of the lanes
*/
#pragma once

#include <stddef.h>
#include "rows/vectors.h"

/* The vector that begins at an element, with 0 in place of all but the last `count` lanes. */
static inline __attribute__((always_inline)) NAME(row) NAME(row_last)(const T *from, ptrdiff_t count)
{
    const NAME(row_places) first = (NAME(row_places)){0} + (INTEGER)(LANES - count);
    return (NAME(row))((NAME(row_places))NAME(row_load)(from) & ((NAME(row_places)){PLACES} >= first));
}
