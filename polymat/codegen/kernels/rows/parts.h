/* The first lanes of a vector loaded, with 0 in place of others, and stored, nothing beyond touched.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes LANES=2|4|8|16               elements of a vector
   takes ELEMENT=4 / 8                bytes of an element
   takes VECTOR=NAME(row)             a vector
   takes INTEGER=int / long long    as large as an element
   takes PLACES=0                     the places of the lanes
   takes PROCESSOR(op, end)=__builtin_ia32_##op##ps##end / __builtin_ia32_##op##pd##end  its instructions
*/
#pragma once

#include <stddef.h>
#include "rows/vectors.h"

#if defined(__AVX512F__) && LANES * ELEMENT == 64
#define MASKED(op) PROCESSOR(op, 512_mask)
#elif defined(__AVX512VL__) && LANES * ELEMENT == 32
#define MASKED(op) PROCESSOR(op, 256_mask)
#elif defined(__AVX512VL__) && LANES * ELEMENT == 16
#define MASKED(op) PROCESSOR(op, 128_mask)
#elif defined(__AVX2__) && LANES * ELEMENT == 32
#define CHOSEN(op) PROCESSOR(op, 256)
#elif defined(__AVX2__) && LANES * ELEMENT == 16
#define CHOSEN(op) PROCESSOR(op, )
#endif

#ifdef MASKED
#if LANES == 16
typedef unsigned short NAME(mask);
#else
typedef unsigned char NAME(mask);
#endif
#elif defined(CHOSEN)
typedef INTEGER NAME(mask) __attribute__((vector_size(LANES * ELEMENT)));
#else
typedef int NAME(mask);
#endif

static inline __attribute__((always_inline)) NAME(mask) NAME(mask_of)(ptrdiff_t count)
{
#ifdef MASKED
    return (NAME(mask))((1u << count) - 1u);
#elif defined(CHOSEN)
    return (NAME(mask)){PLACES} < (NAME(mask)){0} + (INTEGER)count;
#else
    return (int)count;
#endif
}

static inline __attribute__((always_inline)) VECTOR NAME(load)(const T *from, NAME(mask) mask)
{
#ifdef MASKED
    return MASKED(loadu)((const void *)from, (VECTOR){0}, mask);
#elif defined(CHOSEN)
    return CHOSEN(maskload)((const void *)from, mask);
#else
    VECTOR value = {0};
    for (int lane = 0; lane < LANES; lane++)
        if (lane < mask)
            value[lane] = from[lane];
    return value;
#endif
}

static inline __attribute__((always_inline)) void NAME(store)(T *to, VECTOR value, NAME(mask) mask)
{
#ifdef MASKED
    MASKED(storeu)((void *)to, value, mask);
#elif defined(CHOSEN)
    CHOSEN(maskstore)((void *)to, mask, value);
#else
    for (int lane = 0; lane < LANES; lane++)
        if (lane < mask)
            to[lane] = value[lane];
#endif
}

#undef MASKED
#undef CHOSEN
