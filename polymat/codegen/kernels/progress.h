/* How far threads have come that follow each other through the same blocks, each a few blocks behind another. */
#pragma once

#include <stddef.h>
#include <time.h>

enum { _PM_AWAKE_TURNS = 1024, _PM_NAP_NANOSECONDS = 20000 };

/* The blocks that a thread is done with, on a line of the cache of its own. */
typedef struct {
    _Alignas(64) ptrdiff_t blocks;
} _pm_progress;

static inline void _pm_progress_tell(_pm_progress *mine, ptrdiff_t blocks)
{
    __atomic_store_n(&mine->blocks, blocks, __ATOMIC_RELEASE);
}

/* Wait until a thread is done with so many blocks: awake at first, for it is seldom far behind.  Where others
   keep it from running, whoever waits awake takes time from it, or from what this thread will need itself. */
static inline void _pm_progress_wait(const _pm_progress *other, ptrdiff_t blocks)
{
    const struct timespec nap = {0, _PM_NAP_NANOSECONDS};
    int turns = _PM_AWAKE_TURNS;
    while (__atomic_load_n(&other->blocks, __ATOMIC_ACQUIRE) < blocks) {
        if (turns == 0 || --turns == 0)
            (void)nanosleep(&nap, NULL);
#if defined(__x86_64__) || defined(__i386__)
        else
            __builtin_ia32_pause();
#elif defined(__aarch64__)
        else
            __asm__ volatile("yield");
#endif
    }
}
