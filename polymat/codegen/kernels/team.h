/* What programs ask about their threads; the answers are of teamapart.h, which may be compiled apart. */
#pragma once

#include <omp.h>
#include "shared.h"

_PM_SHARED int _pm_team_had(int threads);
_PM_SHARED int _pm_team_worth(int threads, double work, double asleep);
_PM_SHARED void _pm_team_times(double times);
_PM_SHARED void _pm_team_leave(void);

/* Threads a parallel region may use. */
static inline int _pm_team(int threads, double work, double threshold)
{
    return threads <= 1 || work < threshold ? 1 : _pm_team_had(threads);
}

/* Pieces that work is worth: those whose sharing saves more than an awake region costs.  They depend on
   sizes and the number of threads alone, so that sums over them are added up in the same order every time. */
static inline int _pm_team_pieces(int threads, double work, double awake)
{
    return threads > 1 && work * (threads - 1) >= awake * threads ? threads : 1;
}

/* Threads that it pays to use now. */
static inline int _pm_team_paying(int threads, double work, double awake, double asleep)
{
    return _pm_team_pieces(threads, work, awake) == 1 ? 1 : _pm_team_worth(threads, work, asleep);
}
