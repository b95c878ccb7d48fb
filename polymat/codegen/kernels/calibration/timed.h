/* What the functions that measure a machine have in common.

   Every one returns seconds, or -1 where the team was refused.  Threads meet at a barrier before the clock is
   read, and it is read again when the last one is done.

   takes VECTOR_BYTES=16|32|64  of a vector of the machine
*/
#pragma once

#include <stddef.h>
#include "team.h"
#include "calibration/clock.h"
#include "calibration/sink.h"

typedef double vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float vecf __attribute__((vector_size(VECTOR_BYTES), may_alias));

/* Run STATEMENT on every thread of a team, after PREPARE, and be the time it took. */
#define TIMED(threads, PREPARE, STATEMENT) \
    const int team = _pm_team(threads, 1.0, 0.0); \
    double begin = 0.0, end = 0.0; \
    int members = 0; \
    if (team < threads) \
        return -1.0; \
    _Pragma("omp parallel num_threads(team)") \
    { \
        const int me = omp_get_thread_num(); \
        (void)me; \
        PREPARE; \
        _Pragma("omp barrier") if (me == 0) \
        { \
            members = omp_get_num_threads(); \
            begin = now(); \
        } \
        STATEMENT; \
        _Pragma("omp barrier") if (me == 0) end = now(); \
    } \
    return members == threads ? end - begin : -1.0
