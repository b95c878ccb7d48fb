/* Memory of large results: what a result leaves behind when it is freed is kept for the next one.

   The system clears every page that it hands out, which takes as long as writing a result a second time and
   more.  NumPy lets an array say who frees its memory (NEP 49), so results of compiled functions come back. */
#include "_launch.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { KEPT_REGIONS = 32 };
static const size_t PAGE = (size_t)1 << 16;      /* a multiple of the pages of every system */
static const size_t LARGE = (size_t)96 << 10;    /* of arrays: below, the C library has memory at hand */
static const size_t OFFERED = (size_t)16 << 20;  /* from here on the system may have what is kept */
enum { AGAIN = 20 };                             /* milliseconds for which it is not told again */
static const size_t HUGE_PAGE = (size_t)2 << 20; /* of x86 and ARM; elsewhere only an alignment */

/* The page before the data of an array.  Data begins with a page, or a huge one: those of NumPy's own begin
   right behind, and loads that run ahead of stores then meet none with the same last digits (1.06). */
typedef struct {
    size_t capacity;   /* bytes of data; the mapping has a page more */
    long long offered; /* when the system was told last that it may have it, in milliseconds; 0: never */
} Region;

/* The latest last.  Whoever finds the lock taken does without what is kept: that way nobody waits, and nothing
   hangs in a child that was forked while another thread held it. */
static atomic_flag taken = ATOMIC_FLAG_INIT;
static struct {
    Region *region;
    size_t capacity; /* also here, so that a search looks into no region */
} kept[KEPT_REGIONS];
static int n_kept = 0;
static size_t kept_bytes = 0;
static _Thread_local int fresh = 0; /* whether the latest memory that was handed out is all zero */
static _Atomic size_t kept_limit = SIZE_MAX; /* SIZE_MAX: not asked for yet */

static int lock(void)
{
    return !atomic_flag_test_and_set_explicit(&taken, memory_order_acquire);
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&taken, memory_order_release);
}

static void *data_of(Region *region)
{
    return (char *)region + PAGE;
}

static Region *region_of(void *data)
{
    return (Region *)(void *)((char *)data - PAGE);
}

static void unmap(Region *region)
{
    munmap(region, region->capacity + PAGE);
}

static Region *take_at(int index)
{
    Region *found = kept[index].region;
    kept_bytes -= found->capacity;
    n_kept--;
    memmove(&kept[index], &kept[index + 1], (size_t)(n_kept - index) * sizeof *kept);
    return found;
}

/* Have at most so many bytes and regions: those that have waited longest go. */
static void shrink_to(size_t bytes, int regions)
{
    while (n_kept > 0 && (kept_bytes > bytes || n_kept > regions))
        unmap(take_at(0));
}

/* The capacity for an array: an eighth of it at most is in vain, so that results of nearly one size can follow
   each other.  0: more than there are addresses. */
static size_t capacity_for(size_t bytes)
{
    if (bytes > PTRDIFF_MAX / 2)
        return 0;
    size_t step = 4096;
    while (step * 16 <= bytes)
        step *= 2;
    return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

/* A fresh mapping, on huge pages where it fills some; NULL where there is no memory. */
static Region *map(size_t capacity)
{
    const size_t bytes = capacity + PAGE, spare = capacity < HUGE_PAGE ? 0 : HUGE_PAGE;
    char *found = mmap(NULL, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return NULL;
    const size_t before = spare == 0 ? 0 : -((uintptr_t)found + PAGE) & (HUGE_PAGE - 1);
    if (before > 0)
        munmap(found, before);
    if (spare > before)
        munmap(found + before + bytes, spare - before);
    Region *region = (Region *)(void *)(found + before);
#ifdef MADV_HUGEPAGE
    if (spare > 0)
        (void)madvise(data_of(region), capacity, MADV_HUGEPAGE);
#endif
    region->capacity = capacity;
    region->offered = 0;
    return region;
}

/* The latest kept region that fits, or NULL. */
static Region *find(size_t bytes)
{
    Region *found = NULL;
    if (!lock())
        return NULL;
    for (int i = n_kept; found == NULL && i-- > 0;)
        if (bytes <= kept[i].capacity && kept[i].capacity - bytes <= bytes / 8)
            found = take_at(i);
    unlock();
    return found;
}

/* Let the system take the memory when it has none left: until then nothing is lost.  Huge pages cost little (64
   MiB: 14 us); small ones at the end, and those of small regions, would cost more than they are.  Where other
   processors run threads of this process they are told as well, which takes up to 70 us, in which threads that
   share calls out fall asleep: so not after each of many calls. */
static void offer(Region *region)
{
#ifdef MADV_FREE
    struct timespec time = {0};
    if (region->capacity < OFFERED || clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return;
    const long long now = (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000 + 1;
    if (region->offered > 0 && now - region->offered < AGAIN)
        return;
    region->offered = now;
    (void)madvise(data_of(region), region->capacity / HUGE_PAGE * HUGE_PAGE, MADV_FREE);
#else
    (void)region;
#endif
}

static void *recycle_malloc(void *Py_UNUSED(context), size_t bytes)
{
    const size_t capacity = capacity_for(bytes);
    if (capacity == 0)
        return NULL;
    Region *region = find(capacity);
    fresh = region == NULL;
    if (region == NULL)
        region = map(capacity);
    if (region == NULL && lock()) { /* a limit on addresses: what is kept counts too */
        shrink_to(0, 0);
        unlock();
        region = map(capacity);
    }
    return region == NULL ? NULL : data_of(region);
}

static void *recycle_calloc(void *context, size_t count, size_t each)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes))
        return NULL;
    void *data = recycle_malloc(context, bytes);
    return data == NULL || fresh ? data : memset(data, 0, bytes);
}

static void recycle_free(void *Py_UNUSED(context), void *data, size_t Py_UNUSED(bytes))
{
    if (data == NULL)
        return;
    Region *region = region_of(data);
    const size_t limit = atomic_load_explicit(&kept_limit, memory_order_relaxed);
    if (region->capacity > limit || !lock()) {
        unmap(region);
        return;
    }
    offer(region);
    shrink_to(limit - region->capacity, KEPT_REGIONS - 1);
    kept_bytes += region->capacity;
    kept[n_kept].region = region;
    kept[n_kept++].capacity = region->capacity;
    unlock();
}

static void *recycle_realloc(void *context, void *data, size_t bytes)
{
    if (data == NULL)
        return recycle_malloc(context, bytes);
    const size_t there = region_of(data)->capacity;
    if (bytes <= there && there / 2 <= bytes)
        return data;
    void *moved = recycle_malloc(context, bytes);
    if (moved != NULL) {
        memcpy(moved, data, bytes < there ? bytes : there);
        recycle_free(context, data, 0);
    }
    return moved;
}

static PyDataMem_Handler handler = {
        "polymat_recycle",
        1,
        {NULL, recycle_malloc, recycle_calloc, recycle_realloc, recycle_free},
};
static PyObject *capsule = NULL; /* of the handler */

int recycle_ready(void)
{
    if (capsule == NULL)
        capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    return capsule == NULL ? -1 : 0;
}

void recycle_limit(size_t bytes)
{
    atomic_store_explicit(&kept_limit, bytes, memory_order_relaxed);
    if (lock()) {
        shrink_to(bytes, KEPT_REGIONS);
        unlock();
    }
}

size_t recycle_kept(void)
{
    size_t bytes = 0;
    if (lock()) {
        bytes = kept_bytes;
        unlock();
    }
    return bytes;
}

/* How much to keep is asked for when there is something to keep; -1: an exception is set. */
static int learn_limit(void)
{
    if (atomic_load_explicit(&kept_limit, memory_order_relaxed) != SIZE_MAX)
        return 0;
    PyObject *module = PyImport_ImportModule("polymat.runtime.recycling");
    PyObject *answer = module == NULL ? NULL : PyObject_CallMethod(module, "kept_limit", NULL);
    const size_t limit = answer == NULL ? SIZE_MAX : PyLong_AsSize_t(answer);
    Py_XDECREF(module);
    Py_XDECREF(answer);
    if (PyErr_Occurred())
        return -1;
    recycle_limit(limit);
    return 0;
}

int recycle_begin(size_t bytes, PyObject **previous)
{
    *previous = NULL;
    if (bytes < LARGE)
        return 0;
    if (learn_limit() < 0)
        return -1;
    if (atomic_load_explicit(&kept_limit, memory_order_relaxed) < bytes)
        return 0;
    PyObject *current = PyDataMem_GetHandler();
    Py_XDECREF(current);
    if (current != NULL && current != PyDataMem_DefaultHandler) /* somebody's choice stays */
        return 0;
    *previous = current == NULL ? NULL : PyDataMem_SetHandler(capsule);
    return *previous == NULL ? -1 : 0;
}

int recycle_fresh(void)
{
    return fresh;
}

void recycle_end(PyObject *previous)
{
    PyObject *type, *value, *traceback;
    if (previous == NULL)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(PyDataMem_SetHandler(previous));
    Py_DECREF(previous);
    PyErr_Restore(type, value, traceback);
}
