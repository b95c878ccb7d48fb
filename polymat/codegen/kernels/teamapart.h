/* Teams of threads: whether they can be had, where they sit, when they pay, and what is left of them in a fork.

   A parallel region of libgomp alone has three faults: a refused thread ends the process; a forked child hangs
   in its first region; and two threads of a team that wake up on one core (the other being busy with a spinning
   thread of a BLAS, say) stay there, at half speed or worse, while regions follow each other. */
#pragma once

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include "shared.h"

/* The largest team this thread knows it can have: 0 not asked yet, 1 more threads were refused. */
static _Thread_local int _pm_team_known;

/* When this thread last looked whether its team sits on different cores: once a millisecond is enough. */
static _Thread_local struct timespec _pm_team_checked;
#define _PM_TEAM_SPREAD 256

static void *_pm_team_member(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* libgomp ends the process when it is refused a thread, so ask first: have as many threads as the team needs.
   Two more than that are asked for, because threads that have ended are counted for a little while. */
static __attribute__((noinline, cold)) int _pm_team_probe(int threads)
{
    pthread_t *made = malloc(((size_t)threads + 1) * sizeof *made);
    if (made == NULL)
        return 1;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int count = 0;
    pthread_mutex_lock(&gate);
    while (count <= threads && pthread_create(&made[count], NULL, _pm_team_member, &gate) == 0)
        count++;
    pthread_mutex_unlock(&gate);
    for (int member = 0; member < count; member++)
        pthread_join(made[member], NULL);
    free(made);
    return count > threads ? threads : 1;
}

/* Have no two threads of the team on one core: move away, and be free to run anywhere again at once. */
static __attribute__((noinline, cold)) void _pm_team_spread(int threads)
{
    int core[_PM_TEAM_SPREAD];
#pragma omp parallel num_threads(threads)
    {
        const int me = omp_get_thread_num();
        int shared = 0;
        cpu_set_t all, others;
        core[me] = sched_getcpu();
#pragma omp barrier
        for (int other = 0; other < me; other++)
            shared |= core[other] == core[me];
        if (shared && sched_getaffinity(0, sizeof all, &all) == 0) {
            others = all;
            for (int other = 0; other < omp_get_num_threads(); other++)
                if (core[other] >= 0)
                    CPU_CLR((size_t)core[other], &others);
            if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
                (void)sched_setaffinity(0, sizeof all, &all);
        }
    }
}

/* Threads a parallel region may use, where there are several. */
_PM_SHARED __attribute__((noinline)) int _pm_team_had(int threads)
{
    if (omp_in_parallel())
        return 1;
    if (__builtin_expect(_pm_team_known < threads, 0)) {
        if (_pm_team_known != 1)
            _pm_team_known = _pm_team_probe(threads);
        if (_pm_team_known == 1)
            return 1;
    }
    struct timespec now;
    if (threads <= _PM_TEAM_SPREAD && clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0
            && (now.tv_sec != _pm_team_checked.tv_sec || now.tv_nsec - _pm_team_checked.tv_nsec > 1000000)) {
        _pm_team_checked = now;
        _pm_team_spread(threads);
    }
    return threads;
}

/* Whether this call has weighed threads: 1 when it stayed alone for all groups so far, 2 when it did not. */
static _Thread_local int _pm_team_weighed;

/* Until when idle threads wait awake for this thread's next work, in nanoseconds. */
static _Thread_local int64_t _pm_team_until;
#define _PM_TEAM_SPIN 150000 /* nanoseconds that idle threads wait awake, as in runtime/openmp.py */

static inline int64_t _pm_team_clock(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Until when threads wait awake that have begun to share some work: waking takes half as long as waiting, and
   as long as the work that it is worth by itself. */
static int64_t _pm_team_waits(int64_t begin, int team, double work, double asleep)
{
    const double most = 3600e9, lasts = asleep > 0 ? _PM_TEAM_SPIN / 2 * work / asleep / team : 0;
    return begin + (int64_t)(lasts < most ? lasts : most) + _PM_TEAM_SPIN;
}

/* How many calls share their work out at this moment. */
static _Atomic int _pm_team_calls;
static _Thread_local int _pm_team_counted;

/* How often what is weighed next is done, one step after the other: a team wakes up once for all of them. */
static _Thread_local double _pm_team_repeated = 1.0;

_PM_SHARED __attribute__((noinline)) void _pm_team_times(double times)
{
    _pm_team_repeated = times;
}

/* Threads that it pays to use now for what is worth an awake region: with the team asleep sharing must save
   more, and by itself where they fell asleep since this call woke them; and calls that run at the same time
   divide the processor among themselves. */
_PM_SHARED __attribute__((noinline)) int _pm_team_worth(int threads, double work, double asleep)
{
    const int64_t now = _pm_team_clock();
    const int awake = now < _pm_team_until;
    const double all = _pm_team_weighed == 2 && !awake ? work : work * _pm_team_repeated;
    const int pays = awake || all * (threads - 1) >= asleep * threads;
    int team = pays ? _pm_team_had(threads) : 1;
    if (team > 1) {
        if (!_pm_team_counted) {
            _pm_team_counted = 1;
            (void)atomic_fetch_add_explicit(&_pm_team_calls, 1, memory_order_relaxed);
        }
        const int calls = atomic_load_explicit(&_pm_team_calls, memory_order_relaxed);
        team = team > calls ? team / calls : 1;
    }
    if (team > 1)
        _pm_team_until = _pm_team_waits(now, team, work, asleep);
    if (team > 1 || _pm_team_weighed == 0)
        _pm_team_weighed = team > 1 ? 2 : 1;
    return team;
}

/* The end of a call: of several that follow each other closely, which are small, the second one wakes threads. */
_PM_SHARED __attribute__((noinline)) void _pm_team_leave(void)
{
    if (_pm_team_weighed != 0)
        _pm_team_until = _pm_team_clock() + _PM_TEAM_SPIN;
    _pm_team_weighed = 0;
    if (_pm_team_counted)
        (void)atomic_fetch_sub_explicit(&_pm_team_calls, 1, memory_order_relaxed);
    _pm_team_counted = 0;
}

/* The threads of a team do not exist in a forked child, where libgomp would wait for them for ever: let the
   team of the forking thread go before.  Parent and child both start a new one when they need it. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
static void _pm_team_before_fork(void)
{
    _pm_team_known = 0;
    if (omp_get_level() == 0)
        (void)omp_pause_resource_all(omp_pause_hard);
}

#else
#define _pm_team_before_fork NULL
#endif

/* Calls of other threads do not go on in a child. */
static void _pm_team_in_child(void)
{
    atomic_store_explicit(&_pm_team_calls, 0, memory_order_relaxed);
}

__attribute__((constructor)) static void _pm_team_register(void)
{
    (void)pthread_atfork(_pm_team_before_fork, NULL, _pm_team_in_child);
}
