/* The numbers of the canonical arithmetic; policies/arithmetic.py says what they are. */
#ifndef BLINDSAVE_CONSTANTS_H
#define BLINDSAVE_CONSTANTS_H

#define BS_EXP_LOW -87.0f
#define BS_EXP_HIGH 88.0f
#define BS_LOG2_E 0x1.715476p+0f
#define BS_ROUND 12582912.0f
#define BS_LN2_HIGH 0.693359375f
#define BS_LN2_LOW -0x1.bd0106p-13f
#define BS_EXP_4 0x1.6d4352p-10f
#define BS_EXP_3 0x1.120b96p-7f
#define BS_EXP_2 0x1.5554e8p-5f
#define BS_EXP_1 0x1.5554dcp-3f
#define BS_EXP_0 0x1.0p-1f
#define BS_LOG_3 0x1.ddd994p-3f
#define BS_LOG_2 0x1.245c0cp-2f
#define BS_LOG_1 0x1.9999ecp-2f
#define BS_LOG_0 0x1.555556p-1f
#define BS_SQRT_HALF_BITS 0x3F3504F3

#endif
