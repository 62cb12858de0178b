/* The smallest image that holds a policy: what it takes of a board's flash. */
#include "policy.h"

static POLICY_STATE state;
static volatile POLICY_NUMBER from_sensors[19], to_motors[2];

int main(void) {
    POLICY_NUMBER seen[19], asked[2];
    policy_reset(&state);
    for (;;) {
        for (int i = 0; i < 19; i++) seen[i] = from_sensors[i];
        policy_step(&state, seen, asked);
        for (int i = 0; i < 2; i++) to_motors[i] = asked[i];
    }
}
