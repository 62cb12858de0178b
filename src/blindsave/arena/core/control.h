/* The control law between a policy's mallet target and the joint torques, with everything it remembers. */
#ifndef BLINDSAVE_CONTROL_H
#define BLINDSAVE_CONTROL_H

#include "chain.h"

#define BS_SUBSTEPS 20

/* All numbers of the law; filled from Python's arena/constants.py, so that there is one source. */
typedef struct {
  double mallet_height, task_stiffness[3], task_damping[3], damped_inverse;
  double half_velocity[BS_JOINTS], half_acceleration[BS_JOINTS];
  double velocity_limit[BS_JOINTS], joint_range[BS_JOINTS], torque_limit[BS_JOINTS];
  double stiffness[BS_JOINTS], damping[BS_JOINTS];
  double arm_filter, universal_filter, universal_stiffness, universal_damping, universal_clamp, limiter_gain;
  double butter_b[5], butter_a[5], butter_steady[4];
  double mallet_low[2], mallet_high[2], puck_low[2], puck_high[2];
  double home_arm[BS_JOINTS], base[3];
  double control_dt, physics_dt, table_half_length, table_half_width;
} bs_law;

/* What the controller carries from step to step. Plain data: copying it copies the controller. */
typedef struct {
  double dq[BS_JOINTS];             /* low-pass filtered joint velocity: feedback and observation */
  double du[2];                     /* low-pass filtered universal-joint velocity */
  double butter[2][4];              /* target filter */
  double dq_command[BS_JOINTS];     /* last commanded joint velocity */
  double from_q[BS_JOINTS], from_dq[BS_JOINTS]; /* where the running interpolation started */
  double slope_q[BS_JOINTS], slope_dq[BS_JOINTS];
  double limited_q[BS_JOINTS];      /* the safety limiter's last position */
  double command_q[BS_JOINTS], command_dq[BS_JOINTS];
  int started;                      /* has this episode seen an action? */
} bs_control;

void bs_control_reset(bs_control *state, const double q[BS_JOINTS]);

/* 50 Hz: turn a normalised mallet target into a joint command and start interpolating towards it. */
void bs_control_command(const bs_law *law, const bs_chain *chain, bs_control *state, const double q[BS_JOINTS],
                        const float action[2]);

/* 1 kHz: torques of the arm (7) and the universal joint (2) for substep 1..20. */
void bs_control_torque(const bs_law *law, const bs_chain *chain, bs_control *state, int substep,
                       const double q[BS_JOINTS], const double u[2], const double du[2], double torque[BS_JOINTS + 2]);

/* 1 kHz, after the physics step: filter the joint velocity. */
void bs_control_observe(const bs_law *law, bs_control *state, const double dq_true[BS_JOINTS]);

/* The universal-joint angles that keep the mallet upright for a pose of the arm. */
void bs_upright(const bs_law *law, const bs_pose *pose, const double last[2], double angle[2]);

#endif
