/* The workspace of a library, between calls. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "memory.h"
#include "shared.h"

/* Scratch memory: one block is kept between calls.  A caller takes the block out of the slot, so that another
   caller at the same time finds the slot empty and allocates its own.  A large block goes back to the system
   with the first call that needs less than an eighth of it, and the system may take it before. */
#define _PM_WORKSPACE_LARGE ((size_t)16 << 20)
static _Atomic(void *) _pm_workspace_slot;
static _Thread_local size_t _pm_workspace_missing; /* the bytes that there were none of */

size_t _pm_missing_bytes(void);
size_t _pm_missing_bytes(void)
{
    return _pm_workspace_missing;
}

_PM_SHARED __attribute__((noinline)) void *_pm_workspace_found(size_t bytes)
{
    const size_t head = 64;
    char *block = atomic_exchange_explicit(&_pm_workspace_slot, NULL, memory_order_acquire);
    if (block != NULL) {
        const size_t room = *(size_t *)(void *)block;
        if (room >= bytes && (room < _PM_WORKSPACE_LARGE || room / 8 <= bytes))
            return block + head;
        free(block);
    }
    char *const fresh = bytes > (size_t)PTRDIFF_MAX - head ? NULL : _pm_memory(bytes + head);
    if (fresh == NULL) {
        _pm_workspace_missing = bytes;
        return NULL;
    }
    *(size_t *)(void *)fresh = bytes;
    return fresh + head;
}

_PM_SHARED __attribute__((noinline)) void _pm_workspace_kept(void *workspace)
{
    char *const block = (char *)workspace - 64;
#ifdef MADV_FREE
    const size_t page = (size_t)2 << 20, room = *(size_t *)(void *)block;
    if (room >= _PM_WORKSPACE_LARGE) /* but for the first page, which says how large it is */
        (void)madvise(block + page, (room + 64 - page) / page * page, MADV_FREE);
#endif
    free(atomic_exchange_explicit(&_pm_workspace_slot, block, memory_order_acq_rel));
}

__attribute__((destructor)) static void _pm_workspace_free(void)
{
    free(atomic_exchange_explicit(&_pm_workspace_slot, NULL, memory_order_acquire));
}
