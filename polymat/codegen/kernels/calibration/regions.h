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

/* Seconds of `regions` regions of which each thread computes its part of `count` numbers, that the calling
   thread has just written, and whose results it reads: what a region costs whose data changes cores. */
double pm_shares(double *x, ptrdiff_t count, int regions, int threads)
{
    double *const y = x + count;
    int members = 0;
    double begin = 0.0;
    for (int region = -1; region < regions; region++) {
        const int team = _pm_team(threads, 1.0, 0.0);
        if (team < threads)
            return -1.0;
        double sum = 0.0;
        for (ptrdiff_t i = 0; i < count; i++)
            x[i] = (double)(i + region);
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static, 1)
        for (int part = 0; part < team; part++) {
            if (part == 0)
                members = omp_get_num_threads();
            for (ptrdiff_t i = count * part / team; i < count * (part + 1) / team; i++)
                y[i] = 2.0 * x[i];
        }
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t i = 0; i < count; i++)
            sum += y[i];
        pm_sink = sum;
        if (region < 0)
            begin = now();
    }
    const double end = now();
    return members == threads ? end - begin : -1.0;
}
