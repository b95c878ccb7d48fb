"""The C text at the head of every generated library: only what the library needs, in a fixed order.

`prelude(needs)` takes names: "workspace", "kept", "team", the headers "math", "string", "complex", those of
`polymat.codegen.c.arithmetic`: "floordiv_i32", say, defines `_pm_floordiv_i32`, and "reduction_min_f64"
declares the OpenMP reduction `_pm_min_f64`.  Those of `polymat.codegen.routines.libraries` call routines of
BLAS and FFT libraries: "cblas_dgemm" defines `_pm_cblas_dgemm`.  "gemm_f64_64x8x3" asks for the products of
matrices of `polymat.codegen.products.gemm`, with these register blocks; "filter_f64_8x16x4" for the filters
of `polymat.codegen.signals.filterblocks`, "recursive_f64_8_0x1x2_1x2" for those of
`polymat.codegen.signals.recursiveblocks`; "rows_f32x16" for the vectors of `polymat.codegen.c.rows`,
"lines_f32x16" for their stores of `polymat.codegen.c.lines`; "argument" reads arguments; "products" are
complex ones by clang; "processor" asks what the processor has.

Why `team` is more than `num_threads`, each measured with libgomp: a refused thread ends the process; a forked
child hangs in its first parallel region; and two threads of a team that wake up on one core (the other being
busy with a spinning BLAS thread, say) stay there, at half speed or worse, while regions follow each other.
"""

from __future__ import annotations

from polymat.codegen.c.apart import Apart, Files, apart
from polymat.codegen.c.arithmetic import arithmetic, arithmetic_names
from polymat.codegen.c.lines import lines_text
from polymat.codegen.c.processor import processor_text
from polymat.codegen.c.rows import rows_text
from polymat.codegen.functions.library import function_names, functions_text
from polymat.codegen.loops.extremes import extremes_text
from polymat.codegen.loops.lanesums import lane_sums_text
from polymat.codegen.loops.singlesums import single_sums_text
from polymat.codegen.memory.allocated import KEPT, MEMORY, WORKSPACE
from polymat.codegen.products.blockcost import BLOCKS_HELPER
from polymat.codegen.products.blockshape import joined
from polymat.codegen.products.gemm import gemm_text
from polymat.codegen.routines.curve import CURVE_HEADERS, CURVE_HELPER
from polymat.codegen.routines.libraries import HEADERS as LIBRARY_HEADERS
from polymat.codegen.routines.libraries import library_needs, library_text
from polymat.codegen.signals.filterblocks import filter_text
from polymat.codegen.signals.recursiveblocks import recursive_text
from polymat.errors import InternalError

_HEADERS = ("complex", "math", "string")

_TEAM = """\
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
static __attribute__((noinline)) int _pm_team_probe(int threads)
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
static __attribute__((noinline)) void _pm_team_spread(int threads)
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

/* Threads a parallel region may use. */
static inline int _pm_team(int threads, double work, double threshold)
{
    if (threads <= 1 || work < threshold || omp_in_parallel())
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

/* When the last call on this thread that weighed threads came to its end, in nanoseconds. */
static _Thread_local int64_t _pm_team_left;
#define _PM_TEAM_SPIN 25000 /* nanoseconds that idle threads wait awake */

static inline int64_t _pm_team_clock(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether calls follow each other so closely that threads with a share of the work stay awake meanwhile. */
static inline int _pm_team_awake(void)
{
    return _pm_team_weighed == 2 || _pm_team_clock() - _pm_team_left < _PM_TEAM_SPIN;
}

/* How many calls share their work out at this moment. */
static _Atomic int _pm_team_calls;
static _Thread_local int _pm_team_counted;

/* Pieces that work is worth: those whose sharing saves more than an awake region costs.  They depend on
   sizes and the number of threads alone, so that sums over them are added up in the same order every time. */
static inline int _pm_team_pieces(int threads, double work, double awake)
{
    return threads > 1 && work * (threads - 1) >= awake * threads ? threads : 1;
}

/* Threads that it pays to use now: with the team asleep sharing must save more, and calls that run at the
   same time divide the processor among themselves. */
static inline int _pm_team_paying(int threads, double work, double awake, double asleep)
{
    if (_pm_team_pieces(threads, work, awake) == 1)
        return 1;
    const int pays = work * (threads - 1) >= asleep * threads || _pm_team_awake();
    int team = pays ? _pm_team(threads, work, 0.0) : 1;
    if (team > 1) {
        if (!_pm_team_counted) {
            _pm_team_counted = 1;
            (void)atomic_fetch_add_explicit(&_pm_team_calls, 1, memory_order_relaxed);
        }
        const int calls = atomic_load_explicit(&_pm_team_calls, memory_order_relaxed);
        team = team > calls ? team / calls : 1;
    }
    if (team > 1 || _pm_team_weighed == 0)
        _pm_team_weighed = team > 1 ? 2 : 1;
    return team;
}

/* The end of a call. */
static inline void _pm_team_leave(void)
{
    if (_pm_team_weighed != 0)
        _pm_team_left = _pm_team_clock();
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
"""

_PLACE = """\
/* An extent as a number of elements: never negative, and no overflow in products. */
static inline double _pm_extent(ptrdiff_t extent)
{
    return extent > 0 ? (double)extent : 0.0;
}

/* Reserve bytes, if any, behind those reserved before, on a cache line of their own; more than can exist
   stays so. */
static inline size_t _pm_place(size_t *reserved, double bytes)
{
    const size_t at = *reserved;
    const size_t limit = (size_t)PTRDIFF_MAX;
    if (at >= limit || bytes >= 4e18)
        *reserved = limit;
    else if (bytes > 0.0)
        *reserved = at + (((size_t)bytes + 127) / 64) * 64;
    return at;
}
"""

_ARGUMENT = """\
/* An argument, read on its own: the caller has written them one by one a moment ago, and a load of two at a
   time, which a compiler makes of their loads, waits until both stores are in the cache. */
#define _PM_ARGUMENT(element) (*(const volatile __typeof__(element) *)&(element))
"""

_PRODUCTS = """\
#ifdef __clang__
/* clang's own complex products end in a call of these, by name, where both parts are NaN, which looks for the
   infinities of C's Annex G.  Here they are the textbook's formula again: as NumPy's, and no call is left. */
__attribute__((always_inline)) inline double _Complex __muldc3(double a, double b, double c, double d)
{
    return __builtin_complex(a * c - b * d, a * d + b * c);
}

__attribute__((always_inline)) inline float _Complex __mulsc3(float a, float b, float c, float d)
{
    return __builtin_complex(a * c - b * d, a * d + b * c);
}
#endif
"""

_PIECES = {
    "argument": _ARGUMENT,
    "products": _PRODUCTS,
    "memory": MEMORY,
    "workspace": WORKSPACE,
    "kept": KEPT,
    "processor": processor_text(),
    "place": _PLACE,
    "team": _TEAM,
    "curve": CURVE_HELPER,
    "blocks": BLOCKS_HELPER,
}
_PIECE_HEADERS: dict[str, tuple[str, ...]] = {
    "argument": (),
    "products": (),
    "place": (),
    "processor": (),
    "curve": CURVE_HEADERS,
    "blocks": CURVE_HEADERS,
    "memory": ("stdlib.h", "sys/mman.h"),
    "workspace": ("stdatomic.h", "stdlib.h"),
    "kept": ("stdatomic.h", "stdlib.h"),
    "team": ("omp.h", "pthread.h", "sched.h", "stdatomic.h", "stdlib.h", "time.h"),
}


# Vectors of elements of rows: what begins the names of needs, and their texts, each after those that it uses.
_ROWS = (
    ("rows_", rows_text),
    ("lines_", lines_text),
    ("sums_", lane_sums_text),
    ("total_", single_sums_text),
    ("extremes_", extremes_text),
)


def prelude(needs: frozenset[str], *, whole: bool = True) -> str:
    """The includes and definitions that the named needs ask for, and nothing else.

    whole: with what may be compiled apart; else that is what `parts` gives.
    """
    blocks = {need for need in needs if need.startswith("gemm_")}
    rows = [(make, need) for prefix, make in _ROWS for need in sorted(needs) if need.startswith(prefix)]
    filters = sorted(need for need in needs if need.startswith("filter_"))
    recursive = sorted(need for need in needs if need.startswith("recursive_"))
    several = {*blocks, *filters, *recursive, *(need for _, need in rows)}
    known = {*_HEADERS, *_PIECES, *several} | arithmetic_names() | function_names() | library_needs()
    unknown = sorted(needs - known)
    if unknown:
        raise InternalError(f"bug in polymat: the C prelude has no {', '.join(unknown)}")
    takes = {"memory"} if needs & {"workspace", "kept"} else set()
    wanted = [name for name in _PIECES if name in needs | takes]
    functions = [*arithmetic(needs), *functions_text(needs)]
    libraries = library_text(needs)
    headers = {"stddef.h", "stdint.h"}
    headers.update(f"{name}.h" for name in _HEADERS if name in needs)
    headers.update(header for name in wanted for header in _PIECE_HEADERS[name])
    if functions:
        headers.add("math.h")
    if libraries:
        headers.update(LIBRARY_HEADERS)
    includes = "".join(f"#include <{header}>\n" for header in sorted(headers))
    if "team" in wanted or libraries:
        includes = "#define _GNU_SOURCE\n" + includes
    texts = [*(_PIECES[name] for name in wanted), *functions, *(make(need) for make, need in rows)]
    texts += [text.whole if whole else text.program for text in _products(needs)]
    texts += map(filter_text, filters)
    texts += map(recursive_text, recursive)
    text = "\n".join([includes, *texts, *filter(None, [libraries])])
    return text if whole else apart(text)


def stateless(needs: frozenset[str]) -> frozenset[str]:
    """The needs of which every file of a program may have what they ask for."""
    state = {"team", "workspace", "kept"} | library_needs()
    return frozenset(need for need in needs if need not in state and not need.startswith("gemm_"))


def parts(needs: frozenset[str]) -> Files:
    """C files of the parts that may be compiled apart, the same for all programs with the same needs."""
    return sum((text.files for text in _products(needs)), Files(()))


def _products(needs: frozenset[str]) -> list[Apart]:
    return [gemm_text(need) for need in joined(need for need in needs if need.startswith("gemm_"))]
