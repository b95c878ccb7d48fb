/* What headers of products are for: a family of register blocks, of up to so many rows and vectors of columns.

   takes T                            the type of an element
   takes NAME(name)                   a function or a type for elements of that type
   takes CONST(name)=_PM_##name##_of  a number or a macro for them
   takes MASK(count)=((int)(count))   the mask of the first lanes of a vector
   takes END(what)=, what             a parameter or argument: what becomes of a result in registers, if anything
   takes ENDS=1                       whether there is something
   takes LANES=4                      elements of a vector
   takes INTEGER=long long            an integer as large as an element
   takes PLACES=0, 1, 2, 3            the places of the lanes
   takes ROWS=4                       rows of the largest register block
   takes VECTORS=3                    its vectors of columns
   takes PRAGMA(text)=_Pragma(#text)  a pragma with macros in it
   takes UNROLL(count)=PRAGMA(GCC unroll count)  so many turns of a loop after each other
   takes HALVES=1                     whether there are triangles
   takes WALKS=1                      whether there are blocks that walk over segments of depth
   takes GATHERED=8                   neighbouring segments that are packed together
   takes TURNED_ROWS=3                rows of a turned register block */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct NAME(end) NAME(end); /* what becomes of a result in registers */
