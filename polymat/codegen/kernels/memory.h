/* Aligned memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

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
