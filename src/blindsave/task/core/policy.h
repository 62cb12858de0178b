/* How C code runs a policy: the only thing the arena's loop needs to know about one.
 *
 * A policy object in Python offers a PyCapsule named BS_POLICY_CAPSULE around a `const bs_policy *`. Whoever keeps
 * the pointer must keep the capsule alive.
 */
#ifndef BLINDSAVE_POLICY_H
#define BLINDSAVE_POLICY_H

#include <stddef.h>

#define BS_POLICY_CAPSULE "blindsave.policy"
#define BS_OBSERVATION_FLOATS 19
#define BS_ACTION_FLOATS 2

typedef struct bs_policy {
    /* Floats retained between steps; a fresh episode starts with all of them zero. */
    size_t carry_floats;
    /* Read 19 observation floats, update the carry in place, write 2 action floats.
     * Re-entrant: several threads may share one `self`, each with its own carry, observation and action. */
    void (*step)(const void *self, float *carry, const float *observation, float *action);
    const void *self;
} bs_policy;

#endif
