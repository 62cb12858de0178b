/* On the board: run the self-test, measure the stack of a step, and count the processor's work for many.
 *
 * The emulator is told that one instruction takes one nanosecond; its SysTick then counts instructions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy.h" /* POLICY_STATE, POLICY_NUMBER, policy_reset, policy_step */

#define PAINT 0xA5A5A5A5u
#define PAINTED 2048 /* words below the stack pointer; more than any student needs */
#define SYST_CSR (*(volatile uint32_t *)0xE000E010)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018)

int self_test(void);
void initialise_monitor_handles(void);

static POLICY_STATE state;
static POLICY_NUMBER seen[19], asked[2];

__attribute__((noinline)) static void one_step(void) { policy_step(&state, seen, asked); }

/* Bytes of stack that a step takes, found by what is left of a pattern. */
__attribute__((noinline)) static uint32_t stack_of_a_step(void) {
    volatile uint32_t *here;
    __asm volatile("mov %0, sp" : "=r"(here));
    for (int i = 1; i < PAINTED; i++) here[-i] = PAINT;
    one_step();
    int deepest = PAINTED - 1;
    while (deepest > 0 && here[-deepest] == PAINT) deepest--;
    return 4u * (uint32_t)deepest;
}

__attribute__((noinline)) static uint32_t ticks_of(int steps) {
    SYST_CSR = 0;
    SYST_RVR = 0xFFFFFF;
    SYST_CVR = 0;
    SYST_CSR = 5; /* count the processor's clock, no interrupt */
    const uint32_t began = SYST_CVR;
    for (int i = 0; i < steps; i++) one_step();
    return (began - SYST_CVR) & 0xFFFFFF;
}

int main(void) {
    initialise_monitor_handles();
    const int failed = self_test();
    policy_reset(&state);
    const uint32_t stack = stack_of_a_step();
    policy_reset(&state);
    const uint32_t none = ticks_of(0), some = ticks_of(STEPS_TIMED);
    printf("stack %lu ticks %lu\n", (unsigned long)stack, (unsigned long)(some - none));
    fflush(stdout);
    exit(failed);
}
