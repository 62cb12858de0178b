/* One step of a student as a graph that can be run forwards and backwards over blocks of rows. */
#ifndef BLINDSAVE_GRAPH_H
#define BLINDSAVE_GRAPH_H

#include <stdint.h>

enum { BS_ROWS = 32, BS_PAD = 16 };
/* Rows of a block, and the multiple every width is rounded up to. Both decide the order of sums, hence bits. */

enum { BS_NONE, BS_ROW, BS_CARRY, BS_VECTOR, BS_PARAMETER }; /* where a value lies */

enum { BS_COPY, BS_SILU, BS_TANH, BS_SIGMOID, BS_EXP, BS_LOG, BS_SQRT, BS_ADD, BS_SUB, BS_MUL, BS_DIV, BS_LINEAR };

/* `size` floats: column `column` of the buffer at `place`, whose rows are `stride` floats apart.
 * Vectors and parameters are the same for all rows. */
typedef struct {
    int32_t space, place, column, stride, size, differentiable;
} bs_value;

typedef struct {
    int32_t kind, weight, keeps_sigmoid; /* keeps_sigmoid: silu may leave sigmoid(x) where x was */
    bs_value out, a, b;                  /* linear: a is x, b the start */
} bs_node;

typedef struct {
    int32_t parameter, out, in, padded_out, padded_in, place; /* place: of the padded copies, in floats */
} bs_weight;

typedef struct {
    int32_t nodes, vector_nodes, weights;               /* the first `vector_nodes` involve parameters alone */
    int32_t block, lasting;                             /* floats of a row; those that the way back reads, first */
    int32_t vectors, parameters, padded, widest;        /* floats: of all vectors, all parameters, ... */
    int32_t constants;                                  /* written numbers, which are the first vectors */
    bs_value input, previous, memory, action;           /* memory: after the step */
    int32_t row_floats, input_floats, previous_floats;  /* a row of the table: input, label, previous */
    const bs_node *node;
    const bs_weight *weight;
    const float *constant;
} bs_graph;

typedef struct {
    const float *rows;
    const int64_t *offsets;
    const int32_t *steps;
} bs_table;

typedef struct {
    int32_t chunk;
    float learning_rate, weight_decay, clip;
} bs_recipe;

typedef struct {
    double loss;
    int64_t episodes, updates;
    double norms;
} bs_summary;

enum { BS_ACTION = 2 };

typedef struct bs_room bs_room;

typedef struct {
    const char *name;
    void (*train)(const bs_graph *, bs_room *, const bs_table *, const bs_recipe *, const int32_t *batches,
                  int64_t count, int64_t batch, float *parameters, float *first, float *second, int32_t *updates,
                  bs_summary *);
    double (*evaluate)(const bs_graph *, bs_room *, const bs_table *, const int32_t *episodes, int64_t count,
                       const float *parameters);
    void (*gradient)(const bs_graph *, bs_room *, const bs_table *, int32_t chunk, const int32_t *episodes,
                     int64_t count, const float *parameters, float *gradient, double *loss);
} bs_trainer_path;

/* The ways this processor can run, fastest first, ended by one without a name. */
const bs_trainer_path *bs_trainer_paths(void);

/* Working memory for one training at a time. */
struct bs_room {
    float *activations, *gradients, *vectors, *vector_gradients, *parameters, *parameter_gradients;
    float *weight_in_rows, *weight_out_rows, *weight_gradients; /* (in, out), (out, in), (out, in), padded */
    float *carried, *carry_gradient, *next_carry_gradient, *scratch;
    void *all;
};
int bs_room_make(const bs_graph *, int32_t chunk, bs_room *);

#endif
