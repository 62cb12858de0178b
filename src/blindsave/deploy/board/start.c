/* What runs before main on a bare Cortex-M: a stack, a table of vectors, memory set up, the floating-point unit on. */
#include <stdint.h>

extern uint32_t stack_top, data_from, data_start, data_stop, bss_start, bss_stop;
int main(void);
void reset(void);
void halt(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {&stack_top, {reset, halt, halt, halt, halt, halt, 0, 0, 0, 0, halt, halt, 0, halt, halt}};

void halt(void) {
    for (;;) {}
}

void reset(void) {
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: full access to the floating-point unit */
    __asm volatile("dsb\n isb");
#endif
    volatile uint32_t *to = &data_start; /* volatile, lest the compiler call memcpy, which a small image can do without */
    for (const uint32_t *from = &data_from; to < &data_stop;) *to++ = *from++;
    for (to = &bss_start; to < &bss_stop;) *to++ = 0;
    main();
    halt();
}
