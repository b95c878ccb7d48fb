/* Neighbouring elements of 8 or 16 bits as one word of 32, anywhere in memory. */
#pragma once

#include <stdint.h>

typedef uint32_t _pm_word_memory __attribute__((aligned(1), may_alias));

static inline uint32_t _pm_word_load(const void *elements)
{
    return *(const _pm_word_memory *)elements;
}

static inline void _pm_word_store(void *elements, uint32_t word)
{
    *(_pm_word_memory *)elements = word;
}
