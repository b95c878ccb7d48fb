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

/* The seconds of a group that does nothing: the least of many times between two readings of the clock. */
double _pm_reading_seconds(void);
double _pm_reading_seconds(void)
{
    double least = 1.0;
    for (int turn = 0; turn < 256; turn++) {
        _pm_group_end(0);
        _pm_group_end(1);
        const double between = _pm_group_ends[1] - _pm_group_ends[0];
        least = between < least ? between : least;
    }
    return least;
}
