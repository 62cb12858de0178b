/* Many environments on MuJoCo's own batch runner: its threads, its containment of simulator errors. */
#ifndef BLINDSAVE_BATCH_H
#define BLINDSAVE_BATCH_H

#include <mujoco/mjbatch.h>

#include "arena/core/arena.h"
#include "policy.h"
#include "defend.h"

typedef struct {
  bs_arena arena;
  mjModel *model; /* borrowed; kept alive by the Python object */
  mjBatch *batch, *rollout_batch;
  int n, threads;
  int *slot;           /* n: environment -> position in the caller's arrays, valid during a call */
  int *order;          /* n: the environments of a call in rising order, as the batch runner insists on */
  bs_control *control; /* n */
  bs_episode *episode; /* n */
  bs_row *row;         /* n, in Python's memory */
  bs_defend_row *defend; /* n, in Python's memory, or `spare` where only the bare arena is used */
  bs_defend_row *spare;
} bs_batch;

/* Whole episodes of one policy, without Python. Optional outputs may be NULL. */
typedef struct {
  const bs_policy *policy;
  const double *launch;      /* m x 6 */
  const bs_conditions *conditions; /* m */
  bs_defend_row *result;     /* m: the last row of each episode */
  float *obs, *action;       /* m x 126 x 19, m x 125 x 2, or NULL */
  double *truth;             /* m x 126 x 4 or NULL */
} bs_rollout;

/* All return the number of environments whose simulation failed; `message` is the first failure's text.
   ids may be NULL: all environments, in order. */
int bs_batch_reset(bs_batch *b, const int *ids, int nid, const double *launch);
int bs_batch_step(bs_batch *b, const int *ids, int nid, const float *action, double *torques);
int bs_batch_physics(bs_batch *b, const int *ids, int nid, const double *torques);
int bs_batch_defend_reset(bs_batch *b, const int *ids, int nid, const double *launch);
int bs_batch_defend_step(bs_batch *b, const int *ids, int nid, const float *action);
/* Returns 0, or -1 if memory ran out. */
int bs_batch_rollout(bs_batch *b, const bs_rollout *rollout, int m);
/* Scale the puck's drag in one environment. Returns 0 or -1. */
int bs_batch_drag(bs_batch *b, int id, double factor);

#endif
