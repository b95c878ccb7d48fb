/* How many threads a call uses: what polymat was told, and no more than OpenMP was told since.

   Who limits the threads of everything in a process (threadpoolctl, omp_set_num_threads in a program) lowers the
   number that OpenMP has for the calling thread.  Generated code names its number with every parallel region, so
   that lower number is asked for here. */
#include "_launch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* An OpenMP runtime, for the rest of the process: it is never unloaded. */
struct Runtime {
    Runtime *next;
    int (*most)(void); /* omp_get_max_threads */
    int unlimited;     /* what it says in a thread that nobody has limited */
};

static _Atomic(Runtime *) runtimes = NULL; /* the latest first */
static _Atomic int global_threads = 1;
/* glibc keeps a few bytes of this kind for libraries that come later; finding them takes no call. */
#ifdef __GLIBC__
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local int thread_override = 0;

static void *ask_in_new_thread(void *runtime)
{
    ((Runtime *)runtime)->unlimited = ((Runtime *)runtime)->most();
    return NULL;
}

const Runtime *threads_runtime(void *library)
{
    int (*most)(void);
    *(void **)&most = dlsym(library, "omp_get_max_threads"); /* of the library's own dependencies */
    if (most == NULL)
        return NULL;
    for (Runtime *known = atomic_load(&runtimes); known != NULL; known = known->next)
        if (known->most == most)
            return known;
    Runtime *found = malloc(sizeof *found);
    if (found == NULL)
        return NULL;
    found->most = most;
    pthread_t thread;
    if (pthread_create(&thread, NULL, ask_in_new_thread, found) == 0)
        pthread_join(thread, NULL);
    else
        found->unlimited = most();
    found->next = atomic_load(&runtimes);
    while (!atomic_compare_exchange_weak(&runtimes, &found->next, found))
        ;
    return found;
}

static __attribute__((noinline)) int limited(int threads, const Runtime *runtime)
{
    int most = runtime->most();
    return most < threads && most < runtime->unlimited ? most : threads;
}

int threads_of_call(int fixed, const Runtime *runtime)
{
    int threads = thread_override ? thread_override
                  : fixed         ? fixed
                                  : atomic_load_explicit(&global_threads, memory_order_relaxed);
    return threads <= 1 || runtime == NULL ? threads : limited(threads, runtime);
}

static int parse_threads(PyObject *object, long least)
{
    long threads = PyLong_AsLong(object);
    if (threads == -1 && PyErr_Occurred())
        return -1;
    if (threads >= least && threads <= INT_MAX)
        return (int)threads;
    PyErr_Format(PyExc_ValueError, "number of threads is %ld: expected at least %ld", threads, least);
    return -1;
}

PyObject *set_num_threads(PyObject *Py_UNUSED(module), PyObject *object)
{
    int threads = parse_threads(object, 1);
    if (threads < 0)
        return NULL;
    atomic_store_explicit(&global_threads, threads, memory_order_relaxed);
    Py_RETURN_NONE;
}

PyObject *get_num_threads(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLong(threads_of_call(0, atomic_load(&runtimes)));
}

static PyObject *replace_override(PyObject *object, long least)
{
    int threads = parse_threads(object, least);
    if (threads < 0)
        return NULL;
    int previous = thread_override;
    thread_override = threads;
    return PyLong_FromLong(previous);
}

PyObject *push_threads(PyObject *Py_UNUSED(module), PyObject *object)
{
    return replace_override(object, 1);
}

PyObject *pop_threads(PyObject *Py_UNUSED(module), PyObject *object)
{
    PyObject *replaced = replace_override(object, 0);
    if (replaced == NULL)
        return NULL;
    Py_DECREF(replaced);
    Py_RETURN_NONE;
}
