/* Elements of four bytes of tables of 8 to 16 of them, for many points: some eights that follow each other have
   one table.  Permutations look eight places up in eight elements each, where gathers load one after the other. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* found[p] = from[step * (p / (8 * cell)) + places[p]] of some eights of points. */
static inline __attribute__((always_inline)) void _pm_pick(int32_t *found, const void *from, ptrdiff_t step,
        const int32_t *places, ptrdiff_t eights, int entries, int cell)
{
    for (ptrdiff_t k = 0; k < eights; k++) {
        const char *const first = (const char *)from + 4 * step * (k / cell);
#ifdef __AVX2__
        typedef int32_t eight __attribute__((vector_size(32)));
        eight low, high, at;
        memcpy(&low, first, sizeof low);
        memcpy(&high, first + 4 * (entries - 8), sizeof high);
        memcpy(&at, places + 8 * k, sizeof at);
        const eight above = at > 7;
        const eight below = (eight)__builtin_ia32_permvarsi256((eight)low, at);
        const eight last = (eight)__builtin_ia32_permvarsi256((eight)high, at - (entries - 8));
        const eight picked = (below & ~above) | (last & above);
        memcpy(found + 8 * k, &picked, sizeof picked);
#else
        for (int point = 0; point < 8; point++)
            memcpy(found + 8 * k + point, first + 4 * places[8 * k + point], 4);
        (void)entries;
#endif
    }
}
