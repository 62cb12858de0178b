#include "defend.h"

#include <math.h>
#include <string.h>

static const double GOAL_HALF_WIDTH = 0.125, RETURN_X = -0.55, RETURN_SPEED = 0.15, STILL_SPEED = 0.1;
static const int STILL_STEPS = 3;

static int saved(int outcome) {
  return outcome == BS_RETURNED || outcome == BS_ARRESTED || outcome == BS_SAFE_DEFLECTION;
}

/* Build the public observation: clip, hide, disturb. Nothing else of the state leaves this function. */
static void observe(const bs_arena *arena, const bs_tracking *tracking, const bs_row *state, bs_defend_row *row) {
  const int t = row->steps;
  row->visible = tracking->visible[t];
  row->locked = t < tracking->locked_steps;
  for (int k = 0; k < 18; k++) {
    double value = state->policy_obs[k];
    if (k >= 16) {
      if (!row->visible) value = 0;
      else if (tracking->has_offset) value += tracking->offset[t][k - 16];
    }
    row->obs[k] = (float)fmin(fmax(value, -1.0), 1.0);
  }
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
  observe(arena, &episode->tracking, state, row);
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
  if (row->outcome != BS_NON_FINITE_STATE) observe(arena, &episode->tracking, state, row);
}
