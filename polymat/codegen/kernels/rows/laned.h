/* Vectors of which some first lanes count.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes LANES=4|8|16                 elements of a vector
   takes INTEGER=int / long long    as large as an element
   takes PLACES=0                     the places of the lanes
*/
#pragma once

#include <stddef.h>
#include "rows/vectors.h"

/* The lanes up to one. */
static inline NAME(row_places) NAME(row_upto)(ptrdiff_t last)
{
    return (NAME(row_places)){PLACES} <= (INTEGER)last;
}

/* A vector with 0 in all other lanes. */
static inline NAME(row) NAME(row_only)(NAME(row) value, NAME(row_places) lanes)
{
    return (NAME(row))((NAME(row_places))value & lanes);
}
