/* Vectors of neighbouring results of a filter, and of the samples that they meet.

   takes T             the type of an element
   takes NAME(name)    functions and types of that type
   takes WIDTH=4|8     results in a vector
*/
#pragma once

typedef T NAME(near) __attribute__((vector_size(WIDTH * sizeof(T)), may_alias));
typedef NAME(near) NAME(near_memory) __attribute__((aligned(sizeof(T)), may_alias));

/* The same vector, of which the C compiler does not know that it is in memory: else gcc loads it once for
   every product that it is in, or keeps it for later in place of results. */
static inline __attribute__((always_inline)) NAME(near) NAME(near_loaded)(NAME(near) samples)
{
#if defined(__x86_64__)
    __asm__("" : "+x"(samples));
#endif
    return samples;
}
