/* What a parallel region costs. */
#pragma once

#include <unistd.h>
#include "calibration/timed.h"

/* Seconds that `regions` parallel regions take, `pause` microseconds apart, pauses not counted; one more
   goes before, which finds or makes the team. */
double pm_regions(int regions, int pause, int threads)
{
    double spent = 0.0;
    int members = 0;
    for (int region = -1; region < regions; region++) {
        if (pause > 0)
            usleep((unsigned)pause);
        const double begin = now();
        const int team = _pm_team(threads, 1.0, 0.0);
        if (team < threads)
            return -1.0;
#pragma omp parallel num_threads(team)
        {
            if (omp_get_thread_num() == 0)
                members = omp_get_num_threads();
            __asm__ volatile("" : : : "memory");
        }
        if (region >= 0)
            spent += now() - begin;
    }
    return members == threads ? spent : -1.0;
}
