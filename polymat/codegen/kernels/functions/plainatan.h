/* The C library's inverse tangent, by a function that the compiler does not look into.

   gcc 12 makes x / sqrt(1 + x * x) of sin(atan(x)), which for NaN it takes to be 1, unless it cannot see it.

   takes T              the type of an element
   takes NAME(name)     functions of that type
   takes BUILTIN(name)  the compiler's
*/
#pragma once

static __attribute__((noinline, noclone, const)) T NAME(atan)(T x)
{
    return BUILTIN(atan)(x);
}
