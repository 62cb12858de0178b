/* Calls drive.c as a script on standard input says, and prints what came of every call.
 *
 * A record is a letter ('R' a packet, 'T' a tick without one, 'S' the end), a time and a packet, as in a log.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"

static drive machine;

static void say(int verdict, size_t count, const uint8_t *out) {
    float action[2] = {0, 0};
    uint32_t sequence = 0;
    if (count) {
        memcpy(action, out + 24, sizeof action);
        memcpy(&sequence, out + 12, sizeof sequence);
    }
    printf("%d %d %" PRIu32 " %a %a\n", verdict, count ? out[6] : -1, sequence, action[0], action[1]);
}

int main(int argc, char **argv) {
    drive_config c = {20000, 25, 50, 3, 3, 40000, 2.0f, -1.0f, 1.0f};
    uint8_t head[11], out[DRIVE_COMMAND_BYTES];
    if (argc > 4) {
        c.blind_ticks = (uint32_t)atoi(argv[1]);
        c.stop_ticks = (uint32_t)atoi(argv[2]);
        c.stale_us = (uint32_t)atoi(argv[3]);
        c.max_step = strtof(argv[4], NULL);
    }
    if (drive_init(&machine, &c) != 0) return 3;
    while (fread(head, 1, sizeof head, stdin) == sizeof head) {
        uint64_t now = 0;
        for (int i = 0; i < 8; i++) now |= (uint64_t)head[1 + i] << (8 * i);
        const size_t count = (size_t)head[9] | (size_t)head[10] << 8;
        uint8_t *bytes = malloc(count ? count : 1); /* exactly as long, so that a read past the end is seen */
        if (fread(bytes, 1, count, stdin) != count) return 4;
        if (head[0] == 'R') {
            const enum drive_verdict verdict = drive_receive(&machine, now, bytes, count);
            say((int)verdict, verdict == DRIVE_FRESH ? drive_tick(&machine, out) : 0, out);
        } else if (head[0] == 'T') {
            say(-1, drive_tick(&machine, out), out);
        } else {
            say(-1, drive_stop(&machine, out), out);
        }
        free(bytes);
    }
    const drive_counts *n = &machine.counts;
    printf("counts %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", n->missing, n->stale,
           n->clock_steps, n->restarts, n->limited, n->broken);
    return 0;
}
