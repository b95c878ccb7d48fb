/* Vectors whose elements lie apart in memory, each as far from the one before.

   takes T                                   the type of an element
   takes NAME(name)                          functions and types of that type
   takes LANES=4|8|16                        elements of a vector
   takes GATHERED=first[0], first[apart], first[2 * apart], first[3 * apart]  all elements
   takes SCATTERED=first[0] = value[0], first[apart] = value[1]  what writes all of them
*/
#pragma once

#include <stddef.h>
#include "rows/vectors.h"

/* The vector of the elements from one on. */
static inline NAME(row) NAME(row_gather)(const T *first, ptrdiff_t apart)
{
    return (NAME(row)){GATHERED};
}

/* Write a vector to them. */
static inline void NAME(row_scatter)(T *first, ptrdiff_t apart, NAME(row) value)
{
    SCATTERED;
}

/* One number in every lane. */
static inline NAME(row) NAME(row_spread)(T value)
{
    return value - (NAME(row)){0};
}
