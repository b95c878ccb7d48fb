/* Elements of one byte of a table of at most 256 of them, at places of a byte each, for many points at once.

   A permutation of 16 bytes looks 32 places up in 16 entries, by their lowest four bits, and gives 0 where a
   place has its highest bit set.  Within each 64 entries a part holds what it differs by from the one before:
   the permutations of all parts that begin at the place or before it, combined, are the entry.  With AVX-512's
   permutations of bytes, one looks 64 places up in 128 entries. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512VBMI__) && defined(__GNUC__) && !defined(__clang__)
typedef uint8_t _pm_byte_row __attribute__((vector_size(64)));
typedef int8_t _pm_sign_row __attribute__((vector_size(64)));

typedef struct {
    _pm_byte_row parts[4];
} _pm_byte_table;

static inline void _pm_byte_table_of(_pm_byte_table *table, const void *from, int entries)
{
    uint8_t known[256] = {0};
    memcpy(known, from, (size_t)entries);
    memcpy((uint8_t *)table->parts, known, sizeof known);
}

static inline __attribute__((always_inline)) _pm_byte_row _pm_looked_up(const _pm_byte_table *table,
        _pm_byte_row places, int entries)
{
    if (entries <= 64)
        return __builtin_shuffle(table->parts[0], places);
    const _pm_byte_row low = __builtin_shuffle(table->parts[0], table->parts[1], places);
    if (entries <= 128)
        return low;
    const _pm_byte_row high = __builtin_shuffle(table->parts[2], table->parts[3], places);
    const _pm_byte_row above = (_pm_byte_row)((_pm_sign_row)places < 0);
    return (low & ~above) | (high & above);
}
#elif defined(__AVX2__)
typedef uint8_t _pm_byte_row __attribute__((vector_size(32)));
typedef uint8_t _pm_half_row __attribute__((vector_size(16)));
typedef char _pm_char_row __attribute__((vector_size(32)));

/* Parts of 16 entries, each in both halves of a vector. */
typedef struct {
    _pm_byte_row parts[16];
} _pm_byte_table;

static inline void _pm_byte_table_of(_pm_byte_table *table, const void *from, int entries)
{
    uint8_t known[256] __attribute__((aligned(32))) = {0};
    memcpy(known, from, (size_t)entries);
    _pm_half_row before = {0}, part;
    for (int k = 0; k < 4 * ((entries + 63) / 64); k++) {
        memcpy(&part, known + 16 * k, sizeof part);
        const _pm_half_row differs = k % 4 ? part ^ before : part;
        memcpy((uint8_t *)&table->parts[k], &differs, sizeof differs);
        memcpy((uint8_t *)&table->parts[k] + sizeof differs, &differs, sizeof differs);
        before = part;
    }
}

static inline _pm_byte_row _pm_permuted(_pm_byte_row part, _pm_byte_row places)
{
    return (_pm_byte_row)__builtin_ia32_pshufb256((_pm_char_row)part, (_pm_char_row)places);
}

/* The second where the highest bit of a byte is set. */
static inline _pm_byte_row _pm_chosen(_pm_byte_row first, _pm_byte_row second, _pm_byte_row bits)
{
    return (_pm_byte_row)__builtin_ia32_pblendvb256((_pm_char_row)first, (_pm_char_row)second,
            (_pm_char_row)bits);
}

static inline _pm_byte_row _pm_of_four(const _pm_byte_row *parts, _pm_byte_row places)
{
    return _pm_permuted(parts[0], places) ^ _pm_permuted(parts[1], places - 16)
            ^ _pm_permuted(parts[2], places - 32) ^ _pm_permuted(parts[3], places - 48);
}

static inline __attribute__((always_inline)) _pm_byte_row _pm_looked_up(const _pm_byte_table *table,
        _pm_byte_row places, int entries)
{
    if (entries <= 16)
        return _pm_permuted(table->parts[0], places);
    if (entries <= 64)
        return _pm_of_four(&table->parts[0], places);
    const _pm_byte_row within = places & 63, odd = places + places;
    const _pm_byte_row low =
            _pm_chosen(_pm_of_four(&table->parts[0], within), _pm_of_four(&table->parts[4], within), odd);
    if (entries <= 128)
        return low;
    const _pm_byte_row third = _pm_of_four(&table->parts[8], within);
    const _pm_byte_row high =
            entries <= 192 ? third : _pm_chosen(third, _pm_of_four(&table->parts[12], within), odd);
    return _pm_chosen(low, high, places);
}

#endif

#ifdef __AVX2__
/* found may be places. */
static inline __attribute__((always_inline)) void _pm_look_up(void *found, const void *places,
        ptrdiff_t count, const _pm_byte_table *table, int entries)
{
    const uint8_t *const at = (const uint8_t *)places;
    uint8_t *const to = (uint8_t *)found;
    _pm_byte_row row;
    ptrdiff_t k = 0;
    for (; k + (ptrdiff_t)sizeof row <= count; k += (ptrdiff_t)sizeof row) {
        memcpy(&row, at + k, sizeof row);
        row = _pm_looked_up(table, row, entries);
        memcpy(to + k, &row, sizeof row);
    }
    if (k < count) {
        row = (_pm_byte_row){0};
        memcpy(&row, at + k, (size_t)(count - k));
        row = _pm_looked_up(table, row, entries);
        memcpy(to + k, &row, (size_t)(count - k));
    }
}
#else
typedef struct {
    const uint8_t *entries;
} _pm_byte_table;

static inline void _pm_byte_table_of(_pm_byte_table *table, const void *from, int entries)
{
    (void)entries;
    table->entries = (const uint8_t *)from;
}

/* found may be places. */
static inline void _pm_look_up(void *found, const void *places, ptrdiff_t count, const _pm_byte_table *table,
        int entries)
{
    const uint8_t *const at = (const uint8_t *)places;
    (void)entries;
    for (ptrdiff_t k = 0; k < count; k++)
        ((uint8_t *)found)[k] = table->entries[at[k]];
}
#endif
