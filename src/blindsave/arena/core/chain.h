/* A serial arm of revolute joints that turn about their own z axis: kinematics and inverse dynamics. */
#ifndef BLINDSAVE_CHAIN_H
#define BLINDSAVE_CHAIN_H

#define BS_JOINTS 7

typedef struct {
  double pos[BS_JOINTS][3];     /* joint origin in the parent link, m */
  double rot[BS_JOINTS][9];     /* parent link -> link at joint angle zero, row-major */
  double com[BS_JOINTS][3];     /* centre of mass in the link frame, m */
  double mass[BS_JOINTS];       /* kg */
  double inertia[BS_JOINTS][9]; /* about the centre of mass, in the link frame */
  double armature[BS_JOINTS];
  double tip[3];                /* rod end in the last link, m */
  double gravity;               /* m/s^2, downwards */
} bs_chain;

typedef struct {
  double step[BS_JOINTS][9];  /* link -> parent link, with the joint angle */
  double origin[BS_JOINTS][3];
  double axis[BS_JOINTS][3];
  double tip_rot[9];          /* last link -> robot frame */
  double tip[3];              /* rod end in the robot frame, m */
} bs_pose;

/* Forward kinematics: where every joint and the rod end are. */
void bs_forward(const bs_chain *chain, const double q[BS_JOINTS], bs_pose *pose);

/* Linear Jacobian (3 x 7, row-major) of the rod end. */
void bs_jacobian(const bs_pose *pose, double jac[3 * BS_JOINTS]);

/* tau = M(q) ddq + bias(q, dq), by the recursive Newton-Euler method in link frames. */
void bs_inverse_dynamics(const bs_chain *chain, const bs_pose *pose, const double dq[BS_JOINTS],
                         const double ddq[BS_JOINTS], double tau[BS_JOINTS]);

#endif
