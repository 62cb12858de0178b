/* A policy step as a list of canonical operations (see policies/program.py, the reference of this code).
 *
 * Operands are offsets in floats: 0 and above into the tape, -1 - offset into the constants. Every slot of the tape
 * and every constant starts on a multiple of 16 floats and owns whole groups of 16, so vector code of any width up to
 * 16 lanes may read and write past the end of an odd-sized vector without touching a neighbour.
 */
#ifndef BLINDSAVE_PROGRAM_H
#define BLINDSAVE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define BS_GROUP 16
#define BS_TAPE_LIMIT 65536 /* floats; the tape lives on the stack of the calling thread */

/* The order is that of KINDS in program.py. */
enum bs_kind {
    BS_COPY, BS_SILU, BS_TANH, BS_SIGMOID, BS_EXP, BS_LOG, BS_SQRT, BS_SYMLOG, BS_BOUND,
    BS_ADD, BS_SUB, BS_MUL, BS_DIV, BS_MAXIMUM, BS_MINIMUM,
    BS_LINEAR, BS_RMSNORM, BS_ONEHOT, BS_KINDS
};

typedef struct bs_op {
    int32_t kind, out, size;
    int32_t a, b, c;
    int32_t inner;  /* linear: inputs of one block; onehot: classes */
    int32_t blocks; /* linear: number of blocks */
    float number;   /* rmsnorm: eps */
} bs_op;

typedef struct bs_program bs_program;
typedef void (*bs_runner)(const bs_program *program, float *carry, const float *observation, float *action);

struct bs_program {
    int32_t carry, observation, action, tape;
    int32_t observation_in, carry_out, action_out;
    int32_t op_count, constant_count;
    const bs_op *ops;
    const float *constants; /* 64-byte aligned; weights are [block][input][outputs rounded up to 16] */
    bs_runner run;
};

/* One implementation of the operations for one kind of vector unit. */
typedef struct bs_path {
    const char *name;
    bs_runner run;
} bs_path;

/* The paths this machine can run, widest first, ended by a path without a name. */
const bs_path *bs_paths(void);

/* NULL if every operand lies inside the tape or the constants, else what is wrong. */
const char *bs_check(const bs_program *program);

#endif
