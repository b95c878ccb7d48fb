"""The C text of memory that a program allocates: aligned, kept for ever, and the workspace between calls."""

from __future__ import annotations

MEMORY = """\
/* Memory that begins on a cache line, and on a huge page if it is large enough; NULL where there is none. */
static inline void *_pm_memory(size_t bytes)
{
    const size_t huge = (size_t)2 << 20, align = bytes >= huge ? huge : 64;
    void *fresh = NULL;
    if (bytes > (size_t)PTRDIFF_MAX - huge)
        return NULL;
    const size_t total = (bytes + align - 1) / align * align;
    if (posix_memalign(&fresh, align, total) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == huge)
        (void)madvise(fresh, total, MADV_HUGEPAGE);
#endif
    return fresh;
}
"""

# Arrays that depend on no argument: whoever finds none computes them, and all keep those of whoever is first.
KEPT = """\
/* Arrays that are the same in every call, computed by the first one.  Who comes at the same time computes its
   own, so that nobody waits; those of the call that ends first stay. */
static _Atomic(char *) _pm_kept_memory;

/* Keep what a call has computed; what else is there to free when it ends. */
static inline char *_pm_kept_give(char *computed)
{
    char *none = NULL;
    return atomic_compare_exchange_strong(&_pm_kept_memory, &none, computed) ? NULL : computed;
}

__attribute__((destructor)) static void _pm_kept_free(void)
{
    free(atomic_exchange(&_pm_kept_memory, NULL));
}
"""

WORKSPACE = """\
/* Scratch memory: one block is kept between calls.  A caller takes the block out of the slot, so that another
   caller at the same time finds the slot empty and allocates its own.  A large block goes back to the system
   with the first call that needs less than an eighth of it, and the system may take it before. */
#define _PM_WORKSPACE_LARGE ((size_t)16 << 20)
static _Atomic(void *) _pm_workspace_slot;
static _Alignas(64) char _pm_workspace_none[64]; /* what a call gets that needs none */
static _Thread_local size_t _pm_workspace_missing; /* the bytes that there were none of */

size_t _pm_missing_bytes(void);
size_t _pm_missing_bytes(void)
{
    return _pm_workspace_missing;
}

static inline void *_pm_workspace_take(size_t bytes)
{
    if (bytes == 0)
        return _pm_workspace_none;
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

static inline void _pm_workspace_give(void *workspace)
{
    if (workspace == NULL || workspace == _pm_workspace_none)
        return;
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
"""
