#include "arena.h"

#include <math.h>
#include <string.h>

static void quat_to_mat(const double quat[4], double mat[9]) { mju_quat2Mat(mat, quat); }

/* R diag(d) R^T, row-major. */
static void rotated_inertia(const double rot[9], const double diag[3], double out[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      out[3 * r + c] = 0;
      for (int k = 0; k < 3; k++) out[3 * r + c] += rot[3 * r + k] * diag[k] * rot[3 * c + k];
    }
}

/* Add a rigid body (centre of mass and inertia in the link frame) to a link. */
static void merge(double *mass, double com[3], double inertia[9], double m2, const double com2[3],
                  const double inertia2[9]) {
  double total = *mass + m2, centre[3];
  for (int k = 0; k < 3; k++) centre[k] = (*mass * com[k] + m2 * com2[k]) / total;
  const double masses[2] = {*mass, m2}, *coms[2] = {com, com2};
  for (int k = 0; k < 9; k++) inertia[k] += inertia2[k];
  for (int b = 0; b < 2; b++) { /* parallel axes */
    double o[3];
    for (int k = 0; k < 3; k++) o[k] = coms[b][k] - centre[k];
    double square = o[0] * o[0] + o[1] * o[1] + o[2] * o[2];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) inertia[3 * r + c] += masses[b] * ((r == c ? square : 0) - o[r] * o[c]);
  }
  *mass = total;
  memcpy(com, centre, sizeof centre);
}

int bs_chain_from_model(const mjModel *robot, bs_chain *chain) {
  const int first = 2, tip = first + BS_JOINTS; /* bodies: world, base, seven links, rod end */
  if (robot->nq != BS_JOINTS || robot->nbody != tip + 1) return 0;
  for (int i = 0; i < BS_JOINTS; i++) {
    const int b = first + i;
    double frame[9];
    memcpy(chain->pos[i], robot->body_pos + 3 * b, sizeof chain->pos[i]);
    memcpy(chain->com[i], robot->body_ipos + 3 * b, sizeof chain->com[i]);
    quat_to_mat(robot->body_quat + 4 * b, chain->rot[i]);
    quat_to_mat(robot->body_iquat + 4 * b, frame);
    rotated_inertia(frame, robot->body_inertia + 3 * b, chain->inertia[i]);
    chain->mass[i] = robot->body_mass[b];
    chain->armature[i] = robot->dof_armature[i];
  }
  const int last = BS_JOINTS - 1;
  double inertia[9], frame[9];
  quat_to_mat(robot->body_iquat + 4 * tip, frame);
  rotated_inertia(frame, robot->body_inertia + 3 * tip, inertia);
  memcpy(chain->tip, robot->body_pos + 3 * tip, sizeof chain->tip);
  merge(&chain->mass[last], chain->com[last], chain->inertia[last], robot->body_mass[tip], chain->tip, inertia);
  chain->gravity = -robot->opt.gravity[2];
  return 1;
}

static double normalised(double x, double low, double high) { return 2 * (x - low) / (high - low) - 1; }

static void look(const bs_arena *arena, const mjData *d, const bs_control *control, bs_row *row) {
  const bs_law *law = &arena->law;
  const double *q = d->qpos + BS_ARM, *puck = d->qpos + BS_PUCK, *puck_v = d->qvel + BS_PUCK;
  bs_pose pose;
  bs_forward(&arena->chain, q, &pose);
  memcpy(row->qpos, d->qpos, sizeof row->qpos);
  memcpy(row->qvel, d->qvel, sizeof row->qvel);
  memcpy(row->puck_pos, puck, sizeof row->puck_pos);
  memcpy(row->puck_vel, puck_v, sizeof row->puck_vel);
  memcpy(row->u_pos, d->qpos + BS_UNIVERSAL, sizeof row->u_pos);
  memcpy(row->cmd_pos, control->command_q, sizeof row->cmd_pos);
  memcpy(row->cmd_vel, control->command_dq, sizeof row->cmd_vel);
  for (int k = 0; k < 3; k++) row->mallet_pos[k] = pose.tip[k] + law->base[k];

  double *raw = row->obs_raw, *obs = row->policy_obs;
  const double turn = 2 * mjPI;
  raw[0] = puck[0] - law->base[0];
  raw[1] = puck[1] - law->base[1];
  raw[2] = puck[2] - turn * floor((puck[2] + mjPI) / turn); /* into [-pi, pi) */
  memcpy(raw + 3, puck_v, 3 * sizeof *raw);
  memcpy(raw + 6, q, BS_JOINTS * sizeof *raw);
  memcpy(raw + 13, control->dq, BS_JOINTS * sizeof *raw);
  for (int i = 0; i < BS_JOINTS; i++) {
    obs[i] = normalised(q[i], -law->joint_range[i], law->joint_range[i]);
    obs[7 + i] = control->dq[i];
  }
  for (int k = 0; k < 2; k++) {
    obs[14 + k] = normalised(pose.tip[k], law->mallet_low[k], law->mallet_high[k]);
    obs[16 + k] = normalised(raw[k], law->puck_low[k], law->puck_high[k]);
    obs[18 + k] = puck_v[k];
  }

  double vx = puck_v[0], vy = puck_v[1], spin = puck_v[2];
  row->absorbing = (puck[0] > 0 && vx > 0) || sqrt(vx * vx + vy * vy) < 0.1 ||
                   fabs(puck[0]) > law->table_half_length || fabs(puck[1]) > law->table_half_width ||
                   sqrt(vx * vx + vy * vy + spin * spin) > 100;
  for (int k = 0; k < BS_NQ; k++)
    if (!isfinite(d->qpos[k]) || !isfinite(d->qvel[k])) row->fault = 1;
}

void bs_arena_reset(const bs_arena *arena, const mjModel *m, mjData *d, bs_control *control, bs_row *row,
                    const double launch[6]) {
  const double *home = arena->law.home_arm, zero[2] = {0, 0};
  bs_pose pose;
  mj_resetData(m, d);
  memcpy(d->qpos + BS_ARM, home, BS_JOINTS * sizeof *home);
  bs_forward(&arena->chain, home, &pose);
  bs_upright(&arena->law, &pose, zero, d->qpos + BS_UNIVERSAL);
  memcpy(d->qpos + BS_PUCK, launch, 3 * sizeof *launch);
  memcpy(d->qvel + BS_PUCK, launch + 3, 3 * sizeof *launch);
  bs_control_reset(control, home);
  row->contact = row->fault = 0;
  look(arena, d, control, row);
  for (int i = 0; i < BS_JOINTS; i++) row->cmd_pos[i] = row->cmd_vel[i] = NAN; /* no command yet */
  row->absorbing = 0;
}

static int touching(const bs_arena *arena, const mjData *d) {
  for (int i = 0; i < d->ncon; i++) {
    const int *g = d->contact[i].geom;
    if ((g[0] == arena->puck_geom && g[1] == arena->mallet_geom) ||
        (g[1] == arena->puck_geom && g[0] == arena->mallet_geom))
      return 1;
  }
  return 0;
}

void bs_arena_step(const bs_arena *arena, const mjModel *m, mjData *d, bs_control *control, bs_row *row,
                   const float action[2], double *torques) {
  bs_control_command(&arena->law, &arena->chain, control, d->qpos + BS_ARM, action);
  row->contact = 0;
  for (int j = 1; j <= BS_SUBSTEPS; j++) {
    bs_control_torque(&arena->law, &arena->chain, control, j, d->qpos + BS_ARM, d->qpos + BS_UNIVERSAL,
                      d->qvel + BS_UNIVERSAL, d->ctrl);
    if (torques) memcpy(torques + (j - 1) * BS_NU, d->ctrl, BS_NU * sizeof *torques);
    mj_step(m, d);
    if (touching(arena, d)) row->contact = 1;
    bs_control_observe(&arena->law, control, d->qvel + BS_ARM);
  }
  look(arena, d, control, row);
}
