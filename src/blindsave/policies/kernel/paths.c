/* The same operations compiled for several vector units, and the choice between them at run time. */
#include <string.h>

#include "compiler.h"
#include "constants.h"
#include "program.h"

#ifdef __FAST_MATH__
#error "the canonical arithmetic must not be compiled with -ffast-math"
#endif

static void bs_onehot(float *out, const float *x, int classes, int size) {
    for (int group = 0; group < size; group += classes) {
        int best = 0;
        for (int k = 1; k < classes; k++)
            if (x[group + k] > x[group + best]) best = k;
        for (int k = 0; k < classes; k++) out[group + k] = k == best ? 1.0f : 0.0f;
    }
}

/* One lane: the plainest reading, and the only safe one where the vector unit flushes denormals (32-bit NEON). */
#define BS_(name) scalar_##name
#define BS_WIDTH 1
#define BS_TILE 16
#define BS_TARGET
#include "lanes.inc"

#if !(defined(__arm__) && !defined(__aarch64__))
#define BS_HAS_128 1
#define BS_(name) simd128_##name
#define BS_WIDTH 4
#define BS_TILE 8
#define BS_TARGET
#include "lanes.inc"
#endif

#if defined(__x86_64__) || defined(__i386__)
#define BS_HAS_X86 1
#define BS_(name) avx2_##name
#define BS_WIDTH 8
#define BS_TILE 8
#define BS_TARGET __attribute__((target("avx2")))
#include "lanes.inc"

#define BS_(name) avx512_##name
#define BS_WIDTH 16
#define BS_TILE 12
#define BS_TARGET __attribute__((target("avx512f")))
#include "lanes.inc"
#endif

const bs_path *bs_paths(void) {
    static bs_path paths[5];
    int count = 0;
    if (paths[0].name) return paths;
#ifdef BS_HAS_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) paths[count++] = (bs_path){"avx512", avx512_run};
    if (__builtin_cpu_supports("avx2")) paths[count++] = (bs_path){"avx2", avx2_run};
#endif
#ifdef BS_HAS_128
    paths[count++] = (bs_path){"simd128", simd128_run};
#endif
    paths[count] = (bs_path){"scalar", scalar_run};
    return paths;
}

static int inside(int64_t offset, int64_t floats, const bs_program *p) {
    return offset < 0 ? -1 - offset + floats <= p->constant_count : offset + floats <= p->tape;
}

static const char *check_op(const bs_op *op, const bs_program *p) {
    if (op->kind < 0 || op->kind >= BS_KINDS) return "an operation of unknown kind";
    if (op->size < 1 || op->out < 0 || !inside(op->out, op->size, p)) return "an output outside the tape";
    if (op->kind != BS_COPY && op->kind != BS_LINEAR && op->out % BS_GROUP) return "an output that is not aligned";
    if (op->kind == BS_LINEAR) {
        if (op->blocks < 1 || op->inner < 1 || op->size % op->blocks) return "a linear map of impossible size";
        const int64_t outputs = op->size / op->blocks, row = (outputs + BS_GROUP - 1) / BS_GROUP * BS_GROUP;
        if (op->b >= 0) return "a weight that is not constant";
        if (!inside(op->a, (int64_t)op->inner * op->blocks, p) || !inside(op->b, row * op->inner * op->blocks, p) ||
            !inside(op->c, op->size, p))
            return "a linear operand outside its memory";
        return NULL;
    }
    if (op->kind == BS_ONEHOT && (op->inner < 1 || op->size % op->inner)) return "groups of impossible size";
    if (!inside(op->a, op->size, p) || !inside(op->b, op->size, p)) return "an operand outside its memory";
    return NULL;
}

const char *bs_check(const bs_program *p) {
    if (p->carry < 0 || p->observation < 1 || p->action < 1 || p->tape < 1 || p->tape > BS_TAPE_LIMIT ||
        p->tape % BS_GROUP)
        return "sizes that cannot be";
    if (p->observation_in < p->carry || !inside(p->observation_in, p->observation, p))
        return "an observation outside the tape";
    if (!inside(p->carry_out, p->carry, p) || !inside(p->action_out, p->action, p)) return "a result outside its memory";
    for (int32_t i = 0; i < p->op_count; i++) {
        const char *fault = check_op(p->ops + i, p);
        if (fault) return fault;
    }
    return NULL;
}
