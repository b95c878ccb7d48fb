/* The least or the greatest of vectors, lane by lane and of the lanes of one.

   takes T                     the type of an element
   takes NAME(name)            functions and types of that type
   takes LANES=4|8|16          elements of a vector
   takes ELEMENT=4 / 8         bytes of an element
   takes BEFORE=<|>            what the one that is taken is to the other
   takes ORDERED(end)=__builtin_ia32_maxps##end / __builtin_ia32_maxpd##end  the second one of a NaN
   takes COMPARED=__builtin_ia32_cmpps512_mask / __builtin_ia32_cmppd512_mask  the lanes of which it is true
   takes BOTH=NAME(row_both)   the function of two vectors
   takes FOUND=NAME(row_found)  that of the lanes of one
   takes OF_TWO(a, b)=(a < b ? a : b)  that of two elements
   takes HALVES=all = BOTH(all, all)   what takes those of each half of the lanes and the other
*/
#pragma once

#include "rows/vectors.h"
#include "shuffles.h"

/* Lane by lane; a NaN on either side is the result.  Who keeps one vector keeps it as `a`: nothing but the one
   instruction that takes the larger waits for it, while `b` is looked through for NaNs beside that. */
static inline NAME(row) BOTH(NAME(row) a, NAME(row) b)
{
#if defined(__AVX512F__) && LANES * ELEMENT == 64 && !defined(__clang__)
#if ELEMENT == 4
    const short numbers = (short)COMPARED(b, b, 7, (1 << LANES) - 1, 4); /* as the instruction is declared */
#else
    const unsigned char numbers = COMPARED(b, b, 7, (1 << LANES) - 1, 4);
#endif
    return ORDERED(512_mask)(b, a, b, numbers, 4);
#elif defined(__AVX__) && LANES * ELEMENT == 32
    return (NAME(row))((NAME(row_places))ORDERED(256)(b, a) | (b != b));
#elif defined(__SSE2__) && LANES * ELEMENT == 16
    return (NAME(row))((NAME(row_places))ORDERED()(b, a) | (b != b));
#else
    const NAME(row_places) first = (NAME(row_places))((a BEFORE b) | (a != a));
    return (NAME(row))((first & (NAME(row_places))a) | (~first & (NAME(row_places))b));
#endif
}

static inline T FOUND(NAME(row) all)
{
#ifdef _PM_SHUFFLES
    HALVES;
    return all[0];
#else
    T found = all[0];
    for (int lane = 1; lane < LANES; lane++)
        found = OF_TWO(found, all[lane]);
    return found;
#endif
}
