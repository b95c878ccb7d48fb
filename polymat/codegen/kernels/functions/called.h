/* A function with a branch, which gcc calls in loops on vectors.

   gcc calls vector versions of a function whose declaration has the `simd` attribute, by names that the
   vectors' ABI gives them; `functions/vectors.h` defines those.  Other compilers see a function that they may
   inline.

   takes T                        the type of an element
   takes U=uint32_t / uint64_t    its bits
   takes FUNCTION=NAME(sin)       the name of the function
   takes SYMBOL="_pm_sin"         the same for the linker
   takes SINGLE=NAME(sin_one)     its name where it is called for one element
   takes COMMON=NAME(sin_near)    the common case, which says whether arguments lie beyond it
   takes LIBM=BUILTIN(sin)        what answers those
   takes PARAMETERS=T x           of the function
   takes ARGUMENTS=x              their names
*/
#pragma once

#include "functions/circular.h"

#if defined(__x86_64__) && !defined(__clang__)
extern __attribute__((simd("notinbranch"), const, visibility("hidden"))) T FUNCTION(PARAMETERS);
__attribute__((weak, visibility("hidden"))) T SINGLE(PARAMETERS) __asm__(SYMBOL);
T SINGLE(PARAMETERS)
#else
static inline __attribute__((always_inline)) T FUNCTION(PARAMETERS)
#endif
{
    U far = 0;
    const T near = COMMON(ARGUMENTS, &far);
    return __builtin_expect(far != 0, 0) ? LIBM(ARGUMENTS) : near;
}
