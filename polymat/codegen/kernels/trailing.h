/* Threads take the steps of a sweep by turns, each a few blocks of rows behind the one of the step before. */
#pragma once

#include <stddef.h>
#include "progress.h"

/* done: of each thread.  member, members: of the team.  first: the step that the first of them begins with.
   low, blocks: the first block of a step, and how many there are.  ahead: blocks that the step before has
   to be further on. */
typedef struct {
    _pm_progress *done;
    ptrdiff_t member, members, first, low, blocks, ahead;
} _pm_trail;

/* Whether a step is one of this thread's. */
static inline int _pm_trail_takes(const _pm_trail *trail, ptrdiff_t step)
{
    return (step - trail->first) % trail->members == trail->member;
}

/* Wait until the step before is far enough ahead of a block. */
static inline void _pm_trail_wait(const _pm_trail *trail, ptrdiff_t step, ptrdiff_t block)
{
    const ptrdiff_t before = step - trail->first - 1, needed = block - trail->low + trail->ahead + 1;
    if (trail->members == 1 || before < 0)
        return;
    _pm_progress_wait(trail->done + before % trail->members,
            before / trail->members * trail->blocks + (needed < trail->blocks ? needed : trail->blocks));
}

/* Wait until the step before is done. */
static inline void _pm_trail_wait_all(const _pm_trail *trail, ptrdiff_t step)
{
    _pm_trail_wait(trail, step, trail->low + trail->blocks);
}

/* Tell the thread of the next step that all blocks before one are done. */
static inline void _pm_trail_tell(const _pm_trail *trail, ptrdiff_t step, ptrdiff_t block)
{
    if (trail->members > 1)
        _pm_progress_tell(trail->done + trail->member,
                (step - trail->first) / trail->members * trail->blocks + block - trail->low);
}

/* Tell it that a step is done, of which there may be fewer blocks than of others. */
static inline void _pm_trail_end(const _pm_trail *trail, ptrdiff_t step)
{
    _pm_trail_tell(trail, step, trail->low + trail->blocks);
}
