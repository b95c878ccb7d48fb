/* The call path: a callable that checks NumPy arrays against a specification and jumps into a library.

   Everything a correct call with NumPy's arrays needs is here and in the _launch_*.c files.  A wrong call is
   only detected: Python's `_reconsider` calls again with NumPy's views of other libraries' arrays where there
   are some, and else words the error. */
#include "_launch.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum { STACK_FRAME_BYTES = 2048 };
static const double RELEASE_GIL_ABOVE = 10000.0; /* scalar operations; releasing costs about 50 ns */

static PyTypeObject launcher_type;

/* The slot of a keyword: interned names meet by pointer, others by text. */
static Py_ssize_t find_slot(const Launcher *launcher, PyObject *keyword)
{
    for (Py_ssize_t slot = launcher->n_slots; slot-- > 0;)
        if (launcher->names[slot] == keyword)
            return slot;
    for (Py_ssize_t slot = launcher->n_slots; slot-- > 0;)
        if (PyUnicode_Compare(launcher->names[slot], keyword) == 0)
            return slot;
    return -1;
}

static Status match_arguments(const Launcher *launcher, Frame *frame, PyObject *const *args,
                              Py_ssize_t n_args, PyObject *keywords)
{
    if (n_args > launcher->n_positional)
        return REFUSED;
    for (Py_ssize_t i = 0; i < n_args; i++)
        frame->slots[launcher->positional[i]] = args[i];
    Py_ssize_t n_keywords = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < n_keywords; k++) {
        Py_ssize_t slot = find_slot(launcher, PyTuple_GET_ITEM(keywords, k));
        if (slot < 0 || frame->slots[slot] != NULL)
            return REFUSED;
        frame->slots[slot] = args[n_args + k];
    }
    return DONE;
}

static Frame lay_out(const Launcher *launcher, char *memory)
{
    Frame frame;
    char *pointers = memory + launcher->n_scalars * SCALAR_SLOT_BYTES;
    frame.scalars = memory;
    frame.slots = (PyObject **)pointers;
    frame.arrays = (PyArrayObject **)(frame.slots + launcher->n_slots);
    frame.keep = frame.arrays + launcher->n_arrays;
    frame.data = (void **)(frame.keep + launcher->n_arrays);
    frame.symbols = (ptrdiff_t *)(pointers + launcher->frame_zeroed);
    memset(pointers, 0, launcher->frame_zeroed);
    return frame;
}

static void raise_outside(const Launcher *launcher)
{
    PyObject *errors = PyImport_ImportModule("polymat.errors");
    PyObject *kind = errors == NULL ? NULL : PyObject_GetAttrString(errors, "ArgumentError");
    if (kind != NULL)
        PyErr_Format(kind, "%U(): %s", launcher->name,
                     launcher->outside != NULL ? launcher->outside() : "a value is outside of its limits");
    Py_XDECREF(kind);
    Py_XDECREF(errors);
}

static Status run_kernel(const Launcher *launcher, const Frame *frame)
{
    int threads = threads_of_call(launcher->threads, launcher->openmp);
    PyThreadState *state = NULL;
    if (launcher->work(frame->symbols) > RELEASE_GIL_ABOVE)
        state = PyEval_SaveThread();
    int result = launcher->entry(frame->data, frame->symbols, frame->scalars, threads);
    if (state != NULL)
        PyEval_RestoreThread(state);
    if (result == ENTRY_OK)
        return DONE;
    if (result == ENTRY_OUT_OF_MEMORY && launcher->missing != NULL && launcher->missing() > 0)
        PyErr_Format(PyExc_MemoryError, "%U(): no memory for %s, %zu bytes", launcher->name,
                     launcher->intermediates, launcher->missing());
    else if (result == ENTRY_OUT_OF_MEMORY)
        PyErr_Format(PyExc_MemoryError, "%U(): no memory for %s", launcher->name, launcher->intermediates);
    else if (result == ENTRY_VALUES_OUTSIDE)
        raise_outside(launcher);
    else if (result == ENTRY_LIBRARY_MISSING)
        PyErr_Format(PyExc_OSError, "%U(): a BLAS or FFT library that it calls is missing", launcher->name);
    else
        PyErr_Format(PyExc_SystemError, "%U(): the library returned %d", launcher->name, result);
    return RAISED;
}

static Status perform(Launcher *launcher, Frame *frame, PyObject *const *args, Py_ssize_t n_args,
                      PyObject *keywords)
{
    Status status = match_arguments(launcher, frame, args, n_args, keywords);
    if (status == DONE)
        status = bind_scalars(launcher, frame);
    if (status == DONE)
        status = bind_inputs(launcher, frame);
    if (status == DONE)
        status = bind_outputs(launcher, frame);
    if (status == DONE)
        status = check_overlaps(launcher, frame);
    if (status == DONE)
        status = prepare_memory(launcher, frame);
    if (status == DONE)
        status = run_kernel(launcher, frame);
    if (status == DONE)
        status = write_back(launcher, frame);
    return status;
}

static PyObject *collect_outputs(const Launcher *launcher, const Frame *frame)
{
    PyArrayObject **outputs = frame->arrays + launcher->n_inputs;
    if (launcher->n_outputs == 1)
        return Py_NewRef((PyObject *)outputs[0]);
    PyObject *result = PyTuple_New(launcher->n_outputs);
    for (Py_ssize_t o = 0; result != NULL && o < launcher->n_outputs; o++)
        PyTuple_SET_ITEM(result, o, Py_NewRef((PyObject *)outputs[o]));
    return result;
}

/* Let Python call again with arrays of NumPy, or find out what is wrong and raise it. */
static PyObject *reconsider(Launcher *launcher, PyObject *const *args, Py_ssize_t n_args, PyObject *keywords)
{
    PyErr_Clear();
    PyObject *positional = PyTuple_New(n_args);
    PyObject *named = PyDict_New();
    for (Py_ssize_t i = 0; positional != NULL && i < n_args; i++)
        PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    Py_ssize_t n_keywords = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; named != NULL && k < n_keywords; k++)
        if (PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, k), args[n_args + k]) < 0)
            Py_CLEAR(named);
    PyObject *answer = NULL;
    if (positional != NULL && named != NULL)
        answer = PyObject_CallMethod((PyObject *)launcher, "_reconsider", "OO", positional, named);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return answer;
}

static PyObject *launcher_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *keywords)
{
    Launcher *launcher = (Launcher *)self;
    Py_ssize_t n_args = PyVectorcall_NARGS(nargsf);
    _Alignas(SCALAR_SLOT_BYTES) char stack[STACK_FRAME_BYTES];
    char *memory = launcher->frame_bytes <= sizeof stack ? stack : PyMem_Malloc(launcher->frame_bytes);
    if (memory == NULL)
        return PyErr_NoMemory();
    Frame frame = lay_out(launcher, memory);
    Status status = perform(launcher, &frame, args, n_args, keywords);
    PyObject *result = status == DONE ? collect_outputs(launcher, &frame) : NULL;
    for (Py_ssize_t i = 0; i < launcher->n_arrays; i++)
        Py_XDECREF(frame.keep[i]);
    if (memory != stack)
        PyMem_Free(memory);
    return status == REFUSED ? reconsider(launcher, args, n_args, keywords) : result;
}

static int open_library(Launcher *launcher, const char *path)
{
    launcher->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (launcher->library == NULL) {
        PyErr_SetString(PyExc_OSError, dlerror());
        return -1;
    }
    /* Sleeping OpenMP workers survive our library: their code has to stay mapped when it is closed. */
    void *openmp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (openmp != NULL)
        dlclose(openmp);
    launcher->openmp = threads_runtime(launcher->library);
    *(void **)&launcher->entry = dlsym(launcher->library, "_pm_entry");
    *(void **)&launcher->work = dlsym(launcher->library, "_pm_work");
    *(void **)&launcher->missing = dlsym(launcher->library, "_pm_missing_bytes");
    *(void **)&launcher->outside = dlsym(launcher->library, "_pm_outside");
    launcher->intermediates = dlsym(launcher->library, "_pm_intermediates");
    if (launcher->intermediates == NULL)
        launcher->intermediates = "intermediate arrays";
    if (launcher->entry != NULL && launcher->work != NULL)
        return 0;
    PyErr_Format(PyExc_OSError, "%s: not a library of polymat: no _pm_entry or no _pm_work", path);
    return -1;
}

/* All of the construction is in __new__, so that no second __init__ can change a launcher in use. */
static PyObject *launcher_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "spec", NULL};
    PyObject *path = NULL, *spec;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&O!:Launcher", names, PyUnicode_FSConverter, &path,
                                     &PyTuple_Type, &spec))
        return NULL;
    Launcher *launcher = (Launcher *)type->tp_alloc(type, 0);
    if (launcher != NULL) {
        launcher->vectorcall = launcher_call;
        if (launcher_parse(launcher, spec) < 0 || open_library(launcher, PyBytes_AS_STRING(path)) < 0)
            Py_CLEAR(launcher);
    }
    Py_DECREF(path);
    return (PyObject *)launcher;
}

static void launcher_dealloc(PyObject *self)
{
    Launcher *launcher = (Launcher *)self;
    launcher_release(launcher);
    if (launcher->library != NULL)
        dlclose(launcher->library);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject launcher_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "polymat.runtime._launch.Launcher",
    .tp_doc = "A compiled library, called with NumPy arrays after full checks.",
    .tp_basicsize = sizeof(Launcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Launcher, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = launcher_new,
    .tp_dealloc = launcher_dealloc,
};

/* Python 3.10 and 3.11 do not let heap types inherit the flag, though slot and offset are inherited. */
static PyObject *enable_vectorcall(PyObject *Py_UNUSED(module), PyObject *object)
{
    PyTypeObject *type = (PyTypeObject *)object;
    if (!PyType_Check(object) || !PyType_IsSubtype(type, &launcher_type) || type->tp_call != PyVectorcall_Call
        || type->tp_vectorcall_offset != offsetof(Launcher, vectorcall)) {
        PyErr_SetString(PyExc_TypeError,
                        "enable_vectorcall: expected a subclass of Launcher without __call__");
        return NULL;
    }
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(type);
    return Py_NewRef(object);
}

static PyObject *keep_results(PyObject *Py_UNUSED(module), PyObject *object)
{
    size_t bytes = PyLong_AsSize_t(object);
    if (bytes == (size_t)-1 && PyErr_Occurred())
        return NULL;
    recycle_limit(bytes);
    Py_RETURN_NONE;
}

static PyObject *kept_results(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromSize_t(recycle_kept());
}

static PyMethodDef methods[] = {
    {"keep_results", keep_results, METH_O, "Keep at most so many bytes of freed results for new ones."},
    {"kept_results", kept_results, METH_NOARGS, "The bytes of freed results that are kept now."},
    {"enable_vectorcall", enable_vectorcall, METH_O, "Class decorator: calls of instances build no tuple."},
    {"set_num_threads", set_num_threads, METH_O, "Set the number of threads of calls in every thread."},
    {"get_num_threads", get_num_threads, METH_NOARGS, "The number of threads of a call from this thread."},
    {"push_threads", push_threads, METH_O, "Override the number in this thread; the previous override."},
    {"pop_threads", pop_threads, METH_O, "Restore the override that `push_threads` returned."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    if (numpy_ready() < 0 || PyType_Ready(&launcher_type) < 0 || recycle_ready() < 0)
        return -1;
    return PyModule_AddObjectRef(module, "Launcher", (PyObject *)&launcher_type);
}

/* A launcher does not change once it is made, and what all share is atomic, or belongs to one thread. */
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "polymat.runtime._launch",
    .m_doc = "The call path of compiled pipelines.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__launch(void)
{
    return PyModuleDef_Init(&module_definition);
}
