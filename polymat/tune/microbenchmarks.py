"""The C program that measures a machine: sweeps over data, multiply-adds, parallel regions."""

from __future__ import annotations

from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape
from polymat.machine.model import Machine
from polymat.product.blocks import register_family
from polymat.tune.blockbench import block_text
from polymat.tune.timing import CLOCK

# Every function returns seconds, or -1 where the team was refused.  Threads meet at a barrier before the
# clock is read, and it is read again when the last one is done.  A sweep goes in steps of 8 vectors at most.
_HEAD = """\
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef double vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float vecf __attribute__((vector_size(VECTOR_BYTES), may_alias));

@CLOCK@
/* Results go here so that nothing is computed for nothing. */
volatile double pm_sink;

/* Run STATEMENT on every thread of a team, after PREPARE, and be the time it took. */
#define TIMED(threads, PREPARE, STATEMENT) \\
    const int team = _pm_team(threads, 1.0, 0.0); \\
    double begin = 0.0, end = 0.0; \\
    int members = 0; \\
    if (team < threads) \\
        return -1.0; \\
    _Pragma("omp parallel num_threads(team)") \\
    { \\
        const int me = omp_get_thread_num(); \\
        (void)me; \\
        PREPARE; \\
        _Pragma("omp barrier") \\
        if (me == 0) { \\
            members = omp_get_num_threads(); \\
            begin = now(); \\
        } \\
        STATEMENT; \\
        _Pragma("omp barrier") \\
        if (me == 0) \\
            end = now(); \\
    } \\
    return members == threads ? end - begin : -1.0
"""

_MEMORY = """\
/* Memory for `threads` slices, each written first by the thread that will use it; NULL if there is none. */
void *pm_allocate(ptrdiff_t slice, int threads)
{
    const size_t huge = (size_t)2 << 20, bytes = (size_t)slice * (size_t)threads;
    void *block = NULL;
    if (posix_memalign(&block, huge, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    const int team = _pm_team(threads, 1.0, 0.0);
#pragma omp parallel for num_threads(team) schedule(static, 1)
    for (int part = 0; part < threads; part++) {
        double *x = (double *)((char *)block + part * slice);
        for (ptrdiff_t i = 0; i < slice / 8; i++)
            x[i] = 1.0;
    }
    return block;
}

void pm_free(void *block)
{
    free(block);
}

static void read_once(const char *data, ptrdiff_t bytes)
{
    const vec *x = (const vec *)data;
    const ptrdiff_t vectors = bytes / (ptrdiff_t)sizeof(vec);
    vec a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, a4 = {0}, a5 = {0}, a6 = {0}, a7 = {0};
    for (ptrdiff_t i = 0; i < vectors; i += 8) {
        a0 += x[i];
        a1 += x[i + 1];
        a2 += x[i + 2];
        a3 += x[i + 3];
        a4 += x[i + 4];
        a5 += x[i + 5];
        a6 += x[i + 6];
        a7 += x[i + 7];
    }
    const vec sum = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));
    __asm__ volatile("" : : "m"(sum) : "memory");
}

/* Scaled, so that no compiler makes a call of memcpy of it, which need not go through the caches. */
static void copy_once(const char *from, char *to, ptrdiff_t bytes, double factor)
{
    const vec *x = (const vec *)from;
    vec *y = (vec *)to;
    const ptrdiff_t vectors = bytes / (ptrdiff_t)sizeof(vec);
    for (ptrdiff_t i = 0; i < vectors; i += 4) {
        const vec b0 = x[i] * factor, b1 = x[i + 1] * factor;
        const vec b2 = x[i + 2] * factor, b3 = x[i + 3] * factor;
        y[i] = b0;
        y[i + 1] = b1;
        y[i + 2] = b2;
        y[i + 3] = b3;
    }
    __asm__ volatile("" : : : "memory");
}

static void read_often(const char *data, ptrdiff_t bytes, ptrdiff_t repeats)
{
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        read_once(data, bytes);
}

static void copy_often(const char *from, char *to, ptrdiff_t bytes, ptrdiff_t repeats, double factor)
{
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        copy_once(from, to, bytes, factor);
}

/* Thread t reads `bytes` from base + t * slice, `repeats` times; `warm` times before that unmeasured. */
double pm_read(const char *base, ptrdiff_t slice, ptrdiff_t bytes, ptrdiff_t repeats, ptrdiff_t warm,
               int threads)
{
    TIMED(threads, read_often(base + me * slice, bytes, warm), read_often(base + me * slice, bytes, repeats));
}

/* The same, reading `bytes` and writing as many at a distance of `apart` bytes. */
double pm_copy(char *base, ptrdiff_t slice, ptrdiff_t bytes, ptrdiff_t apart, ptrdiff_t repeats,
               ptrdiff_t warm, double factor, int threads)
{
    TIMED(threads, copy_often(base + me * slice, base + me * slice + apart, bytes, warm, factor),
          copy_often(base + me * slice, base + me * slice + apart, bytes, repeats, factor));
}
"""

_ARITHMETIC = """\
#define STEP(k) a##k = a##k * factor + term;
#define TWELVE(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define TWELVE_MORE(OP) \\
    OP(12) OP(13) OP(14) OP(15) OP(16) OP(17) OP(18) OP(19) OP(20) OP(21) OP(22) OP(23)
#if ACCUMULATORS == 24
#define EACH(OP) TWELVE(OP) TWELVE_MORE(OP)
#else
#define EACH(OP) TWELVE(OP)
#endif
/* Every one begins elsewhere, and the compiler may not know that they do the same. */
#define BEGIN(k) TYPE a##k = term * (ELEMENT)(k + 1); __asm__("" : "+m"(a##k));
#define ADD(k) sum += a##k;

#define MULTIPLY_ADDS(NAME, VECTOR, SCALAR) \\
    static double NAME(ptrdiff_t steps, double scale) \\
    { \\
        typedef VECTOR TYPE; \\
        typedef SCALAR ELEMENT; \\
        const TYPE factor = (TYPE){0} + (ELEMENT)scale, term = (TYPE){0} + (ELEMENT)(1.0 - scale); \\
        TYPE sum = {0}; \\
        EACH(BEGIN) \\
        for (ptrdiff_t step = 0; step < steps; step++) { \\
            EACH(STEP) \\
        } \\
        EACH(ADD) \\
        return (double)sum[0]; \\
    }

MULTIPLY_ADDS(multiply_adds_64, vec, double)
MULTIPLY_ADDS(multiply_adds_32, vecf, float)

double pm_flops64(ptrdiff_t steps, double scale, int threads)
{
    TIMED(threads, , pm_sink = multiply_adds_64(steps, scale));
}

double pm_flops32(ptrdiff_t steps, double scale, int threads)
{
    TIMED(threads, , pm_sink = multiply_adds_32(steps, scale));
}

/* Multiply-adds that wait for one another. */
double pm_chain(ptrdiff_t steps, double scale)
{
    vec a = (vec){0} + scale;
    const vec factor = (vec){0} + scale, term = (vec){0} + (1.0 - scale);
    const double begin = now();
    for (ptrdiff_t step = 0; step < steps; step++)
        a = a * factor + term;
    const double end = now();
    pm_sink = a[0];
    return end - begin;
}

/* Rotations that wait for one another, eight a step: they take one cycle each everywhere. */
double pm_clock(ptrdiff_t steps)
{
    uint64_t x = (uint64_t)steps;
    const double begin = now();
    for (ptrdiff_t step = 0; step < steps; step++) {
#define ROTATE x = x << 7 | x >> 57; __asm__ volatile("" : "+r"(x));
        ROTATE ROTATE ROTATE ROTATE ROTATE ROTATE ROTATE ROTATE
    }
    const double end = now();
    pm_sink = (double)x;
    return end - begin;
}

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
"""


def accumulators(machine: Machine) -> int:
    """Independent multiply-adds in a step of `pm_flops32` and `pm_flops64`."""
    return 24 if machine.vector_registers >= 32 else 12


def block_shapes(machine: Machine) -> tuple[Shape, ...]:
    """The register blocks that are measured, of both precisions."""
    return tuple(
        Shape(suffix, machine.vector_bits // 8, rows, vectors)
        for suffix in ("f32", "f64")
        for rows, vectors in register_family(machine)
    )


def source(machine: Machine) -> str:
    """The measuring program for the vectors of a machine."""
    defines = (
        f"#define VECTOR_BYTES {machine.vector_bits // 8}\n#define ACCUMULATORS {accumulators(machine)}\n"
    )
    return "\n".join(
        [
            prelude(frozenset({"team"})),
            defines + _HEAD.replace("@CLOCK@", CLOCK),
            _MEMORY,
            _ARITHMETIC,
            block_text(block_shapes(machine)),
        ]
    )
