/* One environment of the arena: a control step is a command, 20 controlled physics steps, and a look at the result. */
#ifndef BLINDSAVE_ARENA_H
#define BLINDSAVE_ARENA_H

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "control.h"

/* qpos and qvel of the scene: seven arm joints, two universal joints, puck x, y, yaw. */
enum { BS_ARM = 0, BS_UNIVERSAL = 7, BS_PUCK = 9, BS_NQ = 12, BS_NU = 9 };

typedef struct {
  bs_law law;
  bs_chain chain;
  int puck_geom, mallet_geom;
} bs_arena;

/* What can be read after a control step; mirrored by ROW in arena/native.py. */
typedef struct {
  double policy_obs[20], obs_raw[20], puck_pos[3], puck_vel[3], mallet_pos[3], u_pos[2];
  double cmd_pos[BS_JOINTS], cmd_vel[BS_JOINTS], qpos[BS_NQ], qvel[BS_NQ];
  uint8_t contact, absorbing, fault, padding[5];
} bs_row;

/* Read the controller's chain from the compiled robot-only model. Returns 0 if the model is not that chain. */
int bs_chain_from_model(const mjModel *robot, bs_chain *chain);

/* launch: puck x, y, yaw, vx, vy, yaw rate in the table frame. */
void bs_arena_reset(const bs_arena *arena, const mjModel *m, mjData *d, bs_control *control, bs_row *row,
                    const double launch[6]);

/* torques: NULL, or room for the 20 x 9 torques that were applied. */
void bs_arena_step(const bs_arena *arena, const mjModel *m, mjData *d, bs_control *control, bs_row *row,
                   const float action[2], double *torques);

#endif
