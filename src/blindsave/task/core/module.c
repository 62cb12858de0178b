/* The Python face of the core: buffers in, buffers out, no Python object touched while simulating.
   Shapes and types are checked in Python (arena/native.py, task/native.py); here only that buffers are large enough. */
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

typedef struct {
  PyObject_HEAD
  bs_batch b;
  Py_buffer rows, defend_rows;
} Core;

/* A read or write view of an optional buffer argument. */
typedef struct {
  Py_buffer view;
  int held;
} Arg;

static int take(PyObject *object, Arg *arg, Py_ssize_t bytes, int writable, const char *name) {
  arg->held = 0;
  memset(&arg->view, 0, sizeof arg->view);
  if (object == Py_None) return 0;
  if (PyObject_GetBuffer(object, &arg->view, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0))) return -1;
  arg->held = 1;
  if (arg->view.len >= bytes) return 0;
  PyErr_Format(PyExc_ValueError, "%s holds %zd bytes where %zd are needed", name, arg->view.len, bytes);
  return -1;
}

static void drop(Arg *args, int count) {
  for (int i = 0; i < count; i++)
    if (args[i].held) PyBuffer_Release(&args[i].view);
}

static PyObject *core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  unsigned long long model, robot;
  PyObject *law, *rows, *defend_rows;
  int n, threads, puck, mallet;
  if (!PyArg_ParseTuple(args, "KKOiiiiOO", &model, &robot, &law, &n, &threads, &puck, &mallet, &rows, &defend_rows))
    return NULL;
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Core *self = (Core *)alloc(type, 0);
  if (!self) return NULL;
  bs_batch *b = &self->b;
  Arg law_view;
  char error[200] = "the batch could not be made";
  if (take(law, &law_view, sizeof(bs_law), 0, "law")) goto fail;
  memcpy(&b->arena.law, law_view.view.buf, sizeof(bs_law));
  Py_ssize_t law_bytes = law_view.view.len;
  drop(&law_view, 1);
  if (law_bytes != sizeof(bs_law)) {
    PyErr_SetString(PyExc_ValueError, "the law does not have the size this core was compiled for");
    goto fail;
  }
  if (PyObject_GetBuffer(rows, &self->rows, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) goto fail;
  if (defend_rows != Py_None &&
      PyObject_GetBuffer(defend_rows, &self->defend_rows, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE))
    goto fail;
  if (self->rows.len != (Py_ssize_t)sizeof(bs_row) * n ||
      (self->defend_rows.obj && self->defend_rows.len != (Py_ssize_t)sizeof(bs_defend_row) * n)) {
    PyErr_SetString(PyExc_ValueError, "the rows do not have the layout this core was compiled for");
    goto fail;
  }
  b->row = self->rows.buf;
  b->spare = calloc((size_t)n, sizeof *b->spare);
  b->defend = self->defend_rows.obj ? self->defend_rows.buf : b->spare;
  b->model = (mjModel *)(uintptr_t)model;
  b->arena.puck_geom = puck;
  b->arena.mallet_geom = mallet;
  b->n = n;
  b->threads = threads;
  if (!bs_chain_from_model((const mjModel *)(uintptr_t)robot, &b->arena.chain)) {
    PyErr_SetString(PyExc_ValueError, "the robot model is not the seven-joint chain this core was compiled for");
    goto fail;
  }
  b->slot = calloc((size_t)n, sizeof *b->slot);
  b->order = calloc((size_t)n, sizeof *b->order);
  b->control = calloc((size_t)n, sizeof *b->control);
  b->episode = calloc((size_t)n, sizeof *b->episode);
  const mjBatchConfig config = {.nthread = threads, .persistent = 0};
  b->batch = mjb_makeBatch(b->model, n, &config, error, sizeof error);
  if (!b->slot || !b->order || !b->spare || !b->control || !b->episode || !b->batch) {
    PyErr_SetString(PyExc_MemoryError, error);
    goto fail;
  }
  for (int i = 0; i < n; i++) b->episode[i].conditions.drag = 1;
  return (PyObject *)self;
fail:
  Py_DECREF(self);
  return NULL;
}

static void core_dealloc(PyObject *object) {
  Core *self = (Core *)object;
  if (self->b.batch) mjb_deleteBatch(self->b.batch);
  if (self->b.rollout_batch) mjb_deleteBatch(self->b.rollout_batch);
  free(self->b.slot);
  free(self->b.order);
  free(self->b.spare);
  free(self->b.control);
  free(self->b.episode);
  if (self->rows.obj) PyBuffer_Release(&self->rows);
  if (self->defend_rows.obj) PyBuffer_Release(&self->defend_rows);
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* The environments a call is about: None (all) or an int32 buffer. Returns their number, -1 with an error set. */
static int chosen(const Core *self, PyObject *object, Arg *arg, const int **ids) {
  *ids = NULL;
  if (take(object, arg, 0, 0, "ids")) return -1;
  if (!arg->held) return self->b.n;
  const int count = (int)(arg->view.len / (Py_ssize_t)sizeof(int));
  *ids = arg->view.buf;
  for (int i = 0; i < count; i++)
    if ((*ids)[i] < 0 || (*ids)[i] >= self->b.n) {
      PyErr_Format(PyExc_IndexError, "environment %d does not exist; there are %d", (*ids)[i], self->b.n);
      return -1;
    }
  return count;
}

typedef enum { RESET, STEP, PHYSICS, DEFEND_RESET, DEFEND_STEP } Verb;

static int perform(Core *self, Verb verb, const int *ids, int count, const Arg *input, const Arg *torques) {
  bs_batch *b = &self->b;
  const void *data = input->view.buf;
  int failed = 0;
  Py_BEGIN_ALLOW_THREADS;
  switch (verb) {
    case RESET: failed = bs_batch_reset(b, ids, count, data); break;
    case STEP: failed = bs_batch_step(b, ids, count, data, torques->view.buf); break;
    case PHYSICS: failed = bs_batch_physics(b, ids, count, data); break;
    case DEFEND_RESET: failed = bs_batch_defend_reset(b, ids, count, data); break;
    case DEFEND_STEP: failed = bs_batch_defend_step(b, ids, count, data); break;
  }
  Py_END_ALLOW_THREADS;
  return failed;
}

static PyObject *call_verb(Core *self, PyObject *const *args, Py_ssize_t nargs, Verb verb) {
  static const size_t bytes_each[] = {6 * sizeof(double), 2 * sizeof(float),
                                      BS_SUBSTEPS * BS_NU * sizeof(double), 6 * sizeof(double), 2 * sizeof(float)};
  Arg held[3] = {{.held = 0}, {.held = 0}, {.held = 0}};
  const int *ids;
  PyObject *result = NULL;
  if (nargs < 2 || nargs > 3) {
    PyErr_SetString(PyExc_TypeError, "expected input, ids and optionally a buffer for torques");
    return NULL;
  }
  const int count = chosen(self, args[1], &held[1], &ids);
  if (count < 0) goto done;
  if (take(args[0], &held[0], (Py_ssize_t)(bytes_each[verb] * (size_t)count), 0, "input")) goto done;
  if (nargs == 3 &&
      take(args[2], &held[2], (Py_ssize_t)(bytes_each[PHYSICS] * (size_t)count), 1, "torques"))
    goto done;
  const int failed = perform(self, verb, ids, count, &held[0], &held[2]);
  result = PyLong_FromLong(failed);
done:
  drop(held, 3);
  return result;
}

#define VERB(name, verb)                                                                   \
  static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {         \
    return call_verb((Core *)self, args, nargs, verb);                                     \
  }
VERB(core_reset, RESET)
VERB(core_step, STEP)
VERB(core_physics, PHYSICS)
VERB(core_defend_reset, DEFEND_RESET)
VERB(core_defend_step, DEFEND_STEP)

/* track(id, conditions): what happens in environment id from its next reset on. */
static PyObject *core_track(PyObject *object, PyObject *args) {
  Core *self = (Core *)object;
  PyObject *conditions;
  int id;
  Arg held;
  if (!PyArg_ParseTuple(args, "iO", &id, &conditions)) return NULL;
  if (id < 0 || id >= self->b.n) return PyErr_Format(PyExc_IndexError, "environment %d does not exist", id);
  bs_conditions *target = &self->b.episode[id].conditions;
  if (take(conditions, &held, sizeof *target, 0, "conditions")) return drop(&held, 1), NULL;
  if (!held.held || held.view.len != sizeof *target) {
    drop(&held, 1);
    return PyErr_Format(PyExc_ValueError, "conditions do not have the layout this core was compiled for");
  }
  memcpy(target, held.view.buf, sizeof *target);
  drop(&held, 1);
  return bs_batch_drag(&self->b, id, target->drag) ? PyErr_NoMemory() : Py_NewRef(Py_None);
}

/* rollout(capsule, launch, conditions, result, obs, action, truth): see bs_rollout. */
enum { LAUNCH, CONDITIONS, RESULT, OBS, ACTION, TRUTH, ROLLOUT_ARGS };

static PyObject *core_rollout(PyObject *object, PyObject *args) {
  Core *self = (Core *)object;
  PyObject *capsule, *in[ROLLOUT_ARGS], *result = NULL;
  Arg held[ROLLOUT_ARGS];
  memset(held, 0, sizeof held);
  if (!PyArg_ParseTuple(args, "OOOOOOO", &capsule, &in[0], &in[1], &in[2], &in[3], &in[4], &in[5])) return NULL;
  const bs_policy *policy = PyCapsule_GetPointer(capsule, BS_POLICY_CAPSULE);
  if (!policy) return NULL;
  if (take(in[LAUNCH], &held[LAUNCH], 0, 0, "launch") || !held[LAUNCH].held) goto done;
  const Py_ssize_t m = held[LAUNCH].view.len / (Py_ssize_t)(6 * sizeof(double));
  static const char *names[] = {"launch", "conditions", "result", "obs", "action", "truth"};
  const Py_ssize_t each[] = {6 * sizeof(double),
                             sizeof(bs_conditions),
                             sizeof(bs_defend_row),
                             BS_OBSERVATIONS * BS_OBS * sizeof(float),
                             BS_MAX_STEPS * 2 * sizeof(float),
                             BS_OBSERVATIONS * 4 * sizeof(double)};
  for (int i = CONDITIONS; i < ROLLOUT_ARGS; i++)
    if (take(in[i], &held[i], each[i] * m, i >= RESULT, names[i])) goto done;
  if (!held[RESULT].held || held[CONDITIONS].view.len != each[CONDITIONS] * m) {
    PyErr_SetString(PyExc_ValueError, "conditions or results do not have the layout this core was compiled for");
    goto done;
  }
  const bs_rollout rollout = {policy,
                              held[LAUNCH].view.buf,
                              held[CONDITIONS].view.buf,
                              held[RESULT].view.buf,
                              held[OBS].view.buf,
                              held[ACTION].view.buf,
                              held[TRUTH].view.buf};
  int failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = bs_batch_rollout(&self->b, &rollout, (int)m);
  Py_END_ALLOW_THREADS;
  result = failed ? PyErr_NoMemory() : Py_NewRef(Py_None);
done:
  drop(held, ROLLOUT_ARGS);
  return result;
}

/* Everything an environment is: physics state, controller, task, and what was last read. */
enum { PARTS = 5 };
typedef struct {
  void *data;
  size_t size;
} Part;

static size_t parts_of(bs_batch *b, int id, Part parts[PARTS]) {
  const size_t nstate = (size_t)mjb_nstate(b->batch);
  const Part all[PARTS] = {{mjb_state(b->batch) + (size_t)id * nstate, nstate * sizeof(double)},
                           {&b->control[id], sizeof *b->control},
                           {&b->episode[id], sizeof *b->episode},
                           {&b->row[id], sizeof *b->row},
                           {&b->defend[id], sizeof *b->defend}};
  size_t total = 0;
  for (int i = 0; i < PARTS; i++) total += (parts[i] = all[i]).size;
  return total;
}

static PyObject *core_snapshot(PyObject *object, PyObject *args) {
  bs_batch *b = &((Core *)object)->b;
  int id;
  Part parts[PARTS];
  if (!PyArg_ParseTuple(args, "i", &id)) return NULL;
  if (id < 0 || id >= b->n) return PyErr_Format(PyExc_IndexError, "environment %d does not exist", id);
  const size_t total = parts_of(b, id, parts);
  char *copy = malloc(total), *at = copy;
  if (!copy) return PyErr_NoMemory();
  for (int i = 0; i < PARTS; at += parts[i++].size) memcpy(at, parts[i].data, parts[i].size);
  PyObject *bytes = PyBytes_FromStringAndSize(copy, (Py_ssize_t)total);
  free(copy);
  return bytes;
}

static PyObject *core_restore(PyObject *object, PyObject *args) {
  bs_batch *b = &((Core *)object)->b;
  int id;
  PyObject *bytes;
  Arg held;
  Part parts[PARTS];
  if (!PyArg_ParseTuple(args, "iO", &id, &bytes)) return NULL;
  if (id < 0 || id >= b->n) return PyErr_Format(PyExc_IndexError, "environment %d does not exist", id);
  const size_t total = parts_of(b, id, parts);
  if (take(bytes, &held, 0, 0, "snapshot")) return NULL;
  if (!held.held || (size_t)held.view.len != total) {
    drop(&held, 1);
    return PyErr_Format(PyExc_ValueError, "this is not a snapshot of this arena: it needs %zu bytes", total);
  }
  const char *at = held.view.buf;
  for (int i = 0; i < PARTS; at += parts[i++].size) memcpy(parts[i].data, at, parts[i].size);
  drop(&held, 1);
  return bs_batch_drag(b, id, b->episode[id].conditions.drag) ? PyErr_NoMemory() : Py_NewRef(Py_None);
}

/* The simulator's message for an environment whose last call failed. */
static PyObject *core_error(PyObject *object, PyObject *args) {
  int id;
  if (!PyArg_ParseTuple(args, "i", &id)) return NULL;
  const bs_batch *b = &((Core *)object)->b;
  if (id < 0 || id >= b->n) return PyErr_Format(PyExc_IndexError, "environment %d does not exist", id);
  return PyUnicode_FromString(mjb_error(b->batch, id));
}

#define FAST(name, function, doc) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, doc}
static PyMethodDef core_methods[] = {
    FAST("reset", core_reset, "reset(launches, ids): put pucks and arms at their starts."),
    FAST("step", core_step, "step(actions, ids, torques=None): one control step of the bare arena."),
    FAST("physics", core_physics, "physics(torques, ids): 20 physics steps under given torques."),
    FAST("defend_reset", core_defend_reset, "defend_reset(launches, ids): start episodes of the task."),
    FAST("defend_step", core_defend_step, "defend_step(actions, ids): one control step of the task."),
    {"track", core_track, METH_VARARGS, "track(id, conditions): what happens from the next reset on."},
    {"rollout", core_rollout, METH_VARARGS, "Run whole episodes of a native policy."},
    {"snapshot", core_snapshot, METH_VARARGS, "snapshot(id) -> bytes"},
    {"restore", core_restore, METH_VARARGS, "restore(id, bytes)"},
    {"error", core_error, METH_VARARGS, "error(id): the simulator's message of a failed environment."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot core_slots[] = {{Py_tp_new, core_new},
                                   {Py_tp_dealloc, core_dealloc},
                                   {Py_tp_methods, core_methods},
                                   {Py_tp_doc, "Many environments, stepped together on threads."},
                                   {0, NULL}};
static PyType_Spec core_spec = {"blindsave.arena._core.Core", sizeof(Core), 0, Py_TPFLAGS_DEFAULT, core_slots};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", "The compiled arena.", -1, NULL,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) {
  /* MuJoCo's Python package gives it a clock, which every step asks a dozen times to fill timers that nobody reads. */
  mjcb_time = NULL;
  PyObject *module = PyModule_Create(&definition);
  PyObject *type = PyType_FromSpec(&core_spec);
  if (!module || !type || PyModule_AddObjectRef(module, "Core", type) ||
      PyModule_AddIntConstant(module, "MUJOCO_VERSION", mjVERSION_HEADER))
    return NULL;
  Py_DECREF(type);
  return module;
}
