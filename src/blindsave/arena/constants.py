"""Every number of the arena that more than one file needs, with its unit. The table frame is the world frame."""

import numpy as np

PHYSICS_DT_S = 0.001
SUBSTEPS = 20
CONTROL_DT_S = 0.02

TABLE_LENGTH_M, TABLE_WIDTH_M, GOAL_WIDTH_M = 1.948, 1.038, 0.25
PUCK_RADIUS_M, MALLET_RADIUS_M = 0.03165, 0.04815
ROBOT_BASE_M = (-1.51, 0.0, -0.1)  # in the table frame; the robot frame is the table frame shifted to here
MALLET_HEIGHT_M = 0.1645  # of the rod end, in the robot frame

# The arm, joint by joint.
JOINT_RANGE_RAD = np.array([2.96706, 2.0944, 2.96706, 2.0944, 2.96706, 2.0944, 3.05433])
JOINT_DAMPING = np.array([0.33032, 0.21216, 0.1, 0.219041, 0.185923, 0.1, 0.1])
JOINT_FRICTION = np.array([0.384477, 0.496333, 0.173951, 0.3751, 0.481099, 0.196149, 0.299238])
JOINT_ARMATURE = np.array([0, 0, 0, 0, 0, 0, 0.01])
TORQUE_LIMIT_NM = np.array([320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0])
VELOCITY_LIMIT = np.deg2rad([85.0, 85.0, 100.0, 75.0, 130.0, 135.0, 135.0])  # rad/s
ACCELERATION_LIMIT = 10 * VELOCITY_LIMIT  # rad/s^2
UNIVERSAL_RANGE_RAD, UNIVERSAL_TORQUE_NM = 1.5708, 10.0

# Where an episode starts: inverse kinematics of the rod end at (0.65, 0, 0.1645) in the robot frame.
HOME_ARM_RAD = np.array([0.0, -0.19606734516266716, 0.0, -1.8436389808766431, 0.0, 0.9704222379486207, 0.0])

# Joint controller (1 kHz).
STIFFNESS = np.array([1500.0, 1500.0, 1200.0, 1200.0, 1000.0, 1000.0, 500.0])
DAMPING = np.array([60.0, 80.0, 60.0, 30.0, 10.0, 1.0, 0.5])
ARM_FILTER = 0.274  # share of the newest joint velocity in its low-pass filter
UNIVERSAL_FILTER = 0.273
UNIVERSAL_STIFFNESS, UNIVERSAL_DAMPING = 4.0, 0.31
UNIVERSAL_CLAMP_RAD = 0.95 * np.pi / 2
LIMITER_GAIN = 20.0  # 1/s, how fast the safety limiter lets a joint approach its range

# Operational-space controller (50 Hz).
TASK_STIFFNESS = np.array([13.5, 13.5, 60.0])
TASK_DAMPING = np.array([0.25, 0.25, 0.3])
DAMPED_INVERSE = 0.05**2
COMMAND_SHARE = 0.5  # of the joint velocity and acceleration limits
# Butterworth, order 4, cut-off 1.25 Hz at 50 Hz, and its state for a constant unit input.
BUTTER_B = np.array(
    [
        3.123897691708262e-05,
        0.00012495590766833047,
        0.0001874338615024957,
        0.00012495590766833047,
        3.123897691708262e-05,
    ]
)
BUTTER_A = np.array([1.0, -3.5897338871121756, 4.851275882519417, -2.9240526561624587, 0.663010484385891])
BUTTER_STEADY = np.array([0.9999687610223186, -2.5898900819947817, 2.261198366659425, -0.6629792454084672])

# Normalisation boxes in the robot frame, rows (low, high), columns (x, y).
MALLET_BOX_M = np.array([[0.59665, -0.46585], [1.31, 0.46585]])
PUCK_BOX_M = np.array([[0.56765, -0.48735], [2.45235, 0.48735]])
