/* The trainer compiled for several vector units, and the choice between them at run time.
 *
 * a*b+c is fused wherever the unit can (this file is compiled with -ffp-contract=fast). Lanes never mix, and every sum
 * has one order, so all units that fuse give the same bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "policies/kernel/compiler.h"
#include "policies/kernel/constants.h"

#if defined(__x86_64__) || defined(__i386__)
#define BS_HAS_X86 1
#define BS_(name) avx512_##name
#define BS_WIDTH 16
#define BS_TILE_VECTORS 4
#define BS_TARGET __attribute__((target("avx512f,fma")))
#include "lanes.inc"

#define BS_(name) avx2_##name
#define BS_WIDTH 8
#define BS_TILE_VECTORS 2
#define BS_TARGET __attribute__((target("avx2,fma")))
#include "lanes.inc"
#endif

#define BS_(name) plain_##name
#define BS_WIDTH 4
#define BS_TILE_VECTORS 2
#define BS_TARGET
#include "lanes.inc"

#define BS_PATH(name) ((bs_trainer_path){#name, name##_train, name##_evaluate, name##_gradient})

const bs_trainer_path *bs_trainer_paths(void) {
    static bs_trainer_path paths[4];
    int count = 0;
    if (paths[0].name) return paths;
#ifdef BS_HAS_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) paths[count++] = BS_PATH(avx512);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) paths[count++] = BS_PATH(avx2);
#endif
    paths[count] = BS_PATH(plain);
    return paths;
}

int bs_room_make(const bs_graph *g, int32_t chunk, bs_room *room) {
    /* What lasts lies in the first floats of a row's place: the next step's place may begin behind them. */
    const int64_t block = (int64_t)BS_ROWS * g->block, later = (int64_t)BS_ROWS * g->lasting * (chunk - 1);
    const int64_t carry = (int64_t)BS_ROWS * (g->memory.stride + BS_PAD);
    const int64_t scratch = (int64_t)BS_ROWS * (g->widest + BS_PAD);
    const int64_t sizes[] = {block + (later > block ? later : block), block, g->vectors, g->vectors, g->parameters,
                             g->parameters, g->padded, g->padded, g->padded, carry, carry, carry, scratch};
    float **parts[] = {&room->activations, &room->gradients, &room->vectors, &room->vector_gradients,
                       &room->parameters, &room->parameter_gradients, &room->weight_in_rows, &room->weight_out_rows,
                       &room->weight_gradients, &room->carried, &room->carry_gradient, &room->next_carry_gradient,
                       &room->scratch};
    const int count = (int)(sizeof sizes / sizeof *sizes);
    const int64_t slack = 64; /* whole vectors may be read, never written, a little beyond a row */
    int64_t total = slack;
    for (int i = 0; i < count; i++) total += (sizes[i] + slack + 15) / 16 * 16;
    float *next = room->all = calloc((size_t)total + 16, sizeof(float));
    if (!next) return -1;
    next += (64 - (uintptr_t)next % 64) % 64 / sizeof(float);
    for (int i = 0; i < count; i++) {
        *parts[i] = next;
        next += (sizes[i] + slack + 15) / 16 * 16;
    }
    return 0;
}
