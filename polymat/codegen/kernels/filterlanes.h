/* Vectors of samples.

   takes T           the type of an element
   takes NAME(name)  functions and types of that type
   takes LANES=8|16  results in a vector
*/
#pragma once

typedef T NAME(lanes) __attribute__((vector_size(LANES * sizeof(T)), may_alias));
