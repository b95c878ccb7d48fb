/* Memory written past the caches, a line at a time, from where it was computed. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define _PM_PAST_BYTES 64
#define _PM_PAST_STORE __builtin_ia32_movntps512
#elif defined(__AVX__)
#define _PM_PAST_BYTES 32
#define _PM_PAST_STORE __builtin_ia32_movntps256
#else
#define _PM_PAST_BYTES 16
#define _PM_PAST_STORE __builtin_ia32_movntps
#endif

#if defined(__SSE2__) && (defined(__GNUC__) || defined(__clang__))
#define _PM_PASTS 1
typedef float _pm_past_vector __attribute__((vector_size(_PM_PAST_BYTES)));
typedef _pm_past_vector _pm_past_memory __attribute__((aligned(1), may_alias));

/* Whole lines are not fetched before they are replaced; what is left of those at both ends is. */
static inline void _pm_past_copy(void *to, const void *from, size_t bytes)
{
    char *const begin = (char *)to;
    const char *const source = (const char *)from;
    const size_t first = (size_t)(-(uintptr_t)to % 64);
    size_t at = first < bytes ? first : bytes;
    if (at > 0)
        memcpy(begin, source, at);
    for (; at + 64 <= bytes; at += 64) {
        for (int k = 0; k < 64; k += _PM_PAST_BYTES) {
            const _pm_past_vector line = *(const _pm_past_memory *)(source + at + k);
#if defined(__clang__)
            __builtin_nontemporal_store(line, (_pm_past_vector *)(void *)(begin + at + k));
#else
            _PM_PAST_STORE((float *)(void *)(begin + at + k), line);
#endif
        }
    }
    if (at < bytes)
        memcpy(begin + at, source + at, bytes - at);
}

/* To be called behind them, before other threads are told that they are there. */
static inline void _pm_past_fence(void)
{
    __builtin_ia32_sfence();
}
#else
#define _PM_PASTS 0
static inline void _pm_past_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static inline void _pm_past_fence(void)
{
}
#endif

/* How many elements of so many bytes lie before the first one that begins a line. */
static inline ptrdiff_t _pm_past_turn(const void *from, ptrdiff_t bytes)
{
    return (ptrdiff_t)(-(uintptr_t)from % 64) / bytes;
}
