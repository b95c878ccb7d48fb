/* Routines of BLAS and FFT libraries, without depending on any when a program is linked.

   See `polymat.codegen.routines.librarylinks`.

   takes NAMES="cblas_dgemm", "cblas_sgemm"                         the names of the routines
   takes COUNT=2                                                    how many these are
   takes PLANNER=0|1                                                whether some of them make plans of FFTW
   takes FIND=found = _pm_routines_open("libcblas.so.3", 0, COUNT)  what sets `found` to whether all are there
*/
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "planner.h"

/* Routines of other libraries: polymat binds them when it loads this library, and the first call when it was
   loaded by another program. */
const char *const _pm_routine_names[] = {NAMES, NULL};
typedef void (*_pm_routine)(void);
static _pm_routine _pm_routines[COUNT];
static _Atomic int _pm_routines_bound;
void _pm_bind(const _pm_routine *addresses, void *planner)
{
    for (int i = 0; i < COUNT; i++)
        _pm_routines[i] = addresses[i];
#if PLANNER
    if (planner != NULL)
        _pm_planner = planner;
#else
    (void)planner;
#endif
    atomic_store_explicit(&_pm_routines_bound, 1, memory_order_release);
}

/* The routines from `first` up to `last` out of one library; 0 where it does not have them all. */
static int _pm_routines_in(void *library, int first, int last)
{
    for (int prefixed = 0; prefixed < 2; prefixed++) {
        int i = first;
        for (; i < last; i++) {
            char name[64] = "scipy_";
            strcpy(name + (prefixed ? 6 : 0), _pm_routine_names[i]);
            *(void **)&_pm_routines[i] = dlsym(library, name);
            if (_pm_routines[i] == NULL)
                break;
        }
        if (i == last)
            return 1;
    }
    return 0;
}

static int _pm_routines_open(const char *name, int first, int last)
{
    void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 0;
    int (*layer)(int) = NULL;
    *(void **)&layer = dlsym(library, "MKL_Set_Threading_Layer");
    if (layer != NULL)
        (void)layer(1); /* sequential */
    if (_pm_routines_in(library, first, last))
        return 1;
    dlclose(library);
    return 0;
}

/* The same from the files that a variable of the environment lists, or under the usual names where it lists
   none.  A BLAS is loaded to use one thread, because threads are ours. */
static int _pm_routines_from(const char *variable, const char *const *names, int first, int last)
{
    static const char *const alone[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"};
    const char *files = getenv(variable);
    int set[2], found = 0;
    for (int i = 0; i < 2; i++)
        set[i] = getenv(alone[i]) == NULL && setenv(alone[i], "1", 0) == 0;
    if (files == NULL || strchr(files, '/') == NULL)
        for (; *names != NULL && !found; names++)
            found = _pm_routines_open(*names, first, last);
    else
        for (size_t length; *files != '\0' && !found; files += length + (files[length] == ':')) {
            length = strcspn(files, ":");
            char *const file = strndup(files, length);
            found = file != NULL && _pm_routines_open(file, first, last);
            free(file);
        }
    for (int i = 0; i < 2; i++)
        if (set[i])
            unsetenv(alone[i]);
    return found;
}

static __attribute__((noinline)) int _pm_routines_find(void)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    int found = 1;
    pthread_mutex_lock(&once);
    if (!atomic_load_explicit(&_pm_routines_bound, memory_order_acquire)) {
        FIND;
        if (found)
            atomic_store_explicit(&_pm_routines_bound, 1, memory_order_release);
    }
    pthread_mutex_unlock(&once);
    return found;
}

/* Whether all routines are there; to be asked before the first one is called. */
static inline int _pm_routines_ready(void)
{
    return atomic_load_explicit(&_pm_routines_bound, memory_order_acquire) || _pm_routines_find();
}
