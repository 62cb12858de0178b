#include "chain.h"

#include <math.h>
#include <string.h>

static inline void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void apply(const double r[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

static inline void apply_transposed(const double r[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = r[i] * v[0] + r[3 + i] * v[1] + r[6 + i] * v[2];
}

void bs_forward(const bs_chain *chain, const double q[BS_JOINTS], bs_pose *pose) {
  double rot[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
  for (int i = 0; i < BS_JOINTS; i++) {
    double moved[3], *step = pose->step[i], s = sin(q[i]), c = cos(q[i]);
    const double *fixed = chain->rot[i];
    apply(rot, chain->pos[i], moved);
    for (int k = 0; k < 3; k++) pose->origin[i][k] = origin[k] += moved[k];
    for (int k = 0; k < 3; k++) { /* fixed * Rz(q) */
      step[3 * k] = fixed[3 * k] * c + fixed[3 * k + 1] * s;
      step[3 * k + 1] = fixed[3 * k + 1] * c - fixed[3 * k] * s;
      step[3 * k + 2] = fixed[3 * k + 2];
    }
    double next[9];
    for (int r = 0; r < 3; r++)
      for (int k = 0; k < 3; k++)
        next[3 * r + k] = rot[3 * r] * step[k] + rot[3 * r + 1] * step[3 + k] + rot[3 * r + 2] * step[6 + k];
    memcpy(rot, next, sizeof rot);
    for (int k = 0; k < 3; k++) pose->axis[i][k] = rot[3 * k + 2];
  }
  memcpy(pose->tip_rot, rot, sizeof rot);
  apply(rot, chain->tip, pose->tip);
  for (int k = 0; k < 3; k++) pose->tip[k] += origin[k];
}

void bs_jacobian(const bs_pose *pose, double jac[3 * BS_JOINTS]) {
  for (int i = 0; i < BS_JOINTS; i++) {
    double arm[3], column[3];
    for (int k = 0; k < 3; k++) arm[k] = pose->tip[k] - pose->origin[i][k];
    cross(pose->axis[i], arm, column);
    for (int k = 0; k < 3; k++) jac[k * BS_JOINTS + i] = column[k];
  }
}

void bs_inverse_dynamics(const bs_chain *chain, const bs_pose *pose, const double dq[BS_JOINTS],
                         const double ddq[BS_JOINTS], double tau[BS_JOINTS]) {
  double force[BS_JOINTS][3], moment[BS_JOINTS][3];
  /* Outwards: angular velocity w, angular acceleration al and origin acceleration a, in each link's own frame.
     The base accelerates upwards, which is gravity. */
  double w[3] = {0, 0, 0}, al[3] = {0, 0, 0}, a[3] = {0, 0, chain->gravity};
  for (int i = 0; i < BS_JOINTS; i++) {
    double t[3], u[3], carried[3];
    cross(al, chain->pos[i], t);
    cross(w, chain->pos[i], u);
    cross(w, u, carried);
    for (int k = 0; k < 3; k++) carried[k] += a[k] + t[k];
    apply_transposed(pose->step[i], carried, a);
    apply_transposed(pose->step[i], w, t);
    apply_transposed(pose->step[i], al, u);
    /* z x the link's own turning: al gains w_parent x z dq + z ddq. */
    al[0] = u[0] + t[1] * dq[i];
    al[1] = u[1] - t[0] * dq[i];
    al[2] = u[2] + ddq[i];
    w[0] = t[0], w[1] = t[1], w[2] = t[2] + dq[i];

    double iw[3], ial[3];
    cross(al, chain->com[i], t);
    cross(w, chain->com[i], u);
    cross(w, u, carried);
    for (int k = 0; k < 3; k++) force[i][k] = chain->mass[i] * (a[k] + t[k] + carried[k]);
    apply(chain->inertia[i], w, iw);
    apply(chain->inertia[i], al, ial);
    cross(w, iw, t);
    cross(chain->com[i], force[i], u);
    for (int k = 0; k < 3; k++) moment[i][k] = ial[k] + t[k] + u[k]; /* about the link origin */
  }
  /* Inwards: each link passes its force and moment to its parent. */
  for (int i = BS_JOINTS - 1; i >= 0; i--) {
    tau[i] = moment[i][2] + chain->armature[i] * ddq[i];
    if (i == 0) break;
    double f[3], n[3], lever[3];
    apply(pose->step[i], force[i], f);
    apply(pose->step[i], moment[i], n);
    cross(chain->pos[i], f, lever);
    for (int k = 0; k < 3; k++) force[i - 1][k] += f[k], moment[i - 1][k] += n[k] + lever[k];
  }
}
