#include "batch.h"

#include <math.h>
#include <string.h>

enum { ROLLOUT_CHUNK = 2048, MAX_CARRY = 8192 };

typedef struct {
  bs_batch *b;
  const double *launch;
  const float *action;
  double *torques;
  int judged; /* the defence task, not the bare arena */
} call;

static void reset_one(const mjModel *m, mjData *d, int sim, void *arg) {
  const call *c = arg;
  bs_batch *b = c->b;
  bs_arena_reset(&b->arena, m, d, &b->control[sim], &b->row[sim], c->launch + 6 * c->b->slot[sim]);
  if (c->judged) bs_defend_reset(&b->arena, &b->episode[sim], &b->row[sim], &b->defend[sim]);
}

static void step_one(const mjModel *m, mjData *d, int sim, void *arg) {
  const call *c = arg;
  bs_batch *b = c->b;
  const int slot = c->b->slot[sim];
  const float *action = c->action + 2 * slot;
  double *torques = c->torques ? c->torques + (size_t)slot * BS_SUBSTEPS * BS_NU : NULL;
  float applied[2] = {action[0], action[1]};
  if (c->judged) bs_defend_applied(&b->defend[sim], action, applied);
  bs_arena_step(&b->arena, m, d, &b->control[sim], &b->row[sim], applied, torques);
  if (c->judged) bs_defend_judge(&b->arena, &b->episode[sim], &b->row[sim], &b->defend[sim]);
}

static void physics_one(const mjModel *m, mjData *d, int sim, void *arg) {
  const call *c = arg;
  const double *torques = c->torques + (size_t)c->b->slot[sim] * BS_SUBSTEPS * BS_NU;
  for (int j = 0; j < BS_SUBSTEPS; j++) {
    memcpy(d->ctrl, torques + j * BS_NU, BS_NU * sizeof *torques);
    mj_step(m, d);
  }
}

/* A simulator error ends the environment's episode as a counted fault; the process lives. */
static void mark_faults(bs_batch *b, int count, int judged) {
  const int *status = mjb_status(b->batch);
  for (int i = 0; i < count; i++) {
    const int sim = b->order[i];
    if (!status[sim]) continue;
    b->row[sim].fault = 1;
    if (judged) b->defend[sim].steps++, b->defend[sim].outcome = BS_SIMULATOR_FAULT;
  }
}

static int apply(call *c, const int *ids, int nid, mjfBatchFunc func) {
  bs_batch *b = c->b;
  int count = 0;
  if (ids)
    for (int sim = 0; sim < b->n; sim++) b->slot[sim] = -1;
  for (int i = 0; i < nid; i++) b->slot[ids ? ids[i] : i] = i;
  for (int sim = 0; sim < b->n; sim++)
    if (b->slot[sim] >= 0) b->order[count++] = sim;
  if (!count) return 0;
  const int failed = mjb_apply(b->batch, b->order, count, func, c, 1);
  if (failed) mark_faults(b, count, c->judged);
  return failed;
}

int bs_batch_reset(bs_batch *b, const int *ids, int nid, const double *launch) {
  call c = {.b = b, .launch = launch};
  return apply(&c, ids, nid, reset_one);
}

int bs_batch_step(bs_batch *b, const int *ids, int nid, const float *action, double *torques) {
  call c = {.b = b, .action = action, .torques = torques};
  return apply(&c, ids, nid, step_one);
}

int bs_batch_physics(bs_batch *b, const int *ids, int nid, const double *torques) {
  call c = {.b = b, .torques = (double *)torques};
  return apply(&c, ids, nid, physics_one);
}

int bs_batch_defend_reset(bs_batch *b, const int *ids, int nid, const double *launch) {
  call c = {.b = b, .launch = launch, .judged = 1};
  return apply(&c, ids, nid, reset_one);
}

int bs_batch_defend_step(bs_batch *b, const int *ids, int nid, const float *action) {
  call c = {.b = b, .action = action, .judged = 1};
  return apply(&c, ids, nid, step_one);
}

static int set_drag(mjBatch *batch, const mjModel *base, int sim, double factor) {
  int size = 0;
  double *damping = mjb_expand(batch, "dof_damping", &size, NULL);
  if (!damping) return -1;
  for (int k = 0; k < 2; k++) damping[(size_t)sim * size + BS_PUCK + k] = base->dof_damping[BS_PUCK + k] * factor;
  return 0;
}

int bs_batch_drag(bs_batch *b, int id, double factor) {
  b->episode[id].conditions.drag = factor;
  /* As long as every drag is the model's own, all simulations share one model. */
  if (factor == 1 && !mjb_expanded(b->batch, "dof_damping", NULL, NULL)) return 0;
  return set_drag(b->batch, b->model, id, factor);
}

typedef struct {
  bs_batch *b;
  const bs_rollout *r;
  int base; /* episode of simulation 0 */
} rollout_call;

/* One whole episode on the stack of one thread. */
static void rollout_one(const mjModel *m, mjData *d, int sim, void *arg) {
  const rollout_call *c = arg;
  const bs_rollout *r = c->r;
  const bs_arena *arena = &c->b->arena;
  const size_t e = (size_t)(c->base + sim);
  bs_control control;
  bs_row state;
  bs_episode episode;
  bs_defend_row *row = &r->result[e];
  float carry[MAX_CARRY], applied[2], requested[2] = {0, 0};

  episode.conditions = r->conditions[e];
  memset(carry, 0, r->policy->carry_floats * sizeof *carry);
  bs_arena_reset(arena, m, d, &control, &state, r->launch + 6 * e);
  bs_defend_reset(arena, &episode, &state, row);
  for (;;) {
    const size_t t = (size_t)row->steps;
    if (r->obs) memcpy(r->obs + (e * BS_OBSERVATIONS + t) * BS_OBS, row->obs, sizeof row->obs);
    if (r->truth) memcpy(r->truth + (e * BS_OBSERVATIONS + t) * 4, row->truth, sizeof row->truth);
    if (row->outcome != BS_RUNNING) break;
    r->policy->step(r->policy->self, carry, row->obs, requested);
    if (r->action) memcpy(r->action + (e * BS_MAX_STEPS + t) * 2, requested, sizeof requested);
    bs_defend_applied(row, requested, applied);
    if (!isfinite(applied[0]) || !isfinite(applied[1])) { /* a broken policy never reaches the robot */
      row->outcome = BS_NON_FINITE_STATE;
      continue;
    }
    bs_arena_step(arena, m, d, &control, &state, applied, NULL);
    bs_defend_judge(arena, &episode, &state, row);
  }
}

int bs_batch_rollout(bs_batch *b, const bs_rollout *r, int m) {
  if (r->policy->carry_floats > MAX_CARRY) return -1;
  if (!b->rollout_batch) {
    const mjBatchConfig config = {.nthread = b->threads, .persistent = 0};
    b->rollout_batch = mjb_makeBatch(b->model, ROLLOUT_CHUNK, &config, NULL, 0);
    if (!b->rollout_batch) return -1;
  }
  rollout_call c = {b, r, 0};
  int expanded = mjb_expanded(b->rollout_batch, "dof_damping", NULL, NULL) != NULL;
  for (int e = 0; e < m; e++) expanded |= r->conditions[e].drag != 1;
  for (c.base = 0; c.base < m; c.base += ROLLOUT_CHUNK) {
    const int count = m - c.base < ROLLOUT_CHUNK ? m - c.base : ROLLOUT_CHUNK;
    int ids[ROLLOUT_CHUNK];
    for (int i = 0; i < count; i++) {
      ids[i] = i;
      if (expanded && set_drag(b->rollout_batch, b->model, i, r->conditions[c.base + i].drag)) return -1;
    }
    if (!mjb_apply(b->rollout_batch, ids, count, rollout_one, &c, 0)) continue;
    const int *status = mjb_status(b->rollout_batch);
    for (int i = 0; i < count; i++)
      if (status[i]) r->result[c.base + i].outcome = BS_SIMULATOR_FAULT;
  }
  return 0;
}
