/* Vectors of samples, as wide as registers are: some of them hold all lanes of a position.

   takes T           the type of an element
   takes NAME(name)  functions and types of that type
   takes WIDTH=4|8   samples in a vector
*/
#pragma once

typedef T NAME(lanes) __attribute__((vector_size(WIDTH * sizeof(T)), may_alias));
