/* One shot, one blackout, one outcome: the defence task around an arena environment. */
#ifndef BLINDSAVE_DEFEND_H
#define BLINDSAVE_DEFEND_H

#include "arena/core/arena.h"

enum { BS_MAX_STEPS = 125, BS_OBSERVATIONS = BS_MAX_STEPS + 1, BS_OBS = 19, BS_FIELD = 10 };

/* The codes of task/outcomes.py. */
enum {
  BS_RUNNING = 0,
  BS_GOAL_CONCEDED,
  BS_RETURNED,
  BS_ARRESTED,
  BS_SAFE_DEFLECTION,
  BS_MISSED_GOAL_WITHOUT_CONTACT,
  BS_UPSTREAM_TERMINAL_AFTER_CONTACT,
  BS_UPSTREAM_TERMINAL_WITHOUT_CONTACT,
  BS_TIMEOUT_AFTER_CONTACT,
  BS_TIMEOUT_WITHOUT_CONTACT,
  BS_SIMULATOR_FAULT,
  BS_NON_FINITE_STATE
};

/* What happens in an episode besides the policy, decided before it starts; mirrored by RECORD in task/tracking.py.
   Positions are normalised to the puck's box. */
typedef struct {
  double drag;                       /* factor on the puck's drag */
  double offset[BS_OBSERVATIONS][2]; /* added to the measured position */
  double place[BS_OBSERVATIONS][2];  /* reported instead of the measured position, where `replaced` */
  double field[2][BS_FIELD];         /* an error that depends on the place: cubic polynomials in x and y */
  int32_t locked_steps;
  int16_t source[BS_OBSERVATIONS]; /* the observation whose position is reported; its own, unless the tracker is late */
  uint8_t visible[BS_OBSERVATIONS]; /* the flag */
  uint8_t reported[BS_OBSERVATIONS]; /* whether a position comes with it */
  uint8_t replaced[BS_OBSERVATIONS];
  uint8_t has_offset, has_field;
} bs_conditions;

typedef struct {
  bs_conditions conditions;
  double measured[BS_OBSERVATIONS][2]; /* where the puck was at every observation so far */
  int32_t slow_steps; /* consecutive control steps of a touched, nearly still puck */
} bs_episode;

/* What can be read after a step; mirrored by ROW in task/defend.py. */
typedef struct {
  double reward, score, truth[4]; /* score: sum of rewards; truth: puck x, y, vx, vy in the robot frame */
  float obs[BS_OBS];
  int16_t steps, first_contact;   /* first_contact: control step, -1 = never */
  int8_t outcome;
  uint8_t touched, visible, locked, padding[4];
} bs_defend_row;

void bs_defend_reset(const bs_arena *arena, bs_episode *episode, const bs_row *state, bs_defend_row *row);

/* The action the arena executes: the requested one, or the mallet's own position while the lock is on. */
void bs_defend_applied(const bs_defend_row *row, const float requested[2], float applied[2]);

/* Judge the arena's step and build the next observation. */
void bs_defend_judge(const bs_arena *arena, bs_episode *episode, const bs_row *state, bs_defend_row *row);

#endif
