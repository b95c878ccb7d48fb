/* The workspace of a library, between calls. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include "memory.h"
#include "shared.h"

/* Scratch memory: one block is kept between calls.  A caller takes the block out of the slot, so that another
   caller at the same time finds the slot empty and allocates its own.  A large block goes back to the system
   with the first call that needs less than an eighth of it, and after a call that was not short the system may
   take it before.  It is a mapping of its own, on huge pages where there are some: of small ones, in memory that
   malloc has from earlier on, telling the system so took 50 us, in which the other threads fell asleep. */
#define _PM_WORKSPACE_LARGE ((size_t)16 << 20)
#define _PM_WORKSPACE_PAGE ((size_t)2 << 20)
#define _PM_WORKSPACE_SHORT 2000000 /* nanoseconds of a call beside which telling it, 20 us, does count */

/* What is known of a block, in its first line: its room behind that, and when it was taken. */
typedef struct {
    size_t room;
    int64_t taken;
} _pm_workspace_head;

static _Atomic(void *) _pm_workspace_slot;
static _Thread_local size_t _pm_workspace_missing; /* the bytes that there were none of */

size_t _pm_missing_bytes(void);
size_t _pm_missing_bytes(void)
{
    return _pm_workspace_missing;
}

static int64_t _pm_workspace_clock(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Bytes of a mapping with that much room behind its head, in whole pages. */
static inline size_t _pm_workspace_whole(size_t room)
{
    return (room + 64 + _PM_WORKSPACE_PAGE - 1) / _PM_WORKSPACE_PAGE * _PM_WORKSPACE_PAGE;
}

/* Memory for a block; NULL where there is none. */
static void *_pm_workspace_fresh(size_t room)
{
    if (room < _PM_WORKSPACE_LARGE)
        return _pm_memory(room + 64);
    if (room > (size_t)PTRDIFF_MAX - 2 * _PM_WORKSPACE_PAGE)
        return NULL;
    const size_t whole = _pm_workspace_whole(room), mapped = whole + _PM_WORKSPACE_PAGE;
    char *const found = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)found & (_PM_WORKSPACE_PAGE - 1);
    if (before > 0)
        (void)munmap(found, before);
    (void)munmap(found + before + whole, _PM_WORKSPACE_PAGE - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(found + before, whole, MADV_HUGEPAGE);
#endif
    return found + before;
}

static void _pm_workspace_dropped(void *block)
{
    const size_t room = block == NULL ? 0 : ((_pm_workspace_head *)block)->room;
    if (room < _PM_WORKSPACE_LARGE)
        free(block);
    else
        (void)munmap(block, _pm_workspace_whole(room));
}

/* The room behind the head of a block. */
static void *_pm_workspace_room(_pm_workspace_head *block)
{
    if (block->room >= _PM_WORKSPACE_LARGE)
        block->taken = _pm_workspace_clock();
    return (char *)block + 64;
}

_PM_SHARED __attribute__((noinline)) void *_pm_workspace_found(size_t bytes)
{
    _pm_workspace_head *const block =
            atomic_exchange_explicit(&_pm_workspace_slot, NULL, memory_order_acquire);
    if (block != NULL) {
        if (block->room >= bytes && (block->room < _PM_WORKSPACE_LARGE || block->room / 8 <= bytes))
            return _pm_workspace_room(block);
        _pm_workspace_dropped(block);
    }
    _pm_workspace_head *const fresh = _pm_workspace_fresh(bytes);
    if (fresh == NULL) {
        _pm_workspace_missing = bytes;
        return NULL;
    }
    fresh->room = bytes;
    return _pm_workspace_room(fresh);
}

_PM_SHARED __attribute__((noinline)) void _pm_workspace_kept(void *workspace)
{
    char *const block = (char *)workspace - 64;
#ifdef MADV_FREE
    const _pm_workspace_head head = *(_pm_workspace_head *)(void *)block;
    const size_t page = _PM_WORKSPACE_PAGE;
    if (head.room >= _PM_WORKSPACE_LARGE && _pm_workspace_clock() - head.taken >= _PM_WORKSPACE_SHORT)
        /* But for the first page, which says how large it is. */
        (void)madvise(block + page, _pm_workspace_whole(head.room) - page, MADV_FREE);
#endif
    _pm_workspace_dropped(atomic_exchange_explicit(&_pm_workspace_slot, block, memory_order_acq_rel));
}

__attribute__((destructor)) static void _pm_workspace_free(void)
{
    _pm_workspace_dropped(atomic_exchange_explicit(&_pm_workspace_slot, NULL, memory_order_acquire));
}
