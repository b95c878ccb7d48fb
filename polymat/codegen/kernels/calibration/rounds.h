/* The least time of several rounds of calls.

   takes WARM=0.001  seconds of a call that is made at least twice: the first one finds its operands in memory
*/
#pragma once

#include <stddef.h>
#include "calibration/clock.h"

/* Rounds of `repeats` calls, each of about `sample` seconds, for `patience` seconds; the best time of a call. */
typedef struct {
    double sample, patience, best, spent;
    ptrdiff_t repeats;
    int round;
} rounds;

static rounds first_round(double sample, double patience)
{
    const rounds found = {sample, patience, 1e30, 0.0, 1, 0};
    return found;
}

static int another_round(const rounds *all)
{
    return all->round < 6 && (all->spent < all->patience || all->round < (all->best < WARM ? 2 : 1));
}

/* Say what a round took: one too short for the clock is made again with more calls, and nothing counts. */
static void note_round(rounds *all, double seconds)
{
    all->round++;
    if (seconds < all->sample / 2) {
        const double more = seconds > all->sample / 64 ? all->sample / seconds : 16.0;
        all->repeats = (ptrdiff_t)((double)all->repeats * more) + 1;
        all->round = all->repeats > 1 << 24 ? all->round : 0;
        return;
    }
    all->spent += seconds;
    if (seconds / (double)all->repeats < all->best)
        all->best = seconds / (double)all->repeats;
}

/* The best time of a statement; leaves `best`. */
#define ROUNDS(STATEMENT) \
    rounds all = first_round(sample, patience); \
    while (another_round(&all)) { \
        const double begin = now(); \
        for (ptrdiff_t call = 0; call < all.repeats; call++) { \
            STATEMENT; \
        } \
        note_round(&all, now() - begin); \
    } \
    const double best = all.best
