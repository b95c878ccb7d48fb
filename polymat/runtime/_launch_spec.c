/* The flat tuple made by polymat/runtime/spec.py, turned into tables.  Indices are checked: a saved
   pipeline's metadata comes from a file. */
#include "_launch.h"

struct Block {
    Block *next;
    max_align_t memory[];
};

static void *allocate(Launcher *launcher, Py_ssize_t count, size_t bytes)
{
    Block *block = PyMem_Calloc(1, sizeof(Block) + (size_t)count * bytes);
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->next = launcher->blocks;
    launcher->blocks = block;
    return block->memory;
}

static int invalid(const char *what)
{
    PyErr_Format(PyExc_ValueError, "invalid launch specification: %s", what);
    return -1;
}

static int parse_row(Launcher *launcher, PyObject *source, Row *row)
{
    PyObject *terms;
    if (!PyTuple_Check(source)
        || !PyArg_ParseTuple(source, "nnO!", &row->constant, &row->divisor, &PyTuple_Type, &terms))
        return invalid("row");
    row->n_terms = PyTuple_GET_SIZE(terms);
    row->terms = allocate(launcher, row->n_terms, sizeof(Term));
    if (row->terms == NULL)
        return -1;
    for (Py_ssize_t t = 0; t < row->n_terms; t++) {
        Term *term = &row->terms[t];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(terms, t), "nn", &term->symbol, &term->coefficient))
            return -1;
        if (term->symbol < 0 || term->symbol >= launcher->n_symbols)
            return invalid("symbol");
    }
    if (row->divisor < 1)
        return invalid("divisor");
    int plain = row->n_terms == 1 && row->terms[0].coefficient == 1 && row->constant == 0
                && row->divisor == 1;
    row->plain = plain ? row->terms[0].symbol : -1;
    return 0;
}

static Row *parse_rows(Launcher *launcher, PyObject *source)
{
    Row *rows = allocate(launcher, PyTuple_GET_SIZE(source), sizeof(Row));
    for (Py_ssize_t i = 0; rows != NULL && i < PyTuple_GET_SIZE(source); i++)
        if (parse_row(launcher, PyTuple_GET_ITEM(source, i), &rows[i]) < 0)
            return NULL;
    return rows;
}

static Py_ssize_t *parse_indices(Launcher *launcher, PyObject *source, Py_ssize_t below)
{
    Py_ssize_t *indices = allocate(launcher, PyTuple_GET_SIZE(source), sizeof *indices);
    for (Py_ssize_t i = 0; indices != NULL && i < PyTuple_GET_SIZE(source); i++) {
        indices[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(source, i));
        if (indices[i] == -1 && PyErr_Occurred())
            return NULL;
        if (indices[i] < 0 || indices[i] >= below) {
            invalid("index");
            return NULL;
        }
    }
    return indices;
}

static int parse_names(Launcher *launcher, PyObject *source)
{
    launcher->n_slots = PyTuple_GET_SIZE(source);
    launcher->names = allocate(launcher, launcher->n_slots, sizeof *launcher->names);
    if (launcher->names == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < launcher->n_slots; i++) {
        PyObject *name = PyTuple_GET_ITEM(source, i);
        if (!PyUnicode_CheckExact(name))
            return invalid("name");
        Py_INCREF(name);
        PyUnicode_InternInPlace(&name);
        launcher->names[i] = name;
    }
    return 0;
}

static int parse_pitches(Launcher *launcher, ArraySpec *array, PyObject *source)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(source);
    if (count == 0)
        return 0;
    if (count != array->rank - 1)
        return invalid("pitches");
    array->pitches = allocate(launcher, count, sizeof *array->pitches);
    for (Py_ssize_t d = 0; array->pitches != NULL && d < count; d++) {
        array->pitches[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(source, d));
        if (array->pitches[d] == -1 && PyErr_Occurred())
            return -1;
        if (array->pitches[d] < -1 || array->pitches[d] >= launcher->n_symbols)
            return invalid("pitch");
    }
    return array->pitches == NULL ? -1 : 0;
}

static int parse_arrays(Launcher *launcher, PyObject *source)
{
    launcher->n_arrays = PyTuple_GET_SIZE(source);
    launcher->n_outputs = launcher->n_arrays - launcher->n_inputs;
    if (launcher->n_inputs < 0 || launcher->n_outputs < 1)
        return invalid("number of outputs");
    launcher->arrays = allocate(launcher, launcher->n_arrays, sizeof *launcher->arrays);
    if (launcher->arrays == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < launcher->n_arrays; i++) {
        ArraySpec *array = &launcher->arrays[i];
        PyObject *name, *dtype, *extents, *zeroed, *pitches;
        int by_columns;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(source, i), "UO!O!OpO!", &name, &PyArrayDescr_Type, &dtype,
                              &PyTuple_Type, &extents, &zeroed, &by_columns, &PyTuple_Type, &pitches))
            return -1;
        array->contiguous = by_columns ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS;
        array->name = Py_NewRef(name);
        array->zero_fill = PyObject_IsTrue(zeroed);
        array->dtype = (PyArray_Descr *)Py_NewRef(dtype);
        array->rank = PyTuple_GET_SIZE(extents);
        if (array->rank > MAX_RANK)
            return invalid("rank");
        array->extents = parse_rows(launcher, extents);
        if (array->extents == NULL || parse_pitches(launcher, array, pitches) < 0)
            return -1;
        if (!PyTuple_Check(zeroed) || array->zero_fill == 0)
            continue;
        if (PyTuple_GET_SIZE(zeroed) != array->rank)
            return invalid("rectangle");
        array->written_from = parse_rows(launcher, zeroed);
        if (array->written_from == NULL)
            return -1;
    }
    return 0;
}

/* Sizes without an array take the slots after the scalars, in order. */
static int parse_sizes(Launcher *launcher, PyObject *source)
{
    Py_ssize_t slot = launcher->n_inputs + launcher->n_scalars;
    launcher->n_sizes = PyTuple_GET_SIZE(source);
    launcher->sizes = allocate(launcher, launcher->n_sizes, sizeof *launcher->sizes);
    if (launcher->sizes == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < launcher->n_sizes; i++) {
        SizeSpec *size = &launcher->sizes[i];
        PyObject *rest;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(source, i), "nnnnO!", &size->array, &size->dim, &size->least,
                              &size->coefficient, &PyTuple_Type, &rest)
            || parse_row(launcher, rest, &size->rest) < 0)
            return -1;
        if (size->array < 0) {
            size->slot = size->array == BY_NAME ? slot++ : -1;
            continue;
        }
        if (size->array >= launcher->n_inputs || size->dim < 0
            || size->dim >= launcher->arrays[size->array].rank || size->coefficient == 0
            || size->coefficient == PTRDIFF_MIN)
            return invalid("size");
    }
    return slot + 1 == launcher->n_slots ? 0 : invalid("number of names");
}

static int parse_scalars(Launcher *launcher, PyObject *source)
{
    launcher->n_scalars = PyTuple_GET_SIZE(source);
    launcher->scalars = allocate(launcher, launcher->n_scalars, sizeof *launcher->scalars);
    if (launcher->scalars == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < launcher->n_scalars; i++) {
        ScalarSpec *scalar = &launcher->scalars[i];
        int kind;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(source, i), "Ci", &kind, &scalar->bytes))
            return -1;
        scalar->kind = (char)kind;
    }
    return 0;
}

static int parse_inplace(Launcher *launcher, PyObject *source)
{
    launcher->inplace = allocate(launcher, launcher->n_inputs * launcher->n_outputs, 1);
    if (launcher->inplace == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(source); i++) {
        Py_ssize_t input, output;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(source, i), "nn", &input, &output))
            return -1;
        if (input < 0 || input >= launcher->n_inputs || output < 0 || output >= launcher->n_outputs)
            return invalid("in-place pair");
        launcher->inplace[input * launcher->n_outputs + output] = 1;
    }
    return 0;
}

static void measure_frame(Launcher *launcher)
{
    size_t pointers = (size_t)(launcher->n_slots + 3 * launcher->n_arrays);
    launcher->frame_zeroed = pointers * sizeof(void *);
    launcher->frame_bytes = (size_t)launcher->n_scalars * SCALAR_SLOT_BYTES + launcher->frame_zeroed
                            + (size_t)launcher->n_symbols * sizeof(ptrdiff_t);
}

int launcher_parse(Launcher *launcher, PyObject *spec)
{
    PyObject *names, *arrays, *sizes, *derived, *steps, *scalars, *positional, *inplace, *constraints;
    PyTypeObject *tuple = &PyTuple_Type;
    if (!PyArg_ParseTuple(spec, "UO!O!nO!O!O!O!O!O!O!in;launch specification", &launcher->name, tuple, &names,
                          tuple, &arrays, &launcher->n_inputs, tuple, &sizes, tuple, &derived, tuple, &steps,
                          tuple, &scalars, tuple, &positional, tuple, &inplace, tuple, &constraints,
                          &launcher->threads, &launcher->limit)) {
        launcher->name = NULL;
        return -1;
    }
    Py_INCREF(launcher->name);
    if (launcher->threads < 0 || launcher->limit < 0)
        return invalid("threads or limit");
    launcher->n_symbols = PyTuple_GET_SIZE(sizes) + PyTuple_GET_SIZE(derived);
    if (parse_names(launcher, names) < 0 || parse_arrays(launcher, arrays) < 0
        || parse_scalars(launcher, scalars) < 0 || parse_sizes(launcher, sizes) < 0
        || parse_inplace(launcher, inplace) < 0)
        return -1;
    launcher->n_positional = PyTuple_GET_SIZE(positional);
    launcher->n_steps = PyTuple_GET_SIZE(steps);
    launcher->n_constraints = PyTuple_GET_SIZE(constraints);
    launcher->positional = parse_indices(launcher, positional, launcher->n_slots - 1);
    launcher->steps = parse_indices(launcher, steps, launcher->n_symbols);
    launcher->derived = parse_rows(launcher, derived);
    launcher->constraints = parse_rows(launcher, constraints);
    if (launcher->positional == NULL || launcher->steps == NULL || launcher->derived == NULL
        || launcher->constraints == NULL)
        return -1;
    measure_frame(launcher);
    return 0;
}

void launcher_release(Launcher *launcher)
{
    for (Py_ssize_t i = 0; launcher->names != NULL && i < launcher->n_slots; i++)
        Py_XDECREF(launcher->names[i]);
    for (Py_ssize_t i = 0; launcher->arrays != NULL && i < launcher->n_arrays; i++) {
        Py_XDECREF(launcher->arrays[i].name);
        Py_XDECREF(launcher->arrays[i].dtype);
    }
    Py_XDECREF(launcher->name);
    while (launcher->blocks != NULL) {
        Block *next = launcher->blocks->next;
        PyMem_Free(launcher->blocks);
        launcher->blocks = next;
    }
}
