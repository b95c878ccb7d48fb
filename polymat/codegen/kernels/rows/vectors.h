/* Vectors of elements of a row: in registers, and anywhere in memory.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes LANES=4|8|16                 elements of a vector
   takes INTEGER=int / long long    as large as an element
*/
#pragma once

typedef T NAME(row) __attribute__((vector_size(LANES * sizeof(T))));
typedef NAME(row) NAME(row_memory) __attribute__((aligned(sizeof(T)), may_alias));
typedef INTEGER NAME(row_places) __attribute__((vector_size(LANES * sizeof(T))));

static inline NAME(row) NAME(row_load)(const T *from)
{
    return *(const NAME(row_memory) *)from;
}

static inline void NAME(row_store)(T *to, NAME(row) value)
{
    *(NAME(row_memory) *)to = value;
}
