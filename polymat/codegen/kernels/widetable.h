/* Elements of one byte of a table of 257 to 2048 of them, at places of two bytes each, for many points at once.

   AVX-512's permutations of bytes look 64 places up in 128 entries by their lowest seven bits; the others say
   in which 128 an entry is.  Without them elements are looked up one by one. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512VBMI__) && defined(__GNUC__) && !defined(__clang__)
typedef uint8_t _pm_wide_row __attribute__((vector_size(64)));
typedef uint16_t _pm_wide_places __attribute__((vector_size(64)));
typedef char _pm_wide_bytes __attribute__((vector_size(64)));

typedef struct {
    _pm_wide_row parts[32];
} _pm_wide_table;

static inline void _pm_wide_table_of(_pm_wide_table *table, const void *from, int entries)
{
    memcpy((uint8_t *)table->parts, from, (size_t)entries);
    memset((uint8_t *)table->parts + entries, 0, (size_t)(-entries & 127));
}

/* The even bytes of two vectors, one behind the other. */
static inline _pm_wide_row _pm_wide_evens(_pm_wide_places first, _pm_wide_places second)
{
    const _pm_wide_row even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40,
            42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76, 78, 80, 82, 84, 86, 88,
            90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122, 124, 126};
    return __builtin_shuffle((_pm_wide_row)first, (_pm_wide_row)second, even);
}

static inline __attribute__((always_inline)) _pm_wide_row _pm_looked_up_wide(const _pm_wide_table *table,
        const uint16_t *places, int entries)
{
    _pm_wide_places first, second;
    memcpy(&first, places, sizeof first);
    memcpy(&second, places + 32, sizeof second);
    const _pm_wide_row low = _pm_wide_evens(first, second), part = _pm_wide_evens(first >> 7, second >> 7);
    _pm_wide_row found = __builtin_shuffle(table->parts[0], table->parts[1], low), here = {0};
#pragma GCC unroll 16
    for (int k = 1; 128 * k < entries; k++) {
        const _pm_wide_row entry = __builtin_shuffle(table->parts[2 * k], table->parts[2 * k + 1], low);
        here += 1;
        const unsigned long long chosen =
                (unsigned long long)__builtin_ia32_pcmpeqb512_mask((_pm_wide_bytes)part, (_pm_wide_bytes)here,
                        -1ll);
        found = (_pm_wide_row)__builtin_ia32_blendmb_512_mask((_pm_wide_bytes)found, (_pm_wide_bytes)entry,
                (long long)chosen);
    }
    return found;
}

static inline __attribute__((always_inline)) void _pm_look_up_wide(void *found, const uint16_t *places,
        ptrdiff_t count, const _pm_wide_table *table, int entries)
{
    uint8_t *const to = (uint8_t *)found;
    ptrdiff_t k = 0;
    for (; k + 64 <= count; k += 64) {
        const _pm_wide_row row = _pm_looked_up_wide(table, places + k, entries);
        memcpy(to + k, &row, sizeof row);
    }
    if (k < count) {
        uint16_t last[64] = {0};
        memcpy(last, places + k, (size_t)(count - k) * sizeof *last);
        const _pm_wide_row row = _pm_looked_up_wide(table, last, entries);
        memcpy(to + k, &row, (size_t)(count - k));
    }
}
#else
typedef struct {
    const uint8_t *entries;
} _pm_wide_table;

static inline void _pm_wide_table_of(_pm_wide_table *table, const void *from, int entries)
{
    (void)entries;
    table->entries = (const uint8_t *)from;
}

static inline void _pm_look_up_wide(void *found, const uint16_t *places, ptrdiff_t count,
        const _pm_wide_table *table, int entries)
{
    (void)entries;
    for (ptrdiff_t k = 0; k < count; k++)
        ((uint8_t *)found)[k] = table->entries[places[k]];
}
#endif
