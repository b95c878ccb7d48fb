/* From a number to its bits, and back.

   takes T                       the type of an element
   takes NAME(name)              functions of that type
   takes U=uint32_t / uint64_t   its bits
*/
#pragma once

#include <stdint.h>

static inline __attribute__((always_inline)) U NAME(bits)(T x)
{
    U bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline __attribute__((always_inline)) T NAME(of_bits)(U bits)
{
    T x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
