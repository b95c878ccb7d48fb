/* Copies of a few lines so that elements of equal depth are neighbours: eight by eight, transposed in registers. */
#pragma once

#include "products/blocks.h"

/* Eight lines of eight elements, transposed in registers. */
typedef T NAME(eight) __attribute__((vector_size(8 * sizeof(T))));
typedef NAME(eight) NAME(eight_memory) __attribute__((aligned(sizeof(T)), may_alias));

#ifdef _PM_SHUFFLES
static inline __attribute__((always_inline)) void NAME(eight_turned)(NAME(eight) *r, T *to, ptrdiff_t step)
{
    NAME(eight) s[8];
    for (int line = 0; line < 8; line += 2) {
        s[line] = __builtin_shufflevector(r[line], r[line + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[line + 1] = __builtin_shufflevector(r[line], r[line + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 4 /* or the lines go through memory */
    for (int pair = 0; pair < 4; pair++) {
        const int line = pair / 2 * 4 + pair % 2;
        r[line] = __builtin_shufflevector(s[line], s[line + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[line + 2] = __builtin_shufflevector(s[line], s[line + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int line = 0; line < 4; line++) {
        s[line] = __builtin_shufflevector(r[line], r[line + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        s[line + 4] = __builtin_shufflevector(r[line], r[line + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int line = 0; line < 8; line++)
        *(NAME(eight_memory) *)(to + line * step) = s[line];
}
#endif

static inline void NAME(transpose)(const T *from, ptrdiff_t across, T *to, ptrdiff_t step)
{
#ifdef _PM_SHUFFLES
    NAME(eight) r[8];
    for (int line = 0; line < 8; line++)
        r[line] = *(const NAME(eight_memory) *)(from + line * across);
    NAME(eight_turned)(r, to, step);
#else
    for (int line = 0; line < 8; line++)
        for (int lane = 0; lane < 8; lane++)
            to[lane * step + line] = from[line * across + lane];
#endif
}

/* Fewer lines, of which the last one stands for the rest. */
static inline void NAME(transpose_few)(ptrdiff_t lines, const T *from, ptrdiff_t across, T *to,
        ptrdiff_t step)
{
#ifdef _PM_SHUFFLES
    NAME(eight) r[8];
    for (int line = 0; line < 8; line++)
        r[line] = *(const NAME(eight_memory) *)(from + (line < lines ? line : lines - 1) * across);
    NAME(eight_turned)(r, to, step);
#else
    for (int line = 0; line < 8; line++)
        for (int lane = 0; lane < 8; lane++)
            to[lane * step + line] = from[(line < lines ? line : lines - 1) * across + lane];
#endif
}

/* The same of eight lines wherever they lie, from the same element of each. */
static inline void NAME(transpose_lines)(const T *const *lines, ptrdiff_t from, T *to, ptrdiff_t step)
{
#ifdef _PM_SHUFFLES
    NAME(eight) r[8];
    for (int line = 0; line < 8; line++)
        r[line] = *(const NAME(eight_memory) *)(lines[line] + from);
    NAME(eight_turned)(r, to, step);
#else
    for (int line = 0; line < 8; line++)
        for (int lane = 0; lane < 8; lane++)
            to[lane * step + line] = lines[line][from + lane];
#endif
}

enum { CONST(FAR) = 512 / sizeof(T) }; /* elements between request and copy along a line */

/* Copy a strip of `width` lines of `depth` elements so that the elements of equal depth are neighbours; what
   lies `ahead` elements further on, if that is not 0, is requested where lines are contiguous. */
static void NAME(strip)(ptrdiff_t width, ptrdiff_t depth, const T *restrict from, ptrdiff_t across,
        ptrdiff_t along, T *restrict to, ptrdiff_t step, ptrdiff_t ahead)
{
    enum { deep = 16 };
    if (across == 1) {
        const ptrdiff_t whole = width / LANES * LANES;
        for (ptrdiff_t k = 0; k < depth; k++) {
            for (ptrdiff_t r = 0; r < whole; r += LANES)
                *(NAME(memory) *)(to + k * step + r) = *(const NAME(memory) *)(from + k * along + r);
            for (ptrdiff_t r = whole; r < width; r++)
                to[k * step + r] = from[k * along + r];
        }
        return;
    }
    if (along == 1 && width >= 8 && depth >= 8) {
        /* The last eight lines, and the last eight of their elements, may be copied twice. */
        for (ptrdiff_t r = 0; r < width; r += 8)
            for (ptrdiff_t k = 0; k < depth; k += 8) {
                const ptrdiff_t line = r + 8 < width ? r : width - 8, at = k + 8 < depth ? k : depth - 8;
                const T *const corner = from + line * across + at;
                for (int other = 0; other < 8 && ahead != 0; other++)
                    __builtin_prefetch(corner + other * across + ahead);
                NAME(transpose)(corner, across, to + at * step + line, step);
            }
        return;
    }
    ptrdiff_t done = 0;
    if (along == 1 && width >= 4 && width < 8 && step >= 4)
        /* What a line has too much is in the place of the next one, which comes after it. */
        for (; done + 8 < depth; done += 8)
            NAME(transpose_few)(width, from + done, across, to + done * step, step);
    for (ptrdiff_t k_0 = done; k_0 < depth; k_0 += deep) {
        const ptrdiff_t k_1 = k_0 + deep < depth ? k_0 + deep : depth;
        for (ptrdiff_t line = 0; line < width; line++)
            for (ptrdiff_t k = k_0; k < k_1; k++)
                to[k * step + line] = from[k * along + line * across];
    }
}

/* Eight lines of `run` elements, 8 at least, `across` apart, each beside the same element of the next line:
   element r of line g goes to to[g * apart + r]; the last eight of a line may be copied twice. */
static inline void NAME(eight_lines)(ptrdiff_t run, const T *restrict from, ptrdiff_t across, const T *next,
        T *restrict to, ptrdiff_t apart)
{
    for (ptrdiff_t g = 0; g < run; g += 8) {
        const ptrdiff_t at = g + 8 < run ? g : run - 8;
        for (int other = 0; other < 8; other++)
            __builtin_prefetch(next + other * across + at);
        NAME(transpose)(from + at, across, to + at * apart, apart);
    }
    for (int other = 0; other < 8; other++)
        __builtin_prefetch(next + other * across + run - 1);
}

/* `run` lines of `width` elements, in the same way; the last eight of either may be copied twice.  The next
   eight lines are requested meanwhile, and after the last those `along` further on; where all of these are
   few blocks of eight, those that are as many steps further on as memory takes. */
static void NAME(run)(ptrdiff_t run, ptrdiff_t width, const T *restrict from, ptrdiff_t across,
        ptrdiff_t along, T *restrict to, ptrdiff_t apart)
{
    if (width >= 8 && run >= 8) {
        const ptrdiff_t blocks = (width + 7) / 8 * ((run + 7) / 8);
        const ptrdiff_t steps = blocks < 6 ? (5 + blocks) / blocks : 0;
        for (ptrdiff_t r = 0; r < width; r += 8) {
            const ptrdiff_t line = r + 8 < width ? r : width - 8;
            const T *const next = from
                    + (steps > 0 ? line * across + steps * along
                                    : r + 8 < width ? (line + 8) * across
                                                    : along);
            NAME(eight_lines)(run, from + line * across, across, next, to + line, apart);
        }
        return;
    }
    for (ptrdiff_t r = 0; r < width; r++)
        for (ptrdiff_t g = 0; g < run; g++)
            to[g * apart + r] = from[r * across + g];
}
