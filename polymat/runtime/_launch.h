/* What the parts of the launcher share: the specification of a pipeline and the frame of one call. */
#ifndef POLYMAT_LAUNCH_H
#define POLYMAT_LAUNCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_20_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION /* handlers of memory */
#define PY_ARRAY_UNIQUE_SYMBOL polymat_launch_ARRAY_API
#ifndef POLYMAT_LAUNCH_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <stddef.h>
#include <stdint.h>

/* polymat/codegen/c/abi.py */
enum { ENTRY_OK = 0, ENTRY_OUT_OF_MEMORY = 1, ENTRY_LIBRARY_MISSING = 2, ENTRY_VALUES_OUTSIDE = 4 };
enum { SCALAR_SLOT_BYTES = 16 };
enum { MAX_RANK = 32 };

typedef int (*EntryFunction)(void *const *arrays, const ptrdiff_t *sizes, const void *scalars, int threads);
typedef double (*WorkFunction)(const ptrdiff_t *sizes);
typedef size_t (*MissingFunction)(void);
typedef const char *(*OutsideFunction)(void);

/* How a step of a call ended.  REFUSED: the arguments are wrong and Python words the error, so an exception
   that may be set is dropped.  RAISED: the exception that is set goes to the caller. */
typedef enum { DONE = 0, REFUSED, RAISED } Status;

typedef struct {
    ptrdiff_t coefficient;
    Py_ssize_t symbol;
} Term;

/* floor((constant + sum of terms) / divisor); divisor > 0. */
typedef struct {
    ptrdiff_t constant, divisor;
    Py_ssize_t n_terms;
    Py_ssize_t plain; /* the symbol that the whole row is, or -1 */
    Term *terms;
} Row;

typedef struct {
    PyObject *name;
    PyArray_Descr *dtype;
    Py_ssize_t rank;
    int zero_fill;
    int contiguous;        /* NumPy's flag for how the kernel reads it: by rows or by columns */
    _Atomic char reported; /* that it is copied at each call: what alone changes after construction */
    Row *extents;
    Row *written_from; /* NULL where what is written is no rectangle */
    Py_ssize_t *pitches; /* NULL, or the symbol of each dimension but the first; -1: as many as it has points */
} ArraySpec;

enum { BY_NAME = -1, PITCH = -2 };

/* A size: floor((rest + coefficient * size) / rest.divisor) is an extent, or it has a slot (array is BY_NAME), or
   is a pitch (array is PITCH), which is set once all arrays lie as they will be read. */
typedef struct {
    Py_ssize_t array, dim, slot;
    ptrdiff_t least;
    ptrdiff_t coefficient;
    Row rest;
} SizeSpec;

typedef struct {
    char kind; /* 'i', 'u', 'f' or 'c' */
    int bytes;
} ScalarSpec;

typedef struct Block Block;
typedef struct Runtime Runtime;

/* Immutable after construction, but for `reported`: calls may run concurrently. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    void *library;
    EntryFunction entry;
    WorkFunction work;
    MissingFunction missing; /* NULL in libraries without intermediate arrays */
    const char *intermediates; /* these in words */
    OutsideFunction outside; /* NULL in libraries without inputs whose values were declared */
    const Runtime *openmp; /* NULL: the library has no threads */
    PyObject *name;
    Block *blocks; /* memory of everything below */
    Py_ssize_t n_slots, n_positional, n_inputs, n_outputs, n_arrays, n_sizes, n_symbols, n_steps, n_scalars;
    Py_ssize_t n_constraints;
    PyObject **names;       /* of the slots: inputs, scalars, sizes without an array, "out"; interned */
    Py_ssize_t *positional; /* slot of each positional argument */
    ArraySpec *arrays;      /* inputs, outputs */
    SizeSpec *sizes;
    Row *derived;      /* of the symbols after the sizes */
    Py_ssize_t *steps; /* symbols in the order in which they can be computed */
    ScalarSpec *scalars;
    char *inplace; /* [input * n_outputs + output] */
    Row *constraints;
    int threads;
    ptrdiff_t limit; /* of every size: keeps the index arithmetic of generated code from overflowing */
    size_t frame_bytes, frame_zeroed;
} Launcher;

/* The scratch memory of one call. */
typedef struct {
    PyObject **slots;       /* borrowed; NULL where nothing was given */
    PyArrayObject **arrays; /* the caller's view of inputs and outputs; NULL: output still to be allocated */
    PyArrayObject **keep;   /* owned: packed copies and new outputs */
    void **data;
    ptrdiff_t *symbols;
    char *scalars;
} Frame;

static inline int is_plain(PyArrayObject *array, const ArraySpec *spec)
{
    const int wanted = spec->contiguous | NPY_ARRAY_ALIGNED;
    return (PyArray_FLAGS(array) & wanted) == wanted;
}

/* _launch_spec.c */
int launcher_parse(Launcher *launcher, PyObject *spec);
void launcher_release(Launcher *launcher);

/* _launch_bind.c */
Status bind_scalars(const Launcher *launcher, Frame *frame);
Status bind_inputs(const Launcher *launcher, Frame *frame);
Status bind_outputs(const Launcher *launcher, Frame *frame);

/* _launch_numpy.c: the table of NumPy's functions, which all parts use. */
int numpy_ready(void);

/* _launch_memory.c */
Status check_overlaps(Launcher *launcher, Frame *frame);
Status prepare_memory(const Launcher *launcher, Frame *frame);
Status write_back(const Launcher *launcher, Frame *frame);

/* _launch_pitch.c */
int lies_in_rows(const ArraySpec *spec, PyArrayObject *array, ptrdiff_t limit);
void find_pitches(const Launcher *launcher, Frame *frame, Py_ssize_t i);

static inline int lies_as_read(const Launcher *launcher, Py_ssize_t i, PyArrayObject *array)
{
    const ArraySpec *spec = &launcher->arrays[i];
    return spec->pitches == NULL ? is_plain(array, spec) : lies_in_rows(spec, array, launcher->limit);
}

/* Set the sizes that are pitches of an input, once it is known whether it is copied. */
static inline void set_pitches(const Launcher *launcher, Frame *frame, Py_ssize_t i)
{
    if (launcher->arrays[i].pitches != NULL)
        find_pitches(launcher, frame, i);
}

/* _launch_recycle.c */
int recycle_ready(void);
/* Keep at most so many bytes of freed results; 0 keeps none. */
void recycle_limit(size_t bytes);
size_t recycle_kept(void);
/* Around the allocation of an array of so many bytes; -1: an exception is set. */
int recycle_begin(size_t bytes, PyObject **previous);
/* Whether the array that was allocated last by this thread begins as zeros. */
int recycle_fresh(void);
void recycle_end(PyObject *previous);

/* _launch_threads.c */
/* The OpenMP runtime that a library calls, or NULL. */
const Runtime *threads_runtime(void *library);
/* `fixed`: the number of the pipeline, or 0. */
int threads_of_call(int fixed, const Runtime *runtime);
PyObject *set_num_threads(PyObject *module, PyObject *object);
PyObject *get_num_threads(PyObject *module, PyObject *ignored);
PyObject *push_threads(PyObject *module, PyObject *object);
PyObject *pop_threads(PyObject *module, PyObject *object);

/* _launch_rows.c */
Status row_value(const Row *row, const ptrdiff_t *symbols, ptrdiff_t *value);
Status size_from_extent(const SizeSpec *size, const ptrdiff_t *symbols, ptrdiff_t extent, ptrdiff_t *value);

#endif
