/* Powers of vectors of 512 bits, which look their values up in registers.

   What libm answers: x of the classes zero, negative, subnormal, infinite and NaN; n too large, or NaN.

   takes T                           the type of an element
   takes NAME(name)                  functions and tables of that type
   takes U=uint32_t / uint64_t       its bits
   takes LANES=16 / 8                elements of a vector
   takes VECTOR=NAME(powe)           the type of a vector
   takes MAPPED=NAME(pow_ofe)        the name of the function
   takes SYMBOL="_pm_pow"            its name for the linker
   takes BEYOND=NAME(pow_fare)       the function where lanes lie beyond the common case
   takes DROPPED=18 / 48             bits of a number behind those that are its cell's
   takes MARGIN=0u / ((U)1 << 47)    how far before a power of two cells begin
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes LIMIT=4000.0f / 16320.0     beyond it the result is no normal number
   takes MASK=unsigned short / unsigned char  a mask of lanes
   takes DOUBLE=0 / 1                whether it is a double
   takes EXPONENTS=__builtin_ia32_getexpps512_mask / __builtin_ia32_getexppd512_mask   the processor's
   takes CLASSES=__builtin_ia32_fpclassps512_mask / __builtin_ia32_fpclasspd512_mask   the processor's
   takes COMPARED=__builtin_ia32_cmpps512_mask / __builtin_ia32_cmppd512_mask          the processor's
*/
#pragma once

#include "functions/powbytables.h"

#ifdef _PM_PERMUTED
__attribute__((weak, visibility("hidden"))) VECTOR MAPPED(VECTOR x, VECTOR y) __asm__(SYMBOL);
VECTOR MAPPED(VECTOR x, VECTOR y)
{
    _Alignas(64) T ks[LANES], ms[LANES], ys[LANES], inverses[LANES], highs[LANES], lows[LANES];
    _Alignas(64) T wholes[LANES], out[LANES];
    _Alignas(64) U twos[LANES];
    const NAME(pow_bits) b = (NAME(pow_bits))x + MARGIN, cells = b >> DROPPED;
#if DOUBLE
    const NAME(pow_bits) m = (b & 0x000fffffffffffffu) + 0x3fef800000000000u;
#else
    const VECTOR m = __builtin_ia32_getmantps512_mask(x, 0, x, -1, 4);
#endif
    const VECTOR k = EXPONENTS((VECTOR)b, x, -1, 4);
    __builtin_memcpy(ks, &k, sizeof ks);
    __builtin_memcpy(ms, &m, sizeof ms);
    __builtin_memcpy(ys, &y, sizeof ys);
    NAME(pow_at)(NAME(pow_inverse), cells, inverses);
    NAME(pow_at)(NAME(pow_high), cells, highs);
    NAME(pow_at)(NAME(pow_low), cells, lows);
#pragma omp simd simdlen(LANES)
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = NAME(pow_middle)(ks[lane], ms[lane], ys[lane], inverses[lane], highs[lane], lows[lane],
                &wholes[lane]);
    VECTOR whole;
    __builtin_memcpy(&whole, wholes, sizeof whole);
    const VECTOR least = (VECTOR){0} + (MAGIC - LIMIT);
    const VECTOR most = (VECTOR){0} + (MAGIC + LIMIT);
    MASK near = (MASK)~CLASSES(x, 0xff, (MASK)-1);
    near = (MASK)COMPARED(whole, least, 13, near, 4);
    near = (MASK)COMPARED(whole, most, 2, near, 4);
    if (__builtin_expect(near != (MASK)-1, 0))
        return BEYOND(x, y);
    NAME(pow_at)(NAME(pow_power), (NAME(pow_bits))whole, twos);
#pragma omp simd simdlen(LANES)
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = NAME(pow_end)(out[lane], wholes[lane], twos[lane]);
    __builtin_memcpy(&x, out, sizeof out);
    return x;
}
#endif
