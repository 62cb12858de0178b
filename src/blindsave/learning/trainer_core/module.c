/* blindsave.learning._trainer: the Python face of the native trainer. Every call carries its graph as integers. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { BS_MOST_STEPS = 256 };
enum { BUFFERS = 9 };

static PyObject *BadInput;

/* The arguments every function shares, checked. */
typedef struct {
    Py_buffer view[BUFFERS];
    int held;
    bs_graph graph;
    bs_table table;
    int64_t table_rows, table_episodes;
    const bs_trainer_path *path;
    bs_room room;
} Call;

static void call_end(Call *call) {
    for (int i = 0; i < call->held; i++) PyBuffer_Release(&call->view[i]);
    free(call->room.all);
}

/* A C-contiguous buffer of items of a format; returns the items, or null with an exception that names it. */
static void *take(Call *call, PyObject *object, char format, size_t item, int64_t *count, int writable,
                  const char *name) {
    Py_buffer *view = &call->view[call->held];
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0) return 0;
    call->held++;
    const char *found = view->format ? view->format : "B";
    if (*found == '<' || *found == '=') found++;
    const int same = *found == format || (format == 'q' && *found == 'l' && sizeof(long) == 8);
    if (!same || (size_t)view->itemsize != item) {
        PyErr_Format(BadInput, "the %s must be a C-ordered array of format %c", name, format);
        return 0;
    }
    if (*count >= 0 && view->len != *count * (int64_t)item) {
        PyErr_Format(BadInput, "the %s must hold %lld numbers", name, (long long)*count);
        return 0;
    }
    *count = view->len / (int64_t)item;
    return view->buf;
}

/* description: the head of bs_graph, then nodes, weights and the bits of constants. */
static int read_graph(Call *call, PyObject *object) {
    int64_t count = -1;
    const int32_t *ints = take(call, object, 'i', 4, &count, 0, "graph");
    if (!ints) return -1;
    const size_t value = sizeof(bs_value) / 4, head = 10 + 4 * value + 3;
    if (count < (int64_t)head) goto bad;
    bs_graph *g = &call->graph;
    memcpy(&g->nodes, ints, 4 * head);
    if (g->nodes < 0 || g->weights < 0 || g->vector_nodes < 0 || g->vector_nodes > g->nodes) goto bad;
    if (g->lasting < 0 || g->lasting > g->block) goto bad;
    if (g->constants < 0 || g->constants > g->vectors || g->row_floats < 1) goto bad;
    const int64_t nodes = g->nodes * (int64_t)(sizeof(bs_node) / 4);
    const int64_t weights = g->weights * (int64_t)(sizeof(bs_weight) / 4);
    if (count != (int64_t)head + nodes + weights + g->constants) goto bad;
    g->node = (const bs_node *)(ints + head);
    g->weight = (const bs_weight *)(g->node + g->nodes);
    g->constant = (const float *)(g->weight + g->weights);
    return 0;
bad:
    PyErr_SetString(BadInput, "the graph is not one this trainer was built for");
    return -1;
}

static int read_table(Call *call, PyObject *rows, PyObject *offsets, PyObject *steps) {
    int64_t floats = -1, episodes = -1;
    call->table.rows = take(call, rows, 'f', 4, &floats, 0, "table");
    if (!call->table.rows) return -1;
    call->table.steps = take(call, steps, 'i', 4, &episodes, 0, "steps");
    if (!call->table.steps) return -1;
    call->table.offsets = take(call, offsets, 'q', 8, &episodes, 0, "offsets");
    if (!call->table.offsets) return -1;
    call->table_rows = floats / call->graph.row_floats;
    call->table_episodes = episodes;
    return 0;
}

/* Episode numbers must exist, fit the table and be sorted, longest first, -1 last. */
static int check_episodes(const Call *call, const int32_t *episodes, int64_t count) {
    int32_t before = INT32_MAX;
    for (int64_t i = 0; i < count; i++) {
        const int32_t e = episodes[i];
        if (e < -1 || e >= call->table_episodes || (e < 0 && i == 0)) goto bad;
        const int32_t steps = e < 0 ? 0 : call->table.steps[e];
        if (steps > before || (e >= 0 && (steps < 1 || steps > BS_MOST_STEPS))) goto bad;
        if (e >= 0 && (call->table.offsets[e] < 0 || call->table.offsets[e] + steps > call->table_rows)) goto bad;
        before = steps;
    }
    return 0;
bad:
    PyErr_SetString(BadInput, "a batch must name known episodes of 1 to 256 steps, longest first, -1 at its end");
    return -1;
}

static int choose_path(Call *call, const char *name) {
    for (const bs_trainer_path *path = bs_trainer_paths(); path->name; path++)
        if (!*name || !strcmp(name, path->name)) {
            call->path = path;
            return 0;
        }
    PyErr_Format(BadInput, "this processor cannot train by `%s`", name);
    return -1;
}

static int begin(Call *call, const char *path, PyObject *graph, PyObject *rows, PyObject *offsets, PyObject *steps,
                 int chunk) {
    if (choose_path(call, path) || read_graph(call, graph) || read_table(call, rows, offsets, steps)) return -1;
    if (chunk < 1) {
        PyErr_SetString(BadInput, "a chunk has at least one step");
        return -1;
    }
    if (bs_room_make(&call->graph, chunk < BS_MOST_STEPS ? chunk : BS_MOST_STEPS, &call->room)) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(call->room.vectors, call->graph.constant, sizeof(float) * (size_t)call->graph.constants);
    return 0;
}

static PyObject *train(PyObject *self, PyObject *args) {
    (void)self;
    Call call = {0};
    PyObject *graph, *rows, *offsets, *steps, *batches, *parameters, *first, *second, *result = 0;
    const char *path;
    bs_recipe recipe;
    long long batch;
    int updates;
    if (!PyArg_ParseTuple(args, "sOOOOOLOOOiifff", &path, &graph, &rows, &offsets, &steps, &batches, &batch, &parameters,
                          &first, &second, &updates, &recipe.chunk, &recipe.learning_rate, &recipe.weight_decay,
                          &recipe.clip))
        return 0;
    if (begin(&call, path, graph, rows, offsets, steps, recipe.chunk)) goto done;
    int64_t count = -1, size = call.graph.parameters;
    const int32_t *order = take(&call, batches, 'i', 4, &count, 0, "batches");
    float *p = order ? take(&call, parameters, 'f', 4, &size, 1, "parameters") : 0;
    float *m = p ? take(&call, first, 'f', 4, &size, 1, "first moments") : 0;
    float *v = m ? take(&call, second, 'f', 4, &size, 1, "second moments") : 0;
    if (!v) goto done;
    if (batch < 1 || count % batch) {
        PyErr_SetString(BadInput, "the batches must be whole");
        goto done;
    }
    for (int64_t i = 0; i < count; i += batch)
        if (check_episodes(&call, order + i, batch)) goto done;
    int32_t done_updates = updates;
    bs_summary summary;
    Py_BEGIN_ALLOW_THREADS
    call.path->train(&call.graph, &call.room, &call.table, &recipe, order, count / batch, batch, p, m, v, &done_updates,
                     &summary);
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("dLLd", summary.loss, (long long)summary.episodes, (long long)summary.updates, summary.norms);
done:
    call_end(&call);
    return result;
}

static PyObject *evaluate(PyObject *self, PyObject *args) {
    (void)self;
    Call call = {0};
    PyObject *graph, *rows, *offsets, *steps, *episodes, *parameters, *result = 0;
    const char *path;
    if (!PyArg_ParseTuple(args, "sOOOOOO", &path, &graph, &rows, &offsets, &steps, &episodes, &parameters)) return 0;
    if (begin(&call, path, graph, rows, offsets, steps, 2)) goto done;
    int64_t count = -1, size = call.graph.parameters;
    const int32_t *order = take(&call, episodes, 'i', 4, &count, 0, "episodes");
    const float *p = order ? take(&call, parameters, 'f', 4, &size, 0, "parameters") : 0;
    if (!p || check_episodes(&call, order, count)) goto done;
    while (count && order[count - 1] < 0) count--;
    double error = 0;
    Py_BEGIN_ALLOW_THREADS
    error = call.path->evaluate(&call.graph, &call.room, &call.table, order, count, p);
    Py_END_ALLOW_THREADS
    result = PyFloat_FromDouble(error);
done:
    call_end(&call);
    return result;
}

static PyObject *gradient(PyObject *self, PyObject *args) {
    (void)self;
    Call call = {0};
    PyObject *graph, *rows, *offsets, *steps, *episodes, *parameters, *out, *result = 0;
    const char *path;
    int chunk;
    if (!PyArg_ParseTuple(args, "sOOOOiOOO", &path, &graph, &rows, &offsets, &steps, &chunk, &episodes, &parameters,
                          &out))
        return 0;
    if (begin(&call, path, graph, rows, offsets, steps, chunk)) goto done;
    int64_t count = -1, size = call.graph.parameters;
    const int32_t *order = take(&call, episodes, 'i', 4, &count, 0, "episodes");
    const float *p = order ? take(&call, parameters, 'f', 4, &size, 0, "parameters") : 0;
    float *slope = p ? take(&call, out, 'f', 4, &size, 1, "gradient") : 0;
    if (!slope || check_episodes(&call, order, count)) goto done;
    while (count && order[count - 1] < 0) count--;
    double loss = 0;
    Py_BEGIN_ALLOW_THREADS
    call.path->gradient(&call.graph, &call.room, &call.table, chunk, order, count, p, slope, &loss);
    Py_END_ALLOW_THREADS
    result = PyFloat_FromDouble(loss);
done:
    call_end(&call);
    return result;
}

static PyObject *paths(PyObject *self, PyObject *none) {
    (void)self, (void)none;
    PyObject *list = PyList_New(0);
    for (const bs_trainer_path *path = bs_trainer_paths(); list && path->name; path++) {
        PyObject *name = PyUnicode_FromString(path->name);
        if (!name || PyList_Append(list, name)) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"train", train, METH_VARARGS,
     "train(path, graph, rows, offsets, steps, batches, batch, parameters, first, second, updates, chunk,\n"
     "learning_rate, weight_decay, clip) -> (sum of losses, episodes, updates, sum of gradient norms)\n\n"
     "One epoch of one seed; parameters and moments are changed in place."},
    {"evaluate", evaluate, METH_VARARGS,
     "evaluate(path, graph, rows, offsets, steps, episodes, parameters) -> mean loss"},
    {"gradient", gradient, METH_VARARGS,
     "gradient(path, graph, rows, offsets, steps, chunk, episodes, parameters, out) -> mean loss"},
    {"paths", paths, METH_NOARGS, "The ways this processor can train, fastest first."},
    {0, 0, 0, 0},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "blindsave.learning._trainer", "The native trainer of students.", -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit__trainer(void) {
    PyObject *errors = PyImport_ImportModule("blindsave.errors");
    if (!errors) return 0;
    BadInput = PyObject_GetAttrString(errors, "BadInput");
    Py_DECREF(errors);
    if (!BadInput) return 0;
    PyObject *module = PyModule_Create(&definition);
    if (module) PyModule_AddIntConstant(module, "PAD", BS_PAD);
    return module;
}
