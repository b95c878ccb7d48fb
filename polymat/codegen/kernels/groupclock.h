/* When each group of the latest call began and ended: of an audit's libraries alone, one call at a time. */
#pragma once

#include <time.h>

/* Seconds: first when the first group began, then at its number when each ended. */
double _pm_group_ends[1024];

static inline void _pm_group_end(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    _pm_group_ends[number] = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
