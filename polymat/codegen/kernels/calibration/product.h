/* Whole products of matrices, timed: by register blocks, and by a BLAS of which every thread calls a part.

   Threads share the rows of the result, its columns or both, as generated code has them.  Operands lie one behind the
   other, each 16 bytes behind the begin of a page, as NumPy has large ones, and then memory for packed ones.

   takes T                     the type of an element
   takes NAME(name)            functions and types of that type
   takes TIMER=pm_product_made  the name of the function
   takes ROOM=pm_room_made      and of that which says how much memory it takes
   takes OWN(m, n, k, step, a, b, c, packed)=((void)(m), (void)(n), (void)(k), (void)(a), (void)(b), (void)(packed), (c)[step] = 0)  a product by register blocks
   takes CALL(m, n, k, step, a, b, c)=((void)(m), (void)(n), (void)(k), (void)(a), (void)(b), (c)[step] = 0)  one by the BLAS
   takes PACKED(m, n, k)=(8.0 * (m) * (n) + (k))  bytes of packed operands
   takes ROWS=6                 of a register block
   takes LANES=4                of its vectors
*/
#pragma once

#include <stddef.h>
#include <time.h>
#include "grid.h"
#include "team.h"

/* A product of m x k by k x n elements: where its operands and what it packs lie, bytes of that a thread; whether
   threads share the columns of the result, and whether the BLAS computes it. */
typedef struct {
    ptrdiff_t m, n, k;
    T *a, *b, *c;
    char *packed;
    size_t each;
    int across, calls;
} NAME(timed);

/* So many elements in whole pages. */
static size_t NAME(pages)(ptrdiff_t elements)
{
    const size_t page = 4096;
    return ((size_t)elements * sizeof(T) + 16 + page - 1) / page * page;
}

static size_t NAME(packed_bytes)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k)
{
    return (size_t)PACKED((double)m, (double)n, (double)k) / 4096 * 4096 + 8192;
}

/* Bytes that so many threads take for a product. */
double ROOM(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, int threads)
{
    const size_t operands = NAME(pages)(m * k) + NAME(pages)(k * n) + NAME(pages)(m * n);
    return (double)(operands + (size_t)threads * NAME(packed_bytes)(m, n, k));
}

/* Where part `part` of `parts` of a range of whole units begins. */
static ptrdiff_t NAME(begin_of)(ptrdiff_t length, ptrdiff_t unit, ptrdiff_t part, ptrdiff_t parts)
{
    const ptrdiff_t begin = (length + unit - 1) / unit * part / parts * unit;
    return begin < length ? begin : length;
}

/* The part of a thread: whole register blocks of rows, columns, or of both. */
static void NAME(timed_part)(const NAME(timed) *all, int me, int threads)
{
    const ptrdiff_t across = all->across, high = all->calls ? 1 : ROWS;
    const ptrdiff_t wide = all->calls || threads < _PM_LEAST_GRID ? 1 : LANES;
    const ptrdiff_t down = all->calls ? threads
            : across                  ? _pm_grid_down(threads, all->n, wide, 1.0, all->m, high, 1.0)
                                      : _pm_grid_down(threads, all->m, high, 1.0, all->n, wide, 1.0);
    const ptrdiff_t first = me / (threads / down), second = me % (threads / down);
    const ptrdiff_t row = across ? second : first, rows = across ? threads / down : down;
    const ptrdiff_t column = across ? first : second, columns = across ? down : threads / down;
    const ptrdiff_t i = NAME(begin_of)(all->m, high, row, rows),
                    i_end = NAME(begin_of)(all->m, high, row + 1, rows);
    const ptrdiff_t j = NAME(begin_of)(all->n, wide, column, columns),
                    j_end = NAME(begin_of)(all->n, wide, column + 1, columns);
    T *const a = all->a + i * all->k, *const b = all->b + j, *const c = all->c + i * all->n + j;
    if (i >= i_end || j >= j_end)
        return;
    if (all->calls)
        CALL(i_end - i, j_end - j, all->k, all->n, a, b, c);
    else
        OWN(i_end - i, j_end - j, all->k, all->n, a, b, c,
                (T *)(void *)(all->packed + (size_t)me * all->each));
}

/* Seconds of the processor that this thread has used. */
static double NAME(used)(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds of so many products, or -1 where the team was refused: those of the processor, which others that run
   meanwhile do not count to, of the thread with most in each; memory: at the begin of a page. */
double TIMER(int calls, int across, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t repeats, int threads,
        char *memory)
{
    char *const b = memory + NAME(pages)(m * k), *const c = b + NAME(pages)(k * n);
    const NAME(timed) all = {m, n, k, (T *)(void *)(memory + 16), (T *)(void *)(b + 16),
            (T *)(void *)(c + 16), c + NAME(pages)(m * n), NAME(packed_bytes)(m, n, k), across, calls};
    const int team = _pm_team(threads, 1.0, 0.0);
    double spent = 0.0;
    if (team < threads)
        return -1.0;
    if (team == 1) {
        const double begin = NAME(used)();
        for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
            NAME(timed_part)(&all, 0, 1);
        return NAME(used)() - begin;
    }
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++) {
        double longest = 0.0;
#pragma omp parallel num_threads(team) reduction(max : longest)
        {
            const double begin = NAME(used)();
            NAME(timed_part)(&all, omp_get_thread_num(), omp_get_num_threads());
            longest = NAME(used)() - begin;
        }
        spent += longest;
    }
    return spent;
}
