/* The angle of a point, and the inverse functions of angles that are made of it, for both types.

   Of the smaller coordinate l and the larger h: atan(l / h), and where that is more than pi / 8
   pi / 4 + atan((l - h) / (l + h)).  Which coordinate is larger and on which side the point lies turns that into
   q pi / 4 + r or q pi / 4 - r with q from 0 to 4.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes LAST=31 / 63                the bit of the sign
   takes EIGHTH=0.4142f / 0.4142     tan(pi / 8)
   takes LARGE=0x1p+126f / 0x1p+1022  beyond it sums may overflow
   takes QUARTER=0.25f / 0.25        a quarter
   takes SMALL=0x1p-100f / 0x1p-960  below it shares of numbers are rounded to few bits
   takes RAISED=0x1p+60f / 0x1p+60   what lifts all of these above that
   takes PI1=0.7854f / 0.7854        pi / 4, and what is left of it
   takes PI2=1e-8f / 1e-17           pi / 4, and what is left of it
   takes ARC=(z + w)                 (atan(t) / t - 1) / t**2, z = t**2 and w = z**2
*/
#pragma once

#include "functions/bits.h"

/* By l and h; middle: whether l / h is more than tan(pi / 8); turned: whether l is x; behind: whether x is
   negative.  What is added to l and h is masked: of a choice between sums gcc computes all that follows twice. */
static inline __attribute__((always_inline)) T NAME(angle)(T low, T high, int middle, int turned, int behind)
{
    const U chosen = -(U)middle;
    const T over = low - NAME(of_bits)(NAME(bits)(high) & chosen);
    const T t = over / (high + NAME(of_bits)(NAME(bits)(low) & chosen));
    const T z = t * t, w = z * z;
    const T r = BUILTIN(fma)(t * z, ARC, t), m = middle ? 1 : 0, n = turned ? 2 - m : m,
            q = behind ? 4 - n : n;
    const T either = NAME(of_bits)(NAME(bits)(r) ^ (U)(turned ^ behind) << LAST);
    return BUILTIN(fma)(q, PI1, BUILTIN(fma)(q, PI2, either));
}

static inline __attribute__((always_inline)) T NAME(atan)(T x)
{
    const T a = BUILTIN(fabs)(x);
    const int turned = a > 1;
    const T low = turned ? 1 : a, high = turned ? a : 1;
    return BUILTIN(copysign)(NAME(angle)(low, high, low > EIGHTH * high, turned, 0), x);
}

static inline __attribute__((always_inline)) T NAME(asin)(T x)
{
    const T a = BUILTIN(fabs)(x), b = BUILTIN(sqrt)((1 - a) * (1 + a));
    const int turned = a > b;
    const T low = turned ? b : a, high = turned ? a : b;
    return BUILTIN(copysign)(NAME(angle)(low, high, low > EIGHTH * high, turned, 0), x);
}

static inline __attribute__((always_inline)) T NAME(acos)(T x)
{
    const T a = BUILTIN(fabs)(x), b = BUILTIN(sqrt)((1 - a) * (1 + a));
    const int turned = b > a;
    const T low = turned ? a : b, high = turned ? b : a;
    return NAME(angle)(low, high, low > EIGHTH * high, turned, x < 0);
}

/* Two infinite coordinates are as two that are equal, and two zeros as one of them beside 1. */
static inline __attribute__((always_inline)) T NAME(atan2)(T y, T x)
{
    const T tall = BUILTIN(fabs)(y), wide = BUILTIN(fabs)(x), sum = tall + wide, most = BUILTIN(inf)();
    const int turned = tall > wide, behind = (int)(NAME(bits)(x) >> LAST);
    const T scale = sum > LARGE ? QUARTER : sum < SMALL ? RAISED : 1;
    const T small = (turned ? wide : tall) * scale, large = (turned ? tall : wide) * scale;
    const int first = NAME(bits)(tall) == NAME(bits)(most), other = NAME(bits)(wide) == NAME(bits)(most);
    const int endless = first & other, none = sum == 0;
    const T low = endless ? 1 : small, high = (endless | none) ? 1 : large;
    return BUILTIN(copysign)(NAME(angle)(low, high, low > EIGHTH * high, turned, behind), y);
}
