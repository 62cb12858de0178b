/* blindsave.policies._kernel: the Python face of the program interpreter. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "task/core/policy.h"
#include "program.h"

typedef struct {
    PyObject_HEAD
    bs_program program;
    bs_policy policy;
    const char *path;
    bs_op *ops;
    void *constant_room;
} Kernel;

/* A running policy of batch one: its own carry and action, so that a step takes a single argument. */
typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    Py_buffer carry, action;
    PyObject *action_array;
} Session;

static PyObject *BadInput, *kernel_type, *session_type;

static void step_program(const void *self, float *carry, const float *observation, float *action) {
    const bs_program *program = self;
    program->run(program, carry, observation, action);
}

/* A C-contiguous float32 buffer of exactly `floats` floats, or -1 with an exception that names it. */
static int take(PyObject *object, Py_buffer *view, Py_ssize_t floats, int writable, const char *name) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0) return -1;
    const char *format = view->format ? view->format : "B";
    if (*format == '<' || *format == '=') format++;
    if (strcmp(format, "f") != 0 || view->len != floats * (Py_ssize_t)sizeof(float)) {
        PyErr_Format(BadInput, "the %s must be %zd float32 values in C order", name, floats);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

static int all_finite(const float *x, Py_ssize_t count) {
    uint32_t bad = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bad |= (bits & 0x7F800000u) == 0x7F800000u; /* all exponent bits set: infinite or not a number */
    }
    return !bad;
}

static void refuse_infinite(void) {
    PyErr_SetString(BadInput, "the observation holds a value that is not finite");
}

/* ---- Kernel ---- */

static int choose_path(Kernel *self, const char *name) {
    for (const bs_path *path = bs_paths(); path->name; path++)
        if (!name || !*name || strcmp(name, path->name) == 0) {
            self->path = path->name;
            self->program.run = path->run;
            return 0;
        }
    PyErr_Format(BadInput, "this machine has no vector path `%s`", name);
    return -1;
}

static int copy_program(Kernel *self, const Py_buffer *ops, const Py_buffer *constants) {
    const size_t slack = BS_GROUP * sizeof(float); /* vectors may read past the end of the last constant */
    self->ops = malloc((size_t)ops->len + 1);
    self->constant_room = malloc((size_t)constants->len + 64 + slack);
    if (!self->ops || !self->constant_room) {
        PyErr_NoMemory();
        return -1;
    }
    char *aligned = (char *)(((uintptr_t)self->constant_room + 63) / 64 * 64);
    memcpy(self->ops, ops->buf, (size_t)ops->len);
    memcpy(aligned, constants->buf, (size_t)constants->len);
    memset(aligned + constants->len, 0, slack);
    self->program.ops = self->ops;
    self->program.constants = (const float *)aligned;
    self->program.op_count = (int32_t)(ops->len / (Py_ssize_t)sizeof(bs_op));
    self->program.constant_count = (int32_t)(constants->len / (Py_ssize_t)sizeof(float));
    return 0;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    Py_buffer ops, constants;
    const char *path;
    bs_program p = {0};
    if (!PyArg_ParseTuple(args, "(iiiiiii)y*y*z", &p.carry, &p.observation, &p.action, &p.tape, &p.observation_in,
                          &p.carry_out, &p.action_out, &ops, &constants, &path))
        return NULL;
    Kernel *self = (Kernel *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    int bad = self == NULL;
    if (!bad) {
        self->program = p;
        bad = choose_path(self, path) < 0 || copy_program(self, &ops, &constants) < 0;
    }
    if (!bad) {
        const char *fault = bs_check(&self->program);
        if (fault) PyErr_Format(BadInput, "the program has %s", fault);
        bad = fault != NULL;
    }
    PyBuffer_Release(&ops);
    PyBuffer_Release(&constants);
    if (bad) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    self->policy = (bs_policy){(size_t)self->program.carry, step_program, &self->program};
    return (PyObject *)self;
}

static void release_type(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF((PyObject *)type);
}

static void kernel_dealloc(PyObject *object) {
    Kernel *self = (Kernel *)object;
    free(self->ops);
    free(self->constant_room);
    release_type(object);
}

/* step(carry, observation, action, rows): all rows one step, the carry in place, without the GIL. */
static PyObject *kernel_step(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    const bs_program *p = &((Kernel *)object)->program;
    Py_buffer carry, observation, action;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "step(carry, observation, action, rows)");
        return NULL;
    }
    const Py_ssize_t rows = PyLong_AsSsize_t(args[3]);
    if (rows < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(BadInput, "the number of rows is negative");
        return NULL;
    }
    if (take(args[0], &carry, rows * p->carry, 1, "carry") < 0) return NULL;
    if (take(args[1], &observation, rows * p->observation, 0, "observation") < 0) goto release_carry;
    if (take(args[2], &action, rows * p->action, 1, "action") < 0) goto release_observation;
    int ok = all_finite(observation.buf, rows * p->observation);
    if (ok) {
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t row = 0; row < rows; row++)
            p->run(p, (float *)carry.buf + row * p->carry, (const float *)observation.buf + row * p->observation,
                   (float *)action.buf + row * p->action);
        Py_END_ALLOW_THREADS
    } else {
        refuse_infinite();
    }
    PyBuffer_Release(&action);
    PyBuffer_Release(&observation);
    PyBuffer_Release(&carry);
    if (!ok) return NULL;
    Py_RETURN_NONE;
release_observation:
    PyBuffer_Release(&observation);
release_carry:
    PyBuffer_Release(&carry);
    return NULL;
}

/* loop(carry, observations, actions, steps): one policy over a sequence, step by step, without the GIL.
 * A single observation is repeated (the latency protocol); `actions` holds every action, or only the last. */
static PyObject *kernel_loop(PyObject *object, PyObject *args) {
    const bs_program *p = &((Kernel *)object)->program;
    PyObject *carry_object, *observation_object, *action_object;
    Py_ssize_t steps;
    Py_buffer carry, observation, action;
    if (!PyArg_ParseTuple(args, "OOOn", &carry_object, &observation_object, &action_object, &steps)) return NULL;
    const Py_ssize_t seen = PyObject_Size(observation_object), kept = PyObject_Size(action_object);
    if (seen < 0 || kept < 0) return NULL;
    if (steps < 1 || (seen != 1 && seen != steps) || (kept != 1 && kept != steps)) {
        PyErr_SetString(BadInput, "a loop needs one row, or one row per step, of observations and of actions");
        return NULL;
    }
    if (take(carry_object, &carry, p->carry, 1, "carry") < 0) return NULL;
    if (take(observation_object, &observation, seen * p->observation, 0, "observations") < 0) goto release_carry;
    if (take(action_object, &action, kept * p->action, 1, "actions") < 0) goto release_observation;
    int ok = 1;
    Py_BEGIN_ALLOW_THREADS
    const Py_ssize_t next_observation = seen == 1 ? 0 : p->observation, next_action = kept == 1 ? 0 : p->action;
    for (Py_ssize_t t = 0; ok && t < steps; t++) {
        const float *now = (const float *)observation.buf + t * next_observation;
        ok = all_finite(now, p->observation);
        if (ok) p->run(p, carry.buf, now, (float *)action.buf + t * next_action);
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&action);
    PyBuffer_Release(&observation);
    PyBuffer_Release(&carry);
    if (!ok) {
        refuse_infinite();
        return NULL;
    }
    Py_RETURN_NONE;
release_observation:
    PyBuffer_Release(&observation);
release_carry:
    PyBuffer_Release(&carry);
    return NULL;
}

static void release_capsule(PyObject *capsule) { Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule)); }

static PyObject *kernel_capsule(PyObject *object, PyObject *Py_UNUSED(ignored)) {
    PyObject *capsule = PyCapsule_New(&((Kernel *)object)->policy, BS_POLICY_CAPSULE, release_capsule);
    if (!capsule) return NULL;
    Py_INCREF(object); /* the capsule keeps the kernel alive */
    PyCapsule_SetContext(capsule, object);
    return capsule;
}

static PyObject *kernel_path(PyObject *object, void *Py_UNUSED(closure)) {
    return PyUnicode_FromString(((Kernel *)object)->path);
}

static PyMethodDef kernel_methods[] = {
    {"step", (PyCFunction)(void (*)(void))kernel_step, METH_FASTCALL, "step(carry, observation, action, rows)"},
    {"loop", kernel_loop, METH_VARARGS, "loop(carry, observations, actions, steps)"},
    {"capsule", kernel_capsule, METH_NOARGS, "A capsule around the C policy; it keeps this kernel alive."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef kernel_getset[] = {{"path", kernel_path, NULL, "The vector path in use.", NULL}, {0}};
static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "A policy program ready to run: Kernel(sizes, ops, constants, path)."},
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_methods, kernel_methods},
    {Py_tp_getset, kernel_getset},
    {0, NULL},
};
static PyType_Spec kernel_spec = {"blindsave.policies._kernel.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT,
                                  kernel_slots};

/* ---- Session ---- */

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *kernel, *carry, *action;
    if (!PyArg_ParseTuple(args, "OOO", &kernel, &carry, &action)) return NULL;
    if (Py_TYPE(kernel) != (PyTypeObject *)kernel_type) {
        PyErr_SetString(PyExc_TypeError, "Session(kernel, carry, action)");
        return NULL;
    }
    Session *self = (Session *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    const bs_program *p = &((Kernel *)kernel)->program;
    if (take(carry, &self->carry, p->carry, 1, "carry") < 0 || take(action, &self->action, p->action, 1, "action") < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    Py_INCREF(kernel);
    Py_INCREF(action);
    self->kernel = (Kernel *)kernel;
    self->action_array = action;
    return (PyObject *)self;
}

static void session_dealloc(PyObject *object) {
    Session *self = (Session *)object;
    if (self->carry.obj) PyBuffer_Release(&self->carry);
    if (self->action.obj) PyBuffer_Release(&self->action);
    Py_XDECREF((PyObject *)self->kernel);
    Py_XDECREF(self->action_array);
    release_type(object);
}

static PyObject *session_step(PyObject *object, PyObject *observation) {
    Session *self = (Session *)object;
    const bs_program *p = &self->kernel->program;
    Py_buffer view;
    if (take(observation, &view, p->observation, 0, "observation") < 0) return NULL;
    const int ok = all_finite(view.buf, p->observation);
    if (ok) p->run(p, self->carry.buf, view.buf, self->action.buf);
    PyBuffer_Release(&view);
    if (!ok) {
        refuse_infinite();
        return NULL;
    }
    Py_INCREF(self->action_array);
    return self->action_array;
}

static PyMethodDef session_methods[] = {
    {"step", session_step, METH_O, "step(observation) -> the action array, which the next step overwrites"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot session_slots[] = {
    {Py_tp_doc, "One running episode: Session(kernel, carry, action)."},
    {Py_tp_new, session_new},
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, session_methods},
    {0, NULL},
};
static PyType_Spec session_spec = {"blindsave.policies._kernel.Session", sizeof(Session), 0, Py_TPFLAGS_DEFAULT,
                                   session_slots};

/* ---- module ---- */

static PyObject *module_paths(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    PyObject *names = PyList_New(0);
    for (const bs_path *path = bs_paths(); names && path->name; path++) {
        PyObject *name = PyUnicode_FromString(path->name);
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyMethodDef module_methods[] = {
    {"paths", module_paths, METH_NOARGS, "The vector paths this machine can run, widest first."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_kernel",
    .m_doc = "Canonical float32 policy programs, run in C.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *errors = PyImport_ImportModule("blindsave.errors");
    if (!errors) return NULL;
    BadInput = PyObject_GetAttrString(errors, "BadInput");
    Py_DECREF(errors);
    PyObject *self = PyModule_Create(&module);
    if (!BadInput || !self) return NULL;
    kernel_type = PyType_FromSpec(&kernel_spec);
    session_type = PyType_FromSpec(&session_spec);
    if (!kernel_type || !session_type) return NULL;
    Py_INCREF(kernel_type);
    Py_INCREF(session_type);
    if (PyModule_AddObject(self, "Kernel", kernel_type) < 0 || PyModule_AddObject(self, "Session", session_type) < 0)
        return NULL;
    if (PyModule_AddIntConstant(self, "op_bytes", sizeof(bs_op)) < 0) return NULL;
    return self;
}
