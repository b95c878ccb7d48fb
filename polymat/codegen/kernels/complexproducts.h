/* Products of complex numbers where clang calls a function for them. */
#pragma once

#ifdef __clang__
/* clang's own complex products end in a call of these, by name, where both parts are NaN, which looks for the
   infinities of C's Annex G.  Here they are the textbook's formula again: as NumPy's, and no call is left. */
__attribute__((always_inline)) inline double _Complex __muldc3(double a, double b, double c, double d)
{
    return __builtin_complex(a * c - b * d, a * d + b * c);
}

__attribute__((always_inline)) inline float _Complex __mulsc3(float a, float b, float c, float d)
{
    return __builtin_complex(a * c - b * d, a * d + b * c);
}
#endif
