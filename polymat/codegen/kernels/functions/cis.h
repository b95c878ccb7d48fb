/* The complex number of absolute value 1 that has an angle; with libm's functions, too.

   takes T                     the type of each part
   takes NAME(name)            functions of that type
   takes COSINE=BUILTIN(cos)   of that type
   takes SINE=BUILTIN(sin)     of that type
   takes BUILTIN(name)         the compiler's
*/
#pragma once

static inline __attribute__((always_inline)) T _Complex NAME(cis)(T x)
{
    return __builtin_complex(COSINE(x), SINE(x));
}
