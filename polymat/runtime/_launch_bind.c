/* From the arguments of a call to checked arrays, sizes and scalars. */
#include "_launch.h"

#include <math.h>
#include <string.h>

/* A masked array would silently lose its mask.  Without numpy.ma loaded there are none. */
static int is_masked(PyObject *object)
{
    PyObject *name = PyUnicode_FromString("numpy.ma");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *masked = module == NULL ? NULL : PyObject_GetAttrString(module, "MaskedArray");
    Py_XDECREF(name);
    Py_XDECREF(module);
    int result = masked != NULL && PyType_Check(masked)
                 && PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)masked);
    Py_XDECREF(masked);
    PyErr_Clear();
    return result;
}

static inline int matches(PyObject *object, const ArraySpec *spec)
{
    if (object == NULL)
        return 0;
    if (!PyArray_CheckExact(object) && (!PyArray_Check(object) || is_masked(object)))
        return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    PyArray_Descr *dtype = PyArray_DESCR(array);
    /* Equivalent but not identical: 'longlong' for 'int64', a dtype that was pickled. */
    if (dtype != spec->dtype
        && (!(PyTypeNum_ISNUMBER(dtype->type_num) || PyTypeNum_ISBOOL(dtype->type_num))
            || !PyArray_EquivTypes(dtype, spec->dtype)))
        return 0;
    return PyArray_NDIM(array) == spec->rank;
}

static Status bind_sizes(const Launcher *launcher, Frame *frame)
{
    ptrdiff_t *symbols = frame->symbols;
    for (Py_ssize_t i = 0; i < launcher->n_steps; i++) {
        Py_ssize_t symbol = launcher->steps[i];
        if (symbol >= launcher->n_sizes) {
            if (row_value(&launcher->derived[symbol - launcher->n_sizes], symbols, &symbols[symbol]) != DONE)
                return REFUSED;
            continue;
        }
        const SizeSpec *size = &launcher->sizes[symbol];
        if (size->array == PITCH)
            continue;
        if (size->array >= 0
            && size_from_extent(size, symbols, PyArray_DIM(frame->arrays[size->array], (int)size->dim),
                                &symbols[symbol]) != DONE)
            return REFUSED;
        if (symbols[symbol] < size->least || symbols[symbol] > launcher->limit)
            return REFUSED;
    }
    return DONE;
}

static Status check_constraints(const Launcher *launcher, const Frame *frame)
{
    for (Py_ssize_t i = 0; i < launcher->n_constraints; i++) {
        ptrdiff_t value;
        if (row_value(&launcher->constraints[i], frame->symbols, &value) != DONE || value < 0)
            return REFUSED;
    }
    return DONE;
}

Status bind_inputs(const Launcher *launcher, Frame *frame)
{
    for (Py_ssize_t i = 0; i < launcher->n_inputs; i++) {
        if (!matches(frame->slots[i], &launcher->arrays[i]))
            return REFUSED;
        frame->arrays[i] = (PyArrayObject *)frame->slots[i];
    }
    if (bind_sizes(launcher, frame) != DONE)
        return REFUSED;
    for (Py_ssize_t i = 0; i < launcher->n_inputs; i++) {
        const ArraySpec *spec = &launcher->arrays[i];
        const npy_intp *dims = PyArray_DIMS(frame->arrays[i]);
        for (Py_ssize_t d = 0; d < spec->rank; d++) {
            ptrdiff_t extent;
            if (row_value(&spec->extents[d], frame->symbols, &extent) != DONE || extent != dims[d])
                return REFUSED;
        }
    }
    return check_constraints(launcher, frame);
}

static Status bind_output(const ArraySpec *spec, const Frame *frame, PyObject *given, PyArrayObject **array)
{
    *array = NULL;
    if (given == NULL || given == Py_None)
        return DONE;
    if (!matches(given, spec) || !PyArray_ISWRITEABLE((PyArrayObject *)given))
        return REFUSED;
    const npy_intp *dims = PyArray_DIMS((PyArrayObject *)given);
    for (Py_ssize_t d = 0; d < spec->rank; d++) {
        ptrdiff_t extent;
        if (row_value(&spec->extents[d], frame->symbols, &extent) != DONE)
            return REFUSED;
        if ((extent < 0 ? 0 : extent) != dims[d])
            return REFUSED;
    }
    *array = (PyArrayObject *)given;
    return DONE;
}

Status bind_outputs(const Launcher *launcher, Frame *frame)
{
    PyObject *out = frame->slots[launcher->n_slots - 1];
    if (out == NULL || out == Py_None)
        return DONE;
    const ArraySpec *specs = launcher->arrays + launcher->n_inputs;
    PyArrayObject **arrays = frame->arrays + launcher->n_inputs;
    if (!PyTuple_Check(out))
        return launcher->n_outputs == 1 ? bind_output(specs, frame, out, arrays) : REFUSED;
    if (PyTuple_GET_SIZE(out) != launcher->n_outputs)
        return REFUSED;
    for (Py_ssize_t o = 0; o < launcher->n_outputs; o++) {
        Status status = bind_output(&specs[o], frame, PyTuple_GET_ITEM(out, o), &arrays[o]);
        if (status != DONE)
            return status;
    }
    return DONE;
}

/* An int of any width as a double, refused where digits would be lost. */
static Status real_from_int(PyObject *number, int bytes, double *value)
{
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(number, &overflow);
    *value = overflow ? PyLong_AsDouble(number) : (double)small;
    if (PyErr_Occurred() || (bytes == 4 && (double)(float)*value != *value))
        return REFUSED;
    if (!overflow && -(1LL << 53) <= small && small <= 1LL << 53)
        return DONE;
    PyObject *back = PyLong_FromDouble(*value);
    int same = back != NULL && PyObject_RichCompareBool(back, number, Py_EQ) == 1;
    Py_XDECREF(back);
    return same ? DONE : REFUSED;
}

static Status real_number(PyObject *object, int bytes, double *value)
{
    if (PyFloat_Check(object)) {
        *value = PyFloat_AS_DOUBLE(object);
    } else if (PyBool_Check(object)) {
        return REFUSED;
    } else if (PyLong_Check(object)) {
        return real_from_int(object, bytes, value);
    } else if (PyArray_IsScalar(object, Integer)) {
        PyObject *number = PyNumber_Index(object);
        Status status = number == NULL ? REFUSED : real_from_int(number, bytes, value);
        Py_XDECREF(number);
        return status;
    } else if (PyArray_IsScalar(object, Floating) && !PyArray_IsScalar(object, LongDouble)) {
        *value = PyFloat_AsDouble(object);
        if (*value == -1.0 && PyErr_Occurred())
            return REFUSED;
    } else {
        return REFUSED;
    }
    return bytes == 4 && isinf((float)*value) && !isinf(*value) ? REFUSED : DONE;
}

static Status complex_number(PyObject *object, int bytes, Py_complex *value)
{
    int is_complex = PyComplex_Check(object)
                     || (PyArray_IsScalar(object, ComplexFloating) && !PyArray_IsScalar(object, CLongDouble));
    if (!is_complex) {
        value->imag = 0.0;
        return real_number(object, bytes / 2, &value->real);
    }
    *value = PyComplex_AsCComplex(object);
    if (PyErr_Occurred())
        return REFUSED;
    int overflow = (isinf((float)value->real) && !isinf(value->real))
                   || (isinf((float)value->imag) && !isinf(value->imag));
    return bytes == 8 && overflow ? REFUSED : DONE;
}

static Status put_signed(PyObject *number, int bytes, char *slot)
{
    long long value = PyLong_AsLongLong(number);
    if (value == -1 && PyErr_Occurred())
        return REFUSED;
    int spare = 64 - 8 * bytes;
    if (value < INT64_MIN >> spare || value > INT64_MAX >> spare)
        return REFUSED;
    memcpy(slot, &value, (size_t)bytes); /* little-endian: the low bytes come first */
    return DONE;
}

static Status put_unsigned(PyObject *number, int bytes, char *slot)
{
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    if (value == (unsigned long long)-1 && PyErr_Occurred())
        return REFUSED;
    if (value > UINT64_MAX >> (64 - 8 * bytes) || value > INT64_MAX) /* a signed one in expressions */
        return REFUSED;
    memcpy(slot, &value, (size_t)bytes);
    return DONE;
}

static Status put_integer(PyObject *object, char kind, int bytes, char *slot)
{
    if (PyBool_Check(object) || PyArray_IsScalar(object, Bool) || !PyIndex_Check(object))
        return REFUSED;
    PyObject *number = PyNumber_Index(object);
    if (number == NULL)
        return REFUSED;
    Status status = kind == 'i' ? put_signed(number, bytes, slot) : put_unsigned(number, bytes, slot);
    Py_DECREF(number);
    return status;
}

static Status put_real(PyObject *object, int bytes, char *slot)
{
    double value;
    if (real_number(object, bytes, &value) != DONE)
        return REFUSED;
    if (bytes == 4)
        *(float *)slot = (float)value;
    else
        *(double *)slot = value;
    return DONE;
}

static Status put_complex(PyObject *object, int bytes, char *slot)
{
    Py_complex value;
    if (complex_number(object, bytes, &value) != DONE)
        return REFUSED;
    if (bytes == 8) {
        ((float *)slot)[0] = (float)value.real;
        ((float *)slot)[1] = (float)value.imag;
    } else {
        ((double *)slot)[0] = value.real;
        ((double *)slot)[1] = value.imag;
    }
    return DONE;
}

static Status put_scalar(const ScalarSpec *spec, PyObject *object, char *slot)
{
    if (object == NULL)
        return REFUSED;
    switch (spec->kind) {
    case 'f':
        return put_real(object, spec->bytes, slot);
    case 'c':
        return put_complex(object, spec->bytes, slot);
    default:
        return put_integer(object, spec->kind, spec->bytes, slot);
    }
}

/* Scalars and sizes given by name.  Comes before any look at an array: `__index__` may run Python code. */
Status bind_scalars(const Launcher *launcher, Frame *frame)
{
    for (Py_ssize_t i = 0; i < launcher->n_scalars; i++)
        if (put_scalar(&launcher->scalars[i], frame->slots[launcher->n_inputs + i],
                       frame->scalars + i * SCALAR_SLOT_BYTES) != DONE)
            return REFUSED;
    for (Py_ssize_t i = 0; i < launcher->n_sizes; i++) {
        const SizeSpec *size = &launcher->sizes[i];
        if (size->array != BY_NAME)
            continue;
        PyObject *object = frame->slots[size->slot];
        if (object == NULL || put_integer(object, 'i', sizeof(ptrdiff_t), (char *)&frame->symbols[i]) != DONE)
            return REFUSED;
    }
    return DONE;
}
