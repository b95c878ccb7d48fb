"""C around FFTW: plans made once for each shape and kept, executed by several threads on arrays of their own.

The need "fft_f64" defines, and "fft_f32" with `fftwf` for `fftw`:

    _pm_fftw_plan *_pm_fftw_plan_for(kind, sign, rigour, rank, dims, batches, batch, in, out, alignment);
    void _pm_fftw_run(const _pm_fftw_plan *plan, const void *in, void *out);
    void _pm_fftw_done(_pm_fftw_plan *plan);

kind is `_PM_C2C` (complex to complex), `_PM_R2C` or `_PM_C2R`; sign -1 forward, 1 backward; rigour
`_PM_ESTIMATE` or `_PM_MEASURE`.  dims are the transformed dimensions with their extents (at least 1) and
their strides in elements of input and output, batch those over which transforms repeat; together at most
`_PM_FFT_DIMS`.  A plan is for arrays that are one, in == out, or two.  alignment is the bitwise or of every
address and every distance in bytes by which the arrays of later runs differ: measured, plans for arrays on 16
bytes are twice as fast.  The result is NULL when FFTW has no such plan or there is no memory.
`_pm_fftw_done` follows the last run.
Nothing is scaled, as in FFTW.  C2R keeps its input, which takes FFTW about a tenth longer.
"""

from __future__ import annotations


def fft_text(prefix: str, first: int) -> str:
    """The C text for one precision, whose routines are in the table from `first` on."""
    real = "double" if prefix == "fftw" else "float"
    return _TEXT.replace("@P@", prefix).replace("@REAL@", real).replace("@FIRST@", str(first))


FFT_SHARED_TEXT = """\
/* A dimension of a transform, as FFTW has it: extent, stride of the input, stride of the output. */
typedef struct { ptrdiff_t n, is, os; } _pm_fft_dim;

enum { _PM_C2C = 0, _PM_R2C = 1, _PM_C2R = 2 };
enum { _PM_FFT_DIMS = 6, _PM_FFT_KEPT = 256 };
enum { _PM_PATIENCE = 2 }; /* seconds to measure one plan: past them FFTW takes one that it estimates */
enum { _PM_MEASURE = 0, _PM_UNALIGNED = 1 << 1, _PM_PRESERVE_INPUT = 1 << 4, _PM_ESTIMATE = 1 << 6 };

/* What a plan is for: compared byte by byte, so zeroed before it is filled. */
typedef struct {
    int kind, sign, flags, inplace, rank, batches;
    _pm_fft_dim dims[_PM_FFT_DIMS];
} _pm_fft_key;

/* Elements that lie between the first and the last one, with both. */
static inline size_t _pm_fft_span(const _pm_fft_key *key, int output)
{
    size_t span = 1;
    for (int d = 0; d < key->rank + key->batches; d++)
        if (key->dims[d].n > 1)
            span += (size_t)(key->dims[d].n - 1) * (size_t)(output ? key->dims[d].os : key->dims[d].is);
    return span;
}
"""

_TEXT = """\
typedef struct _pm_@P@_plan {
    struct _pm_@P@_plan *next;
    void *plan;
    int kept;
    _pm_fft_key key;
} _pm_@P@_plan;

/* Plans that are kept: added in front under the planner's lock, read without. */
static _Atomic(_pm_@P@_plan *) _pm_@P@_plans;
static int _pm_@P@_count;

static _pm_@P@_plan *_pm_@P@_known(const _pm_fft_key *key)
{
    _pm_@P@_plan *plan = atomic_load_explicit(&_pm_@P@_plans, memory_order_acquire);
    while (plan != NULL && memcmp(&plan->key, key, sizeof *key) != 0)
        plan = plan->next;
    return plan;
}

static void *_pm_@P@_make(const _pm_fft_key *key, void *in, void *out)
{
    typedef const _pm_fft_dim dim;
    typedef void *(*plan_complex)(int, dim *, int, dim *, void *, void *, int, unsigned);
    typedef void *(*plan_real)(int, dim *, int, dim *, void *, void *, unsigned);
    const _pm_routine routine = _pm_routines[@FIRST@ + key->kind];
    dim *const batch = key->dims + key->rank;
    const unsigned flags = (unsigned)key->flags;
    if (key->kind == _PM_C2C)
        return ((plan_complex)routine)(key->rank, key->dims, key->batches, batch, in, out, key->sign, flags);
    return ((plan_real)routine)(key->rank, key->dims, key->batches, batch, in, out, flags);
}

/* A plan of which the arrays are only looked at by measuring, which overwrites them: it gets its own. */
static void *_pm_@P@_measure(const _pm_fft_key *key)
{
    void *in = NULL, *out = NULL, *plan = NULL;
    const size_t element = 2 * sizeof(@REAL@);
    const size_t inputs = _pm_fft_span(key, 0), outputs = _pm_fft_span(key, 1);
    if (posix_memalign(&in, 64, (inputs > outputs ? inputs : outputs) * element) != 0)
        return NULL;
    void (*const limit)(double) = (void (*)(double))_pm_routines[@FIRST@ + 7];
    limit(_PM_PATIENCE);
    if (key->inplace || posix_memalign(&out, 64, outputs * element) == 0)
        plan = _pm_@P@_make(key, in, key->inplace ? in : out);
    limit(-1.0); /* none */
    _pm_planner->measured += plan != NULL;
    free(in);
    free(out);
    return plan;
}

static _pm_@P@_plan *_pm_@P@_plan_for(int kind, int sign, int rigour, int rank, const _pm_fft_dim *dims,
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
    _pm_@P@_plan *plan = _pm_@P@_known(&key);
    if (plan != NULL)
        return plan;
    pthread_mutex_lock(&_pm_planner->lock);
    plan = _pm_@P@_known(&key);
    if (plan == NULL && (plan = malloc(sizeof *plan)) != NULL) {
        plan->key = key;
        plan->plan = rigour == _PM_ESTIMATE ? _pm_@P@_make(&key, in, out) : _pm_@P@_measure(&key);
        plan->kept = plan->plan != NULL && _pm_@P@_count < _PM_FFT_KEPT;
        if (plan->plan == NULL) {
            free(plan);
            plan = NULL;
        } else if (plan->kept) {
            _pm_@P@_count++;
            plan->next = atomic_load_explicit(&_pm_@P@_plans, memory_order_relaxed);
            atomic_store_explicit(&_pm_@P@_plans, plan, memory_order_release);
        }
    }
    pthread_mutex_unlock(&_pm_planner->lock);
    return plan;
}

static inline void _pm_@P@_run(const _pm_@P@_plan *plan, const void *in, void *out)
{
    typedef void execute(const void *, const void *, void *);
    ((execute *)_pm_routines[@FIRST@ + 3 + plan->key.kind])(plan->plan, in, out);
}

static void _pm_@P@_destroy(_pm_@P@_plan *plan)
{
    ((void (*)(void *))_pm_routines[@FIRST@ + 6])(plan->plan);
    free(plan);
}

/* A plan too many to be kept goes after its use. */
static inline void _pm_@P@_done(_pm_@P@_plan *plan)
{
    if (plan == NULL || plan->kept)
        return;
    pthread_mutex_lock(&_pm_planner->lock);
    _pm_@P@_destroy(plan);
    pthread_mutex_unlock(&_pm_planner->lock);
}

__attribute__((destructor)) static void _pm_@P@_plans_free(void)
{
    _pm_@P@_plan *plan = atomic_exchange_explicit(&_pm_@P@_plans, NULL, memory_order_acquire);
    while (plan != NULL) {
        _pm_@P@_plan *const next = plan->next;
        _pm_@P@_done((plan->kept = 0, plan));
        plan = next;
    }
}
"""
