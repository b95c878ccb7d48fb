/* FFTW's planner may be used by one thread at a time, whichever library calls it: the lock is polymat's where
   polymat loaded the FFTW, else one that the program's libraries share by its name.  measured counts plans. */
#pragma once

#include <pthread.h>
#include <stddef.h>

typedef struct {
    _Alignas(8) int measured;
    pthread_mutex_t lock;
} _pm_planner_state;
__attribute__((weak)) _pm_planner_state _pm_planner_shared = {0, PTHREAD_MUTEX_INITIALIZER};
static _pm_planner_state *_pm_planner = &_pm_planner_shared;
