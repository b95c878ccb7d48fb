/* Functions that users call, without frames of their own.

   A Python function that lets an exception pass leaves its frame in the traceback; a C function leaves none.
   `Surface(function, on_error)` calls `function`, hands an exception to `on_error`, which may change its
   traceback, and lets it go on with that. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *on_error;
    PyObject *dict;
} Surface;

/* Let on_error see what is being raised; its own exceptions take the place of that. */
static void report(const Surface *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(traceback);
    PyObject *done = PyObject_CallOneArg(self->on_error, value);
    if (done == NULL) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        return;
    }
    Py_DECREF(done);
    PyErr_Restore(type, value, PyException_GetTraceback(value));
}

static PyObject *surface_vectorcall(PyObject *object, PyObject *const *args, size_t nargs, PyObject *names)
{
    const Surface *self = (const Surface *)object;
    PyObject *result = PyObject_Vectorcall(self->function, args, nargs, names);
    if (result == NULL)
        report(self);
    return result;
}

static PyObject *surface_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *function, *on_error;
    static char *words[] = {"function", "on_error", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO", words, &function, &on_error))
        return NULL;
    Surface *self = (Surface *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = surface_vectorcall;
    self->function = Py_NewRef(function);
    self->on_error = Py_NewRef(on_error);
    return (PyObject *)self;
}

static int surface_traverse(PyObject *object, visitproc visit, void *arg)
{
    Surface *self = (Surface *)object;
    Py_VISIT(self->function);
    Py_VISIT(self->on_error);
    Py_VISIT(self->dict);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int surface_clear(PyObject *object)
{
    Surface *self = (Surface *)object;
    Py_CLEAR(self->function);
    Py_CLEAR(self->on_error);
    Py_CLEAR(self->dict);
    return 0;
}

static void surface_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    surface_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* As a Python function: bound to the object that it is a method of. */
static PyObject *surface_get(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* Where pickle finds it: under its name in its module. */
static PyObject *surface_reduce(PyObject *self, PyObject *Py_UNUSED(none))
{
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *surface_repr(PyObject *object)
{
    return PyObject_Repr(((Surface *)object)->function);
}

static PyMethodDef surface_methods[] = {
    {"__reduce__", surface_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef surface_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Surface, dict), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Surface, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef surface_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot surface_slots[] = {
    {Py_tp_new, surface_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, surface_traverse},
    {Py_tp_clear, surface_clear},
    {Py_tp_dealloc, surface_dealloc},
    {Py_tp_descr_get, surface_get},
    {Py_tp_repr, surface_repr},
    {Py_tp_methods, surface_methods},
    {Py_tp_members, surface_members},
    {Py_tp_getset, surface_getset},
    {0, NULL},
};

static PyType_Spec surface_spec = {
    .name = "polymat._surface.function", /* what help() calls it */
    .basicsize = sizeof(Surface),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = surface_slots,
};

static int module_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &surface_spec, NULL);
    if (type == NULL)
        return -1;
    const int added = PyModule_AddObjectRef(module, "Surface", type);
    Py_DECREF(type);
    return added;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "polymat._surface",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__surface(void)
{
    return PyModuleDef_Init(&module);
}
