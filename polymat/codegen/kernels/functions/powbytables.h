/* Powers by tables, for both types: the common case.

   takes T                                the type of an element
   takes NAME(name)                       functions and tables of that type
   takes U=uint32_t / uint64_t            its bits
   takes I=int32_t / int64_t              the same with a sign
   takes MANTISSA=23 / 52                 bits behind the point
   takes CELLS=32 / 16                    of a table
   takes DROPPED=18 / 48                  bits of a number behind those that are its cell's
   takes MARGIN=0u / ((U)1 << 47)         how far before a power of two cells begin
   takes EXCESS=127 / 1023                what is added to an exponent
   takes ONE=0x3f800000u / 0x3ff0000000000000u  bits of 1
   takes MAGIC=0x1.8p23f / 0x1.8p52       added and taken off again, it leaves the nearest integer
   takes LIMIT=4000.0f / 16320.0          beyond it the result is no normal number
   takes TINY=0x1p-126f / 0x1p-1022       the smallest normal number
   takes LARGEST=0x1p127f / 0x1p1023      the largest one
*/
#pragma once

#include "functions/powtablesfloat.h"
#include "functions/powtablesdouble.h"
#include "functions/powparts.h"

#ifdef _PM_PERMUTED
static inline __attribute__((always_inline)) T NAME(pow_near)(T x, T y, U *far)
{
    const U b = NAME(bits)(x) + MARGIN, cell = (b >> DROPPED) & (CELLS - 1);
    const T k = (T)((I)(b >> MANTISSA) - EXCESS);
    const T m = NAME(of_bits)((b & (((U)1 << MANTISSA) - 1)) + (ONE - MARGIN));
    T whole;
    const T s = NAME(pow_middle)(k, m, y, NAME(pow_inverse)[cell], NAME(pow_high)[cell], NAME(pow_low)[cell],
            &whole);
    const int inside = (x >= TINY) & (x <= LARGEST);
    *far |= (U) !(inside & (whole >= MAGIC - LIMIT) & (whole <= MAGIC + LIMIT));
    return NAME(pow_end)(s, whole, NAME(pow_power)[NAME(bits)(whole) & (CELLS - 1)]);
}

typedef U NAME(pow_bits) __attribute__((vector_size(64)));
static inline void NAME(pow_at)(const void *table, NAME(pow_bits) cells, void *out)
{
    NAME(pow_bits) half, other;
    __builtin_memcpy(&half, table, 64);
    __builtin_memcpy(&other, (const char *)table + 64, 64);
    half = __builtin_shuffle(half, other, cells);
    __builtin_memcpy(out, &half, 64);
}
#endif
