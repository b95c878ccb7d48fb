/* Powers without tables, for both types: the common case.

   x**y = 2**(y log2(x)) for positive normal x and results that are normal numbers.  The logarithm is a sum of two
   numbers: with s = f / (2 + f), x = 2**k (1 + f), it is k + s (c0 + z (c1 + z P(z))) in powers of z = s**2, whose
   first terms are added up with what their roundings leave.  Of floats, without what counts for less than half a
   unit in the last place.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes DOUBLE=0 / 1                whether it is a double
   takes ONE=0x3f800000u / 0x3ff0000000000000u  bits of 1
   takes BIAS=127.0f / 1023.0        what is added to an exponent
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes LOGARITHM=(z + w) / (z + w2)  P of doubles, of floats c1 + z P; w = z**2
   takes EXPONENTIAL=(r + a2)        (2**r - 1) / r, a = r**2
*/
#pragma once

#include "functions/bits.h"
#include "functions/permuted.h"

#if !defined(_PM_PERMUTED) && DOUBLE
static inline __attribute__((always_inline)) T NAME(pow_near)(T x, T y, U *far)
{
    const T c0 = 0x1.71547652b82fep+1, c0l = 0x1.777d0ffda0d24p-55, c1 = 0x1.ec709dc3a03fdp-1;
    const T c1l = 0x1.d27f05548af0cp-55;
    const U b = NAME(bits)(x) + (ONE - 0x3fe6a09e667f3bcdu);
    const T k = NAME(of_bits)((b >> 52) + 0x4330000000000000u) - (0x1p+52 + 1023);
    const T m = NAME(of_bits)((b & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu), f = m - 1;
    const T d = m + 1, left = m - (d - 1), v = 1 / d;
    const T s = f * v, sl = BUILTIN(fma)(-s, left, BUILTIN(fma)(-s, d, f)) * v;
    const T z = s * s, zl = BUILTIN(fma)(s, s, -z) + 2 * s * sl, w = z * z, w2 = w * w;
    const T p = LOGARITHM;
    const T u = z * p, c = c1 + u, cl = (u - (c - c1)) + c1l;
    const T q = z * c, ql = BUILTIN(fma)(z, c, -q) + BUILTIN(fma)(z, cl, zl * c);
    const T t = c0 + q, tl = (q - (t - c0)) + (ql + c0l);
    const T g = s * t, gl = BUILTIN(fma)(s, t, -g) + BUILTIN(fma)(s, tl, sl * t);
    const T h = k + g, hl = (g - (h - k)) + gl;
    const T e = y * h, el = BUILTIN(fma)(y, h, -e) + y * hl;
    const T whole = e + (MAGIC + BIAS), n = whole - (MAGIC + BIAS);
    const T r = (e - n) + el, a = r * r, a2 = a * a;
    *far |= (U)(NAME(bits)(x) - 0x0010000000000000u >= 0x7fe0000000000000u) | (U) !(BUILTIN(fabs)(e) <= 1021);
    return BUILTIN(fma)(r, EXPONENTIAL, 1) * NAME(of_bits)(NAME(bits)(whole) << 52);
}
#elif !defined(_PM_PERMUTED)
static inline __attribute__((always_inline)) T NAME(pow_near)(T x, T y, U *far)
{
    const T c0 = 0x1.715476p+1f, c0l = 0x1.4ae0c0p-25f;
    const U b = NAME(bits)(x) + (ONE - 0x3f3504f3u);
    const T k = (T)((int32_t)(b >> 23) - 127);
    const T m = NAME(of_bits)((b & 0x007fffffu) + 0x3f3504f3u), f = m - 1;
    const T d = m + 1, left = m - (d - 1), v = 1 / d;
    const T s = f * v, sl = BUILTIN(fma)(-s, left, BUILTIN(fma)(-s, d, f)) * v;
    const T z = s * s, w = z * z, c = LOGARITHM;
    const T zl = BUILTIN(fma)(s, s, -z) + 2 * s * sl;
    const T t = BUILTIN(fma)(z, c, c0), tl = BUILTIN(fma)(z, c, c0 - t) + BUILTIN(fma)(zl, c, c0l);
    const T g = s * t, gl = BUILTIN(fma)(s, t, -g) + BUILTIN(fma)(s, tl, sl * t);
    const T h = k + g, hl = (g - (h - k)) + gl;
    const T e = y * h, el = BUILTIN(fma)(y, h, -e) + y * hl;
    const T whole = e + (MAGIC + BIAS), n = whole - (MAGIC + BIAS);
    const T r = (e - n) + el, a = r * r, a2 = a * a;
    *far |= (U)(NAME(bits)(x) - 0x00800000u >= 0x7f000000u) | (U) !(BUILTIN(fabs)(e) <= 125);
    return BUILTIN(fma)(r, EXPONENTIAL, 1) * NAME(of_bits)(NAME(bits)(whole) << 23);
}
#endif
