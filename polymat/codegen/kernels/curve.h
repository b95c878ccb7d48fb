/* Measured times, for choices that are made at each call: the twin of `Grid.at` in Python. */
#pragma once

#include <math.h>

/* Seconds read from a grid of measurements: the logarithm is linear in those of the extents between levels,
   and beyond the last the time grows by a power.  levels: logarithms, of one axis after the other. */
static double _pm_curve(int axes, const int *counts, const int *powers, const float *levels,
        const float *seconds, const double *extents)
{
    int lower[4];
    double share[4], beyond = 0.0, sum = 0.0;
    for (int axis = 0; axis < axes; axis++) {
        const double place = extents[axis] > 1.0 ? log2(extents[axis]) : 0.0;
        const int last = counts[axis] - 1;
        int k = 0;
        while (k < last - 1 && (double)levels[k + 1] <= place)
            k++;
        const double way = (place - (double)levels[k]) / (double)(levels[k + 1] - levels[k]);
        lower[axis] = k;
        share[axis] = way < 1.0 ? way : 1.0;
        beyond += place > (double)levels[last] ? powers[axis] * (place - (double)levels[last]) : 0.0;
        levels += counts[axis];
    }
    for (int corner = 0; corner < 1 << axes; corner++) {
        double weight = 1.0;
        int point = 0;
        for (int axis = 0; axis < axes; axis++) {
            const int upper = corner >> axis & 1;
            weight *= upper ? share[axis] : 1.0 - share[axis];
            point = point * counts[axis] + lower[axis] + upper;
        }
        sum += weight * (double)seconds[point];
    }
    return exp2(sum + beyond);
}
