#include "defend.h"

#include <math.h>
#include <string.h>

static const double GOAL_HALF_WIDTH = 0.125, RETURN_X = -0.55, RETURN_SPEED = 0.15, STILL_SPEED = 0.1;
static const int STILL_STEPS = 3;

static int saved(int outcome) {
  return outcome == BS_RETURNED || outcome == BS_ARRESTED || outcome == BS_SAFE_DEFLECTION;
}

/* One coordinate of the error field at a place: a cubic polynomial, term by term as in task/tracking.py. */
static double field_at(const double c[BS_FIELD], double x, double y) {
  const double xx = x * x, xy = x * y, yy = y * y;
  return c[0] + c[1] * x + c[2] * y + c[3] * xx + c[4] * xy + c[5] * yy + c[6] * (xx * x) + c[7] * (xx * y) +
         c[8] * (x * yy) + c[9] * (yy * y);
}

/* What the tracker says of the puck's position. */
static void track(const bs_episode *episode, int t, double position[2]) {
  const bs_conditions *c = &episode->conditions;
  const double *measured = episode->measured[c->source[t]];
  for (int k = 0; k < 2; k++) {
    position[k] = c->replaced[t] ? c->place[t][k] : measured[k];
    if (!c->reported[t]) position[k] = 0;
    else if (!c->replaced[t]) {
      if (c->has_field) position[k] += field_at(c->field[k], measured[0], measured[1]);
      if (c->has_offset) position[k] += c->offset[t][k];
    }
  }
}

/* Build the public observation: disturb, hide, clip. Nothing else of the state leaves this function. */
static void observe(const bs_arena *arena, bs_episode *episode, const bs_row *state, bs_defend_row *row) {
  const int t = row->steps;
  double values[18];
  memcpy(values, state->policy_obs, sizeof values);
  memcpy(episode->measured[t], values + 16, sizeof episode->measured[t]);
  track(episode, t, values + 16);
  row->visible = episode->conditions.visible[t];
  row->locked = t < episode->conditions.locked_steps;
  for (int k = 0; k < 18; k++) row->obs[k] = (float)fmin(fmax(values[k], -1.0), 1.0);
  row->obs[18] = row->visible ? 1.0f : 0.0f;
  for (int k = 0; k < 2; k++) {
    row->truth[k] = state->puck_pos[k] - arena->law.base[k];
    row->truth[2 + k] = state->puck_vel[k];
  }
}

void bs_defend_reset(const bs_arena *arena, bs_episode *episode, const bs_row *state, bs_defend_row *row) {
  memset(row, 0, sizeof *row);
  row->first_contact = -1;
  episode->slow_steps = 0;
  observe(arena, episode, state, row);
}

void bs_defend_applied(const bs_defend_row *row, const float requested[2], float applied[2]) {
  for (int k = 0; k < 2; k++) applied[k] = row->locked ? row->obs[14 + k] : requested[k];
}

/* The rules in the order in which they are asked; the first that holds decides. */
static int outcome_of(const bs_arena *arena, bs_episode *episode, const bs_row *state, const bs_defend_row *row) {
  const double x = state->puck_pos[0], y = fabs(state->puck_pos[1]);
  const double vx = state->puck_vel[0], vy = state->puck_vel[1], speed = sqrt(vx * vx + vy * vy);
  const int behind = x < -arena->law.table_half_length, beside = y > arena->law.table_half_width;
  if (state->fault) return BS_NON_FINITE_STATE;
  if (behind && y <= GOAL_HALF_WIDTH) return BS_GOAL_CONCEDED;
  if (row->touched) {
    if (x >= RETURN_X && vx >= RETURN_SPEED) return BS_RETURNED;
    episode->slow_steps = speed <= STILL_SPEED ? episode->slow_steps + 1 : 0;
    if (episode->slow_steps && (episode->slow_steps >= STILL_STEPS || state->absorbing)) return BS_ARRESTED;
    if (behind || beside) return BS_SAFE_DEFLECTION;
  } else if (behind || beside) {
    return BS_MISSED_GOAL_WITHOUT_CONTACT;
  }
  if (state->absorbing)
    return row->touched ? BS_UPSTREAM_TERMINAL_AFTER_CONTACT : BS_UPSTREAM_TERMINAL_WITHOUT_CONTACT;
  if (row->steps >= BS_MAX_STEPS) return row->touched ? BS_TIMEOUT_AFTER_CONTACT : BS_TIMEOUT_WITHOUT_CONTACT;
  return BS_RUNNING;
}

void bs_defend_judge(const bs_arena *arena, bs_episode *episode, const bs_row *state, bs_defend_row *row) {
  row->steps++;
  row->reward = 0;
  if (state->contact && !row->touched) {
    row->touched = 1;
    row->first_contact = row->steps;
    row->reward += 0.2;
  }
  row->outcome = (int8_t)outcome_of(arena, episode, state, row);
  if (saved(row->outcome)) row->reward += 1;
  if (row->outcome == BS_GOAL_CONCEDED) row->reward -= 1;
  row->score += row->reward;
  if (row->outcome != BS_NON_FINITE_STATE) observe(arena, episode, state, row);
}
