/* Plans of FFTW for one type: made once for each shape and kept.

   See `polymat.codegen.routines.fftw`.

   takes T=float / double  the type of a real value
   takes NAME(name)        functions and types of that type
   takes FIRST=0           where its routines are in the table of routines
*/
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "routines.h"
#include "planner.h"
#include "fftdimensions.h"

typedef struct NAME(plan) {
    struct NAME(plan) *next;
    void *plan;
    int kept;
    _pm_fft_key key;
} NAME(plan);

/* Plans that are kept: added in front under the planner's lock, read without. */
static _Atomic(NAME(plan) *) NAME(plans);
static int NAME(count);

static NAME(plan) *NAME(known)(const _pm_fft_key *key)
{
    NAME(plan) *plan = atomic_load_explicit(&NAME(plans), memory_order_acquire);
    while (plan != NULL && memcmp(&plan->key, key, sizeof *key) != 0)
        plan = plan->next;
    return plan;
}

static void *NAME(make)(const _pm_fft_key *key, void *in, void *out)
{
    typedef const _pm_fft_dim dim;
    typedef void *(*plan_complex)(int, dim *, int, dim *, void *, void *, int, unsigned);
    typedef void *(*plan_real)(int, dim *, int, dim *, void *, void *, unsigned);
    const _pm_routine routine = _pm_routines[FIRST + key->kind];
    dim *const batch = key->dims + key->rank;
    const unsigned flags = (unsigned)key->flags;
    if (key->kind == _PM_C2C)
        return ((plan_complex)routine)(key->rank, key->dims, key->batches, batch, in, out, key->sign, flags);
    return ((plan_real)routine)(key->rank, key->dims, key->batches, batch, in, out, flags);
}

/* A plan of which the arrays are only looked at by measuring, which overwrites them: it gets its own. */
static void *NAME(measure)(const _pm_fft_key *key)
{
    void *in = NULL, *out = NULL, *plan = NULL;
    const size_t element = 2 * sizeof(T);
    const size_t inputs = _pm_fft_span(key, 0), outputs = _pm_fft_span(key, 1);
    if (posix_memalign(&in, 64, (inputs > outputs ? inputs : outputs) * element) != 0)
        return NULL;
    void (*const limit)(double) = (void (*)(double))_pm_routines[FIRST + 7];
    limit(_PM_PATIENCE);
    if (key->inplace || posix_memalign(&out, 64, outputs * element) == 0)
        plan = NAME(make)(key, in, key->inplace ? in : out);
    limit(-1.0); /* none */
    _pm_planner->measured += plan != NULL;
    free(in);
    free(out);
    return plan;
}

static NAME(plan) *NAME(plan_for)(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims,
        int batches, const _pm_fft_dim *batch, void *in, void *out, uintptr_t alignment)
{
    _pm_fft_key key;
    if (rank + batches > _PM_FFT_DIMS)
        return NULL;
    memset(&key, 0, sizeof key);
    key.kind = kind;
    key.sign = kind == _PM_C2C ? sign : 0;
    key.flags = rigour | (alignment % 16 == 0 ? 0 : _PM_UNALIGNED);
    key.flags |= kind == _PM_C2R ? _PM_PRESERVE_INPUT : 0;
    key.inplace = in == out;
    key.rank = rank;
    key.batches = batches;
    memcpy(key.dims, dims, (size_t)rank * sizeof *dims);
    if (batches > 0)
        memcpy(key.dims + rank, batch, (size_t)batches * sizeof *batch);
    NAME(plan) *plan = NAME(known)(&key);
    if (plan != NULL)
        return plan;
    pthread_mutex_lock(&_pm_planner->lock);
    plan = NAME(known)(&key);
    if (plan == NULL && (plan = malloc(sizeof *plan)) != NULL) {
        plan->key = key;
        plan->plan = rigour == _PM_ESTIMATE ? NAME(make)(&key, in, out) : NAME(measure)(&key);
        plan->kept = plan->plan != NULL && NAME(count) < _PM_FFT_KEPT;
        if (plan->plan == NULL) {
            free(plan);
            plan = NULL;
        } else if (plan->kept) {
            NAME(count)++;
            plan->next = atomic_load_explicit(&NAME(plans), memory_order_relaxed);
            atomic_store_explicit(&NAME(plans), plan, memory_order_release);
        }
    }
    pthread_mutex_unlock(&_pm_planner->lock);
    return plan;
}

static inline void NAME(run)(const NAME(plan) *plan, const void *in, void *out)
{
    typedef void execute(const void *, const void *, void *);
    ((execute *)_pm_routines[FIRST + 3 + plan->key.kind])(plan->plan, in, out);
}

static void NAME(destroy)(NAME(plan) *plan)
{
    ((void (*)(void *))_pm_routines[FIRST + 6])(plan->plan);
    free(plan);
}

/* A plan too many to be kept goes after its use. */
static inline void NAME(done)(NAME(plan) *plan)
{
    if (plan == NULL || plan->kept)
        return;
    pthread_mutex_lock(&_pm_planner->lock);
    NAME(destroy)(plan);
    pthread_mutex_unlock(&_pm_planner->lock);
}

__attribute__((destructor)) static void NAME(plans_free)(void)
{
    NAME(plan) *plan = atomic_exchange_explicit(&NAME(plans), NULL, memory_order_acquire);
    while (plan != NULL) {
        NAME(plan) *const next = plan->next;
        NAME(done)((plan->kept = 0, plan));
        plan = next;
    }
}
