/* Vectors of rows stored in parts, and whole lines of memory written past the caches.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes LANES=4|8|16                 elements of a vector
   takes ELEMENT=4 / 8                bytes of an element
   takes PLACES=0                     the places of the lanes
   takes PROCESSOR(op, end)=__builtin_ia32_##op##ps##end / __builtin_ia32_##op##pd##end  its instructions
*/
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "rows/vectors.h"

/* The same number, but the C compiler does not know that it counts the turns of a loop: what the ends of a
   row alone need is then not kept up to date in every turn. */
static inline ptrdiff_t NAME(row_here)(ptrdiff_t at)
{
    __asm__("" : "+r"(at));
    return at;
}

/* How many elements lie before the first one that begins a line of memory, as long as a vector. */
static inline int NAME(row_turn)(const T *from)
{
    return (int)(-(uintptr_t)from % (LANES * ELEMENT) / ELEMENT);
}

/* Stores past the caches, which need not fetch a line before they replace it; `to` begins a line. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && LANES * ELEMENT == 64
#define _PM_STREAMS 1
/* To be called behind them, before other threads are told that they are there. */
static inline void NAME(row_streamed)(void)
{
    __builtin_ia32_sfence();
}

static inline void NAME(row_stream)(T *to, NAME(row) value)
{
    PROCESSOR(movnt, 512)(to, value);
}

/* The vector that begins `turn` elements behind the first of two neighbours. */
static inline NAME(row) NAME(row_turned)(NAME(row) now, NAME(row) next, int turn)
{
    return __builtin_shuffle(now, next, (NAME(row_places)){PLACES} + turn);
}
#else
#define _PM_STREAMS 0
static inline void NAME(row_streamed)(void)
{
}

static inline void NAME(row_stream)(T *to, NAME(row) value)
{
    NAME(row_store)(to, value);
}

static inline NAME(row) NAME(row_turned)(NAME(row) now, NAME(row) next, int turn)
{
    NAME(row) result = now;
    for (int lane = 0; lane < LANES; lane++)
        result[lane] = lane + turn < LANES ? now[lane + turn] : next[lane + turn - LANES];
    return result;
}
#endif

/* Store the lanes of a vector from `low` on and before `high`; `to` is where the first lane would go. */
static inline void NAME(row_store_lanes)(T *to, NAME(row) value, int low, int high)
{
#if defined(__AVX512F__) && LANES * ELEMENT == 64
    const unsigned every = (1u << LANES) - 1,
                   lanes = low < high ? (every >> (LANES - high)) & (every << low) : 0;
#if LANES == 16
    PROCESSOR(storeu, 512_mask)((void *)to, value, (unsigned short)lanes);
#else
    PROCESSOR(storeu, 512_mask)((void *)to, value, (unsigned char)lanes);
#endif
#else
    for (int lane = low; lane < high; lane++)
        to[lane] = value[lane];
#endif
}

/* Store the lanes of a vector from one on and before another; `to` is where the first lane would go.

   Where these lie in one line of memory, and others of the vector in the next one, the vector is turned first:
   a store across the border of two lines waits for both, though it writes one, and where the other is being
   written past the caches, for memory. */
static inline void NAME(row_store_part)(T *to, NAME(row) value, ptrdiff_t from, ptrdiff_t end)
{
    const int low = from > 0 ? (int)(from < LANES ? from : LANES) : 0;
    const int high = end < LANES ? (int)(end > 0 ? end : 0) : LANES;
#if defined(__AVX512F__) && LANES * ELEMENT == 64
    const int turn = NAME(row_turn)(to);
    if (turn > 0 && (high <= turn || low >= turn)) {
        const int behind = low >= turn ? -turn : LANES - turn;
        NAME(row_store_lanes)(to - behind, NAME(row_turned)(value, value, turn), low + behind, high + behind);
        return;
    }
#endif
    NAME(row_store_lanes)(to, value, low, high);
}
