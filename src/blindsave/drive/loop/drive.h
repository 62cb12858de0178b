/* One policy, one robot: packets in, commands out, and a rule for everything that can go wrong between them.
 *
 * Pure: no sockets, no clock, no heap, no libm. What happens is a function of the calls below and their arguments alone,
 * so a log of them replays to the bit, and the same file runs on a PC, on a microcontroller and under a fuzzer.
 * docs/drive.md describes packets and rules. Everything on the wire is little-endian.
 *
 *     drive_init(&d, &config);
 *     for every packet:                          if (drive_receive(&d, now_us, bytes, count) == DRIVE_FRESH) tick
 *     and when none came for too long:           tick
 *     tick:                                      count = drive_tick(&d, out); send `count` bytes
 */
#ifndef BLINDSAVE_DRIVE_H
#define BLINDSAVE_DRIVE_H

#include <stddef.h>
#include <stdint.h>

#include "drive_policy.h" /* written by the exporter: drive_policy, drive_policy_reset, drive_policy_step */

#define DRIVE_VERSION 1
#define DRIVE_OBSERVATION 19
#define DRIVE_ACTION 2
#define DRIVE_MALLET 14  /* x, y of the mallet among the observations */
#define DRIVE_PUCK 16    /* x, y of the puck */
#define DRIVE_VISIBLE 18 /* and whether it is visible */
#define DRIVE_OBSERVATION_BYTES 104
#define DRIVE_COMMAND_BYTES 40
#define DRIVE_KIND_OBSERVATION 1
#define DRIVE_KIND_COMMAND 2
#define DRIVE_YOUNG 50 /* observations by which a robot is known to have just started */
#define DRIVE_BINS 256

/* What a command is worth; the robot obeys the action unless the mode is DRIVE_STOP, when it brakes by itself. */
enum drive_mode { DRIVE_RUN, DRIVE_BLIND, DRIVE_HOLD, DRIVE_STOP, DRIVE_MODES };

/* What became of a packet. Only a fresh one is followed by a tick. */
enum drive_verdict {
    DRIVE_FRESH,
    DRIVE_REPEATED,   /* seen before */
    DRIVE_LATE,       /* out of order, or its tick was made without it */
    DRIVE_LENGTH,     /* too short or too long */
    DRIVE_FOREIGN,    /* another protocol, version or kind */
    DRIVE_CORRUPT,    /* the check does not agree */
    DRIVE_NOT_FINITE, /* a number that is none */
    DRIVE_STRANGER,   /* another robot, which has not just started */
    DRIVE_VERDICTS
};

typedef struct drive_config {
    uint32_t deadline_us;     /* an answer that takes longer is a missed deadline */
    uint32_t blind_ticks;     /* ticks without an observation that the policy lives through with a hidden puck */
    uint32_t stop_ticks;      /* and after so many the robot is told to stop; in between the command stands still */
    uint32_t recover_packets; /* fresh observations in a row before a stopped robot moves again */
    uint32_t slip_packets;    /* late packets in a row after which the robot's count is believed again */
    uint32_t stale_us;        /* the puck of an observation so much older than usual is hidden; 0: never */
    float max_step;           /* largest change of a command, per tick and axis; 2 or more is no limit */
    float low, high;          /* where commands may lie, on both axes */
} drive_config;

typedef struct drive_histogram {
    uint32_t bins[DRIVE_BINS]; /* eight to an octave of nanoseconds */
    uint32_t count, missed;
    uint64_t worst_ns;
} drive_histogram;

typedef struct drive_counts {
    uint32_t ticks, modes[DRIVE_MODES], packets[DRIVE_VERDICTS];
    uint32_t missing;     /* observations that never came, or came too late */
    uint32_t stale;       /* that came too old to show the puck */
    uint32_t clock_steps; /* jumps of the robot's clock */
    uint32_t restarts;    /* times the policy began anew in the middle of an episode */
    uint32_t limited;     /* commands that a limit changed */
    uint32_t broken;      /* actions that were no numbers */
} drive_counts;

typedef struct drive {
    drive_config config;
    drive_policy policy;
    drive_counts counts;
    drive_histogram work, response;
    float seen[DRIVE_OBSERVATION]; /* the newest accepted observation */
    float command[DRIVE_ACTION];   /* the newest command */
    uint64_t window;               /* bit i: observation `expected - 1 - i` was received */
    uint64_t stamp_us;             /* the robot's clock in the newest observation */
    uint64_t transit_us;           /* smallest difference of the two clocks, which never agree */
    uint32_t session, expected;    /* whose observations, and the number of the next one */
    uint16_t episode;              /* and of which episode */
    uint32_t owed;                 /* observations missing just before the pending one */
    uint32_t silent, good, late, old;
    uint8_t mode, started, pending, anew, hide, hidden;
} drive;

/* 0, or -1 where the configuration makes no sense. */
int drive_init(drive *d, const drive_config *config);

/* Look at a packet received at `now_us` of a clock that only goes forward. */
enum drive_verdict drive_receive(drive *d, uint64_t now_us, const uint8_t *bytes, size_t count);

/* Make the tick of the observation just received, or, without one, of the silence. Returns the size of the command, 0
 * while no robot has been heard. */
size_t drive_tick(drive *d, uint8_t out[DRIVE_COMMAND_BYTES]);

/* The last word: a command to stop. */
size_t drive_stop(drive *d, uint8_t out[DRIVE_COMMAND_BYTES]);

/* Enter a duration; longer than `deadline_us` is missed. */
void drive_account(drive_histogram *h, uint64_t ns, uint32_t deadline_us);

/* An upper bound of the given share of durations, exact to an eighth of an octave. */
uint64_t drive_quantile(const drive_histogram *h, uint32_t per_million);

/* The check of packets: CRC-32 as in zlib, PNG and Ethernet. */
uint32_t drive_crc(const uint8_t *bytes, size_t count);

#endif
