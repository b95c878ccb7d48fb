/* What register blocks make of a result, in registers.

   takes T           the type of an element
   takes NAME(name)  a type for elements of that type
   takes ARRAYS=4    arrays that are read beside the result
   takes NUMBERS=2   numbers that are */
#pragma once

#include <stddef.h>

/* What is made of a result: which of the expressions, the array that the result is in, the elements of a row of
   that, arrays that are read beside it, and numbers. */
typedef struct NAME(end) {
    int kind;
    const T *base;
    ptrdiff_t width;
    const T *arrays[ARRAYS];
    T numbers[NUMBERS];
} NAME(end);
