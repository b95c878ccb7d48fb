/* Which arrays share memory, and the temporaries for arrays that a kernel cannot take as they are. */
#include "_launch.h"

#include <string.h>

static const size_t REPORTED = (size_t)1 << 20; /* bytes; a smaller copy is a matter of some microseconds */

/* The bytes an array spans: [low, high), empty when it has no element. */
typedef struct {
    uintptr_t low, high;
} Span;

static inline Span span_of(PyArrayObject *array)
{
    Span span = {(uintptr_t)PyArray_DATA(array), (uintptr_t)PyArray_DATA(array)};
    if (PyArray_IS_C_CONTIGUOUS(array)) {
        npy_intp bytes = PyArray_ITEMSIZE(array); /* PyArray_NBYTES is a call */
        for (int d = 0; d < PyArray_NDIM(array); d++)
            bytes *= PyArray_DIM(array, d);
        span.high += (uintptr_t)bytes;
        return bytes == 0 ? (Span){0, 0} : span;
    }
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        if (PyArray_DIM(array, d) == 0)
            return (Span){0, 0};
        npy_intp reach = PyArray_STRIDE(array, d) * (PyArray_DIM(array, d) - 1);
        *(reach < 0 ? &span.low : &span.high) += (uintptr_t)reach;
    }
    span.high += (uintptr_t)PyArray_ITEMSIZE(array);
    return span;
}

/* The same elements in the same order: then a kernel may work in place, or on a copy of the input. */
static int same_view(PyArrayObject *a, PyArrayObject *b)
{
    if (PyArray_DATA(a) != PyArray_DATA(b) || PyArray_NDIM(a) != PyArray_NDIM(b)
        || PyArray_ITEMSIZE(a) != PyArray_ITEMSIZE(b))
        return 0;
    for (int d = 0; d < PyArray_NDIM(a); d++) {
        if (PyArray_DIM(a, d) != PyArray_DIM(b, d))
            return 0;
        if (PyArray_DIM(a, d) > 1 && PyArray_STRIDE(a, d) != PyArray_STRIDE(b, d))
            return 0;
    }
    return 1;
}

/* DONE: disjoint; REFUSED: some byte is in both. */
static Status check_disjoint(Launcher *launcher, PyArrayObject *a, PyArrayObject *b)
{
    if (PyArray_IS_C_CONTIGUOUS(a) && PyArray_IS_C_CONTIGUOUS(b))
        return REFUSED;
    PyObject *answer = PyObject_CallMethod((PyObject *)launcher, "_shares_memory", "OO", a, b);
    if (answer == NULL)
        return RAISED;
    Status status = answer == Py_False ? DONE : REFUSED;
    Py_DECREF(answer);
    return status;
}

/* Whether two indices may lead to one element: sorted, each stride must step over all smaller ones. */
static int overlaps_itself(PyArrayObject *array)
{
    npy_intp strides[MAX_RANK], dims[MAX_RANK];
    int n = 0;
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        npy_intp stride = PyArray_STRIDE(array, d), dim = PyArray_DIM(array, d);
        if (dim == 0)
            return 0;
        if (dim == 1)
            continue;
        stride = stride < 0 ? -stride : stride;
        int at = n++;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            dims[at] = dims[at - 1];
        }
        strides[at] = stride;
        dims[at] = dim;
    }
    npy_intp reach = PyArray_ITEMSIZE(array);
    for (int d = 0; d < n; d++) {
        if (strides[d] < reach)
            return 1;
        reach += strides[d] * (dims[d] - 1);
    }
    return 0;
}

/* The bytes of an array; 0 where they are more than NumPy allows. */
static size_t bytes_of(const ArraySpec *spec, const npy_intp *dims)
{
    size_t bytes = (size_t)PyDataType_ELSIZE(spec->dtype);
    for (Py_ssize_t d = 0; d < spec->rank; d++)
        if (__builtin_mul_overflow(bytes, (size_t)dims[d], &bytes))
            return 0;
    return bytes;
}

/* Say which array there is no memory for; `what` it would have been. */
static Status allocation_failed(const Launcher *launcher, Py_ssize_t i, const npy_intp *dims, const char *what)
{
    const ArraySpec *spec = &launcher->arrays[i];
    const int beyond = PyErr_ExceptionMatches(PyExc_ValueError); /* NumPy: "array is too big" */
    if (!beyond && !PyErr_ExceptionMatches(PyExc_MemoryError))
        return RAISED;
    PyErr_Clear();
    if (beyond)
        PyErr_Format(PyExc_MemoryError, "%U(): %s %U would not fit into the address space", launcher->name, what,
                     spec->name);
    else
        PyErr_Format(PyExc_MemoryError, "%U(): no memory for %s %U, %zu bytes", launcher->name, what, spec->name,
                     bytes_of(spec, dims));
    return RAISED;
}

typedef enum { AS_IT_IS, ZEROED, RECYCLED_AS_IT_IS } Content;

static PyObject *allocate(const ArraySpec *spec, const npy_intp *dims, int zeroed)
{
    Py_INCREF(spec->dtype);
    if (zeroed)
        return PyArray_Zeros((int)spec->rank, dims, spec->dtype, 0);
    const int by_columns = spec->contiguous & NPY_ARRAY_F_CONTIGUOUS;
    return PyArray_NewFromDescr(&PyArray_Type, spec->dtype, (int)spec->rank, dims, NULL, NULL, by_columns,
                                NULL);
}

/* `content`: what the array must hold; RECYCLED_AS_IT_IS allows what a freed result left, and becomes AS_IT_IS
   where that is there, ZEROED where zeros are. */
static PyArrayObject *new_array(const ArraySpec *spec, const npy_intp *dims, Content *content)
{
    PyObject *array = NULL, *previous;
    if (recycle_begin(bytes_of(spec, dims), &previous) < 0)
        return NULL;
    if (previous != NULL) {
        array = allocate(spec, dims, *content == ZEROED);
        recycle_end(previous);
    }
    if (array != NULL) {
        if (*content == RECYCLED_AS_IT_IS)
            *content = recycle_fresh() ? ZEROED : AS_IT_IS;
        return (PyArrayObject *)array;
    }
    PyErr_Clear(); /* the C library may have memory where the system has no more mappings */
    if (*content == RECYCLED_AS_IT_IS)
        *content = ZEROED;
    return (PyArrayObject *)allocate(spec, dims, *content == ZEROED);
}

/* Zero what lies before `first` in any dimension. */
static void zero_before(char *data, const npy_intp *dims, const npy_intp *first, int rank, size_t bytes)
{
    while (rank > 0 && first[rank - 1] == 0)
        bytes *= (size_t)dims[--rank];
    if (rank == 0)
        return;
    size_t inner = bytes;
    for (int d = 1; d < rank; d++)
        inner *= (size_t)dims[d];
    memset(data, 0, (size_t)first[0] * inner);
    for (npy_intp i = first[0]; rank > 1 && i < dims[0]; i++)
        zero_before(data + (size_t)i * inner, dims + 1, first + 1, rank - 1, bytes);
}

/* Zero what the pipeline does not write of a result. */
static Status zero_rest(const ArraySpec *spec, const Frame *frame, PyArrayObject *array)
{
    npy_intp first[MAX_RANK];
    for (int d = 0; d < (int)spec->rank; d++) {
        ptrdiff_t value;
        if (row_value(&spec->written_from[d], frame->symbols, &value) != DONE)
            return REFUSED;
        first[d] = value < 0 ? 0 : value < PyArray_DIM(array, d) ? value : PyArray_DIM(array, d);
    }
    zero_before(PyArray_DATA(array), PyArray_DIMS(array), first, (int)spec->rank,
                (size_t)PyArray_ITEMSIZE(array));
    return DONE;
}

/* Say, once for each argument, that it is copied at each call, where that takes more than some microseconds. */
static Status report_copy(const Launcher *launcher, Py_ssize_t i, PyArrayObject *array)
{
    ArraySpec *spec = &launcher->arrays[i];
    if (bytes_of(spec, PyArray_DIMS(array)) < REPORTED || spec->reported)
        return DONE;
    spec->reported = 1;
    PyObject *answer = PyObject_CallMethod((PyObject *)launcher, "_copied", "nO", i, array);
    Py_XDECREF(answer);
    return answer == NULL ? RAISED : DONE;
}

/* Stand a contiguous, aligned copy in for the array. */
static Status pack(const Launcher *launcher, Frame *frame, Py_ssize_t i)
{
    PyArrayObject *array = frame->arrays[i];
    Content content = AS_IT_IS;
    PyArrayObject *copy = new_array(&launcher->arrays[i], PyArray_DIMS(array), &content);
    if (copy == NULL)
        return allocation_failed(launcher, i, PyArray_DIMS(array), "a contiguous copy of");
    frame->keep[i] = copy;
    return PyArray_CopyInto(copy, array) < 0 ? RAISED : report_copy(launcher, i, array);
}

static Status check_against_inputs(Launcher *launcher, Frame *frame, Py_ssize_t output, Span span)
{
    PyArrayObject *array = frame->arrays[launcher->n_inputs + output];
    for (Py_ssize_t i = 0; i < launcher->n_inputs; i++) {
        PyArrayObject *input = frame->arrays[i];
        Span other = span_of(input);
        if (other.high <= span.low || span.high <= other.low)
            continue;
        Status status = DONE;
        if (!same_view(input, array))
            status = check_disjoint(launcher, input, array);
        else if (!launcher->inplace[i * launcher->n_outputs + output] && frame->keep[i] == NULL)
            status = pack(launcher, frame, i);
        if (status != DONE)
            return status;
    }
    return DONE;
}

/* An output that was given shares no byte with another array, unless it is exactly an input; the input is
   then copied first when the pipeline cannot work in place. */
Status check_overlaps(Launcher *launcher, Frame *frame)
{
    PyArrayObject **outputs = frame->arrays + launcher->n_inputs;
    for (Py_ssize_t o = 0; o < launcher->n_outputs; o++) {
        if (outputs[o] == NULL)
            continue;
        Span span = span_of(outputs[o]);
        if (!PyArray_IS_C_CONTIGUOUS(outputs[o]) && overlaps_itself(outputs[o]))
            return REFUSED;
        for (Py_ssize_t p = 0; p < o; p++) {
            if (outputs[p] == NULL)
                continue;
            Span other = span_of(outputs[p]);
            if (other.high <= span.low || span.high <= other.low)
                continue;
            Status status = check_disjoint(launcher, outputs[p], outputs[o]);
            if (status != DONE)
                return status;
        }
        Status status = check_against_inputs(launcher, frame, o, span);
        if (status != DONE)
            return status;
    }
    return DONE;
}

static Status new_output(const Launcher *launcher, Frame *frame, Py_ssize_t i)
{
    const ArraySpec *spec = &launcher->arrays[i];
    npy_intp dims[MAX_RANK];
    for (Py_ssize_t d = 0; d < spec->rank; d++) {
        ptrdiff_t extent;
        if (row_value(&spec->extents[d], frame->symbols, &extent) != DONE)
            return REFUSED;
        dims[d] = extent < 0 ? 0 : extent;
    }
    Content content = !spec->zero_fill ? AS_IT_IS : spec->written_from == NULL ? ZEROED : RECYCLED_AS_IT_IS;
    frame->arrays[i] = frame->keep[i] = new_array(spec, dims, &content);
    if (frame->keep[i] == NULL)
        return allocation_failed(launcher, i, dims, "the output");
    return spec->zero_fill && content == AS_IT_IS ? zero_rest(spec, frame, frame->keep[i]) : DONE;
}

/* Pointers for the kernel: packed copies and new outputs where they are needed. */
Status prepare_memory(const Launcher *launcher, Frame *frame)
{
    for (Py_ssize_t i = 0; i < launcher->n_arrays; i++) {
        Status status = DONE;
        if (frame->arrays[i] == NULL)
            status = new_output(launcher, frame, i);
        else if (frame->keep[i] == NULL && !lies_as_read(launcher, i, frame->arrays[i]))
            status = pack(launcher, frame, i);
        if (status != DONE)
            return status;
        set_pitches(launcher, frame, i);
        frame->data[i] = PyArray_DATA(frame->keep[i] != NULL ? frame->keep[i] : frame->arrays[i]);
    }
    return DONE;
}

/* Copy temporaries that stood in for outputs back to the caller's arrays. */
Status write_back(const Launcher *launcher, Frame *frame)
{
    for (Py_ssize_t i = launcher->n_inputs; i < launcher->n_arrays; i++)
        if (frame->keep[i] != NULL && frame->keep[i] != frame->arrays[i]
            && PyArray_CopyInto(frame->arrays[i], frame->keep[i]) < 0)
            return RAISED;
    return DONE;
}
