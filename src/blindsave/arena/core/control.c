#include "control.h"

#include <math.h>
#include <string.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

static inline double clamp(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }

static inline double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void cross3(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

void bs_control_reset(bs_control *state, const double q[BS_JOINTS]) {
  memset(state, 0, sizeof *state);
  memcpy(state->from_q, q, sizeof state->from_q);
  memcpy(state->limited_q, q, sizeof state->limited_q);
}

/* One axis of the target filter (direct form II transposed). The output is a float32, as the policy's own number is. */
static float filter_target(const bs_law *law, double z[4], float input, int started) {
  const double *b = law->butter_b, *a = law->butter_a, x = input;
  if (!started)
    for (int k = 0; k < 4; k++) z[k] = law->butter_steady[k] * x;
  double y = b[0] * x + z[0];
  for (int k = 0; k < 3; k++) z[k] = b[k + 1] * x - a[k + 1] * y + z[k + 1];
  z[3] = b[4] * x - a[4] * y;
  return (float)y;
}

/* Solve the symmetric positive definite 3 x 3 system A x = v by Cholesky. */
static void solve3(double a[9], const double v[3], double x[3]) {
  double l00 = sqrt(a[0]), l10 = a[3] / l00, l20 = a[6] / l00;
  double l11 = sqrt(a[4] - l10 * l10), l21 = (a[7] - l20 * l10) / l11;
  double l22 = sqrt(a[8] - l20 * l20 - l21 * l21);
  double y0 = v[0] / l00, y1 = (v[1] - l10 * y0) / l11, y2 = (v[2] - l20 * y0 - l21 * y1) / l22;
  x[2] = y2 / l22;
  x[1] = (y1 - l21 * x[2]) / l11;
  x[0] = (y0 - l10 * x[1] - l20 * x[2]) / l00;
}

/* Joint velocity that moves the rod end as wanted: J^T (J J^T + d I)^-1 v. */
static void damped_inverse(const double jac[3 * BS_JOINTS], double damping, const double v[3], double dq[BS_JOINTS]) {
  double gram[9], x[3];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      double sum = r == c ? damping : 0;
      for (int i = 0; i < BS_JOINTS; i++) sum += jac[r * BS_JOINTS + i] * jac[c * BS_JOINTS + i];
      gram[3 * r + c] = sum;
    }
  solve3(gram, v, x);
  for (int i = 0; i < BS_JOINTS; i++)
    dq[i] = jac[i] * x[0] + jac[BS_JOINTS + i] * x[1] + jac[2 * BS_JOINTS + i] * x[2];
}

/* Slow the whole motion down until no joint breaks its velocity or acceleration limit. */
static void respect_limits(const bs_law *law, const double previous[BS_JOINTS], double dq[BS_JOINTS]) {
  double worst = 0, change[BS_JOINTS];
  for (int i = 0; i < BS_JOINTS; i++) worst = fmax(worst, fabs(dq[i]) / law->half_velocity[i]);
  if (worst > 1)
    for (int i = 0; i < BS_JOINTS; i++) dq[i] /= worst;
  worst = 0;
  for (int i = 0; i < BS_JOINTS; i++) {
    change[i] = (dq[i] - previous[i]) / law->control_dt;
    worst = fmax(worst, fabs(change[i]) / law->half_acceleration[i]);
  }
  if (worst > 1)
    for (int i = 0; i < BS_JOINTS; i++) dq[i] = previous[i] + law->control_dt * (change[i] / worst);
}

void bs_control_command(const bs_law *law, const bs_chain *chain, bs_control *state, const double q[BS_JOINTS],
                        const float action[2]) {
  float target[3];
  for (int k = 0; k < 2; k++) {
    float a = action[k] < -1.0f ? -1.0f : (action[k] > 1.0f ? 1.0f : action[k]);
    float y = filter_target(law, state->butter[k], a, state->started);
    float shifted = y + 1.0f;
    target[k] = (float)((law->mallet_high[k] - law->mallet_low[k]) * (double)shifted / 2 + law->mallet_low[k]);
  }
  target[2] = (float)law->mallet_height;

  bs_pose pose;
  double jac[3 * BS_JOINTS], velocity[3], dq[BS_JOINTS];
  bs_forward(chain, q, &pose);
  bs_jacobian(&pose, jac);
  for (int k = 0; k < 3; k++) {
    double moving = 0;
    for (int i = 0; i < BS_JOINTS; i++) moving += jac[k * BS_JOINTS + i] * state->dq[i];
    velocity[k] = law->task_stiffness[k] * ((double)target[k] - pose.tip[k]) - law->task_damping[k] * moving;
  }
  damped_inverse(jac, law->damped_inverse, velocity, dq);
  if (!state->started) memcpy(state->dq_command, state->dq, sizeof dq);
  respect_limits(law, state->dq_command, dq);
  state->started = 1;

  const double h = law->control_dt;
  for (int i = 0; i < BS_JOINTS; i++) {
    state->dq_command[i] = state->command_dq[i] = dq[i];
    state->command_q[i] = q[i] + h * dq[i];
    state->slope_q[i] = (state->command_q[i] - state->from_q[i]) / h;
    state->slope_dq[i] = (dq[i] - state->from_dq[i]) / h;
  }
}

/* Turn by 2 pi where that is nearer to the last angle, then stay inside the joint's working range. */
static double nearest_angle(double angle, double last, double limit) {
  if (angle - last > M_PI) angle -= 2 * M_PI;
  else if (angle - last < -M_PI) angle += 2 * M_PI;
  return clamp(angle, -limit, limit);
}

void bs_upright(const bs_law *law, const bs_pose *pose, const double last[2], double angle[2]) {
  const double *r = pose->tip_rot;
  const double x[3] = {r[0], r[3], r[6]}, y[3] = {r[1], r[4], r[7]};
  const double wanted_x[3] = {-y[1], y[0], 0};
  double t[3];
  cross3(x, wanted_x, t);
  double first = atan2(dot3(t, y), dot3(x, wanted_x));
  /* The recorded controller squares the skew matrix element by element where a matrix square was meant. Its motion is
     the reference, so the slip is kept. */
  const double w[9] = {0, -y[2], y[1], y[2], 0, -y[0], -y[1], y[0], 0};
  const double s = sin(first), c = 1 - cos(first);
  double turned[3];
  for (int i = 0; i < 3; i++) {
    turned[i] = 0;
    for (int k = 0; k < 3; k++) {
      double entry = (i == k) + w[3 * i + k] * s + w[3 * i + k] * w[3 * i + k] * c;
      turned[i] += entry * x[k];
    }
  }
  const double wanted_y[3] = {turned[1], -turned[0], 0};
  cross3(y, wanted_y, t);
  double second = atan2(dot3(t, turned), dot3(y, wanted_y));
  angle[0] = nearest_angle(first, last[0], law->universal_clamp);
  angle[1] = nearest_angle(second, last[1], law->universal_clamp);
}

void bs_control_torque(const bs_law *law, const bs_chain *chain, bs_control *state, int substep,
                       const double q[BS_JOINTS], const double u[2], const double du[2], double torque[BS_JOINTS + 2]) {
  const double t = substep * law->physics_dt, dt = law->physics_dt;
  bs_pose pose;
  double feed_forward[BS_JOINTS];
  bs_forward(chain, q, &pose);
  bs_inverse_dynamics(chain, &pose, state->dq, state->slope_dq, feed_forward);
  for (int i = 0; i < BS_JOINTS; i++) {
    double want_q = state->from_q[i] + t * state->slope_q[i], want_dq = state->from_dq[i] + t * state->slope_dq[i];
    double s = state->limited_q[i], v = law->velocity_limit[i];
    double low = clamp(-law->limiter_gain * (s + law->joint_range[i]), -v, v);
    double high = clamp(-law->limiter_gain * (s - law->joint_range[i]), -v, v);
    want_dq = clamp(want_dq, low, high);
    want_q = clamp(want_q, s + low * dt, s + high * dt);
    state->limited_q[i] = want_q;
    double tau = law->stiffness[i] * (want_q - q[i]) + law->damping[i] * (want_dq - state->dq[i]) + feed_forward[i];
    torque[i] = clamp(tau, -law->torque_limit[i], law->torque_limit[i]);
  }
  if (substep == BS_SUBSTEPS) {
    const double h = law->control_dt;
    for (int i = 0; i < BS_JOINTS; i++) {
      state->from_q[i] += h * state->slope_q[i];
      state->from_dq[i] += h * state->slope_dq[i];
    }
  }

  double angle[2];
  bs_upright(law, &pose, u, angle);
  for (int k = 0; k < 2; k++) {
    state->du[k] = law->universal_filter * du[k] + (1 - law->universal_filter) * state->du[k];
    torque[BS_JOINTS + k] = law->universal_stiffness * (angle[k] - u[k]) - law->universal_damping * state->du[k];
  }
}

void bs_control_observe(const bs_law *law, bs_control *state, const double dq_true[BS_JOINTS]) {
  for (int i = 0; i < BS_JOINTS; i++)
    state->dq[i] = law->arm_filter * dq_true[i] + (1 - law->arm_filter) * state->dq[i];
}
