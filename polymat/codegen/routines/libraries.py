"""C through which generated code reaches BLAS and FFT libraries, without depending on any when it is linked.

A library that needs some exports two things besides its functions, see `polymat.codegen.c.abi`:

    const char *const _pm_routine_names[];             ends with NULL
    void _pm_bind(void (*const *addresses)(void), void *planner);

polymat fills the table of addresses when it loads the library.  A C program does not have to: the first call
then looks for a library itself, in the files that POLYMAT_BLAS or POLYMAT_FFT lists, separated by colons, if
there is a slash in it, else under the usual names; without one, the call returns `LIBRARY_MISSING` and has
done nothing.
"""

from __future__ import annotations

from polymat.codegen.routines.cblas import blas_routine_names, blas_wrapper
from polymat.codegen.routines.fftw import FFT_SHARED_TEXT, fft_text
from polymat.idiom.libraryroutines import fft_routine_names

# Precision of a need for transforms, and how FFTW calls it.
_FFT_NEEDS = {"fft_f64": "fftw", "fft_f32": "fftwf"}

# Of the first kind that is there, names under which the dynamic loader may find it.
_BLAS_NAMES = (
    "libopenblas.so.0",
    "libscipy_openblas.so",
    "libmkl_rt.so.3",
    "libmkl_rt.so.2",
    "libblis.so.4",
    "libcblas.so.3",
)
_FFT_NAMES = {"fftw": ("libfftw3.so.3",), "fftwf": ("libfftw3f.so.3",)}

_TABLE = """\
/* Routines of other libraries: polymat binds them when it loads this library, and the first call when it was
   loaded by another program. */
const char *const _pm_routine_names[] = {
    @NAMES@, NULL};
typedef void (*_pm_routine)(void);
static _pm_routine _pm_routines[@COUNT@];
static _Atomic int _pm_routines_bound;
@PLANNER@
void _pm_bind(const _pm_routine *addresses, void *planner)
{
    for (int i = 0; i < @COUNT@; i++)
        _pm_routines[i] = addresses[i];
@BIND_PLANNER@
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
        for (size_t length; *files != '\\0' && !found; files += length + (files[length] == ':')) {
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
@FIND@
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
"""
_FIND = """\
        static const char *const @KIND@[] = {
            @LIBRARIES@, NULL};
        found = found && _pm_routines_from("@VARIABLE@", @KIND@, @FIRST@, @LAST@);"""

HEADERS = ("dlfcn.h", "pthread.h", "stdatomic.h", "stdlib.h", "string.h")


def library_needs() -> frozenset[str]:
    """Every need that makes a library call routines of others."""
    return blas_routine_names() | frozenset(_FFT_NEEDS)


def routines_of(needs: frozenset[str] | set[str]) -> tuple[str, ...]:
    """The routines that these needs call, BLAS first, each kind in order: the table's order."""
    found = sorted(needs & blas_routine_names())
    for need, prefix in _FFT_NEEDS.items():
        if need in needs:
            found.extend(fft_routine_names(prefix))
    return tuple(found)


def library_text(needs: frozenset[str]) -> str:
    """The C text for all needs of `library_needs` among these; empty when there is none."""
    routines = routines_of(needs)
    if not routines:
        return ""
    blas = sum(name.startswith("cblas_") for name in routines)
    prefixes = [prefix for need, prefix in _FFT_NEEDS.items() if need in needs]
    text = _TABLE.replace("@FIND@", "\n".join(_finders(blas, prefixes)))
    text = text.replace("@PLANNER@\n", _PLANNER if prefixes else "")
    text = text.replace("@BIND_PLANNER@", _BIND_PLANNER if prefixes else "    (void)planner;")
    names = _wrapped([f'"{name}"' for name in routines])
    text = text.replace("@NAMES@", names).replace("@COUNT@", str(len(routines)))
    pieces = [text, *(blas_wrapper(name, slot) for slot, name in enumerate(routines[:blas]))]
    if prefixes:
        pieces.append(FFT_SHARED_TEXT)
    for prefix in prefixes:
        first = routines.index(fft_routine_names(prefix)[0])
        pieces.append(fft_text(prefix, first))
    return "\n".join(pieces)


def _finders(blas: int, prefixes: list[str]) -> list[str]:
    calls: list[tuple[str, str, tuple[str, ...], int, int]] = []
    if blas:
        calls.append(("blas", "POLYMAT_BLAS", _BLAS_NAMES, 0, blas))
    first = blas
    for prefix in prefixes:
        last = first + len(fft_routine_names(prefix))
        calls.append((prefix, "POLYMAT_FFT", _FFT_NAMES[prefix], first, last))
        first = last
    return [
        _FIND.replace("@KIND@", kind)
        .replace("@LIBRARIES@", ", ".join(f'"{name}"' for name in names))
        .replace("@VARIABLE@", variable)
        .replace("@FIRST@", str(start))
        .replace("@LAST@", str(end))
        for kind, variable, names, start, end in calls
    ]


def _wrapped(items: list[str]) -> str:
    lines = [", ".join(items[k : k + 4]) for k in range(0, len(items), 4)]
    return ",\n    ".join(lines)


# FFTW's planner may be used by one thread at a time, whichever library calls it: the lock is polymat's where
# polymat loaded the FFTW, else one that the program's libraries share by its name.  measured counts plans.
_PLANNER = """\
typedef struct { _Alignas(8) int measured; pthread_mutex_t lock; } _pm_planner_state;
__attribute__((weak)) _pm_planner_state _pm_planner_shared = {0, PTHREAD_MUTEX_INITIALIZER};
static _pm_planner_state *_pm_planner = &_pm_planner_shared;

"""
_BIND_PLANNER = """\
    if (planner != NULL)
        _pm_planner = planner;"""
