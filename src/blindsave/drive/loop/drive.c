/* See drive.h. */
#include "drive.h"

#include <string.h>

#define WINDOW 64
#define OLD_IN_A_ROW 10       /* so many stale packets in a row are a clock that was set, not a slow network */
#define CLOCK_STEP_US 1000000 /* as is a packet that seems to have travelled so much faster than any before */

uint32_t drive_crc(const uint8_t *bytes, size_t count) {
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}

static uint32_t get32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p) { return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32; }

static void put32(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (8 * i));
}

static void put64(uint8_t *p, uint64_t x) {
    put32(p, (uint32_t)x);
    put32(p + 4, (uint32_t)(x >> 32));
}

static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float float_of(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static int finite_bits(uint32_t u) { return (u & 0x7F800000u) != 0x7F800000u; }

int drive_init(drive *d, const drive_config *c) {
    memset(d, 0, sizeof *d);
    d->config = *c;
    d->mode = DRIVE_STOP;
    drive_policy_reset(&d->policy);
    const int sane = c->stop_ticks >= c->blind_ticks && c->blind_ticks <= 1000 && c->recover_packets >= 1 &&
                     c->slip_packets >= 1 && c->max_step > 0 && c->low >= -1 && c->low <= c->high && c->high <= 1;
    return sane ? 0 : -1;
}

/* Bit for bit as in the documentation: is this one of our observations, and whole? */
static enum drive_verdict checked(const uint8_t *p, size_t count) {
    if (count != DRIVE_OBSERVATION_BYTES) return DRIVE_LENGTH;
    if (memcmp(p, "BSAV", 4) != 0 || p[4] != DRIVE_VERSION || p[5] != DRIVE_KIND_OBSERVATION) return DRIVE_FOREIGN;
    if (drive_crc(p, DRIVE_OBSERVATION_BYTES - 4) != get32(p + DRIVE_OBSERVATION_BYTES - 4)) return DRIVE_CORRUPT;
    for (int i = 0; i < DRIVE_OBSERVATION; i++)
        if (!finite_bits(get32(p + 24 + 4 * i))) return DRIVE_NOT_FINITE;
    return DRIVE_FRESH;
}

/* The window moves on by `count` observations. */
static void expect(drive *d, uint32_t count) {
    d->window = count < WINDOW ? d->window << count : 0;
    d->expected += count;
}

/* Where in its order does an observation of this robot stand? */
static enum drive_verdict placed(drive *d, uint32_t sequence) {
    const int32_t ahead = (int32_t)(sequence - d->expected);
    if (ahead >= 0) {
        d->owed = (uint32_t)ahead;
        d->counts.missing += d->owed < d->config.stop_ticks ? d->owed : d->config.stop_ticks;
        if (d->owed > d->config.blind_ticks) d->anew = 1;
        expect(d, d->owed + 1);
        d->window |= 1;
        return DRIVE_FRESH;
    }
    const uint32_t back = 0u - (uint32_t)ahead - 1;
    if (back < WINDOW && (d->window >> back & 1)) return DRIVE_REPEATED;
    if (back < WINDOW) d->window |= (uint64_t)1 << back;
    if (d->mode < DRIVE_HOLD && ++d->late < d->config.slip_packets) return DRIVE_LATE;
    d->expected = sequence; /* the robot paused, or counts from somewhere else: follow it */
    d->window = 0;
    expect(d, 1);
    d->window |= 1;
    return DRIVE_FRESH;
}

/* Is the observation older than usual? The clocks need not agree; the fastest packet so far is the measure. */
static int is_old(drive *d, uint64_t now_us, uint64_t stamp_us) {
    const uint64_t transit = now_us - stamp_us;
    const int64_t over = (int64_t)(transit - d->transit_us);
    if (over < 0) {
        if (over < -CLOCK_STEP_US) d->counts.clock_steps++;
        d->transit_us = transit;
    } else {
        d->transit_us++; /* clocks drift: forget the fastest packet slowly */
    }
    if (!d->config.stale_us || over <= (int64_t)d->config.stale_us) {
        d->old = 0;
        return 0;
    }
    d->counts.stale++;
    if (++d->old >= OLD_IN_A_ROW) {
        d->counts.clock_steps++;
        d->transit_us = transit;
        d->old = 0;
    }
    return 1;
}

static enum drive_verdict judged(drive *d, uint64_t now_us, const uint8_t *p, size_t count) {
    const enum drive_verdict sound = checked(p, count);
    if (sound != DRIVE_FRESH) return sound;
    const uint32_t session = get32(p + 8), sequence = get32(p + 12);
    const uint16_t episode = (uint16_t)(p[6] | p[7] << 8);
    const uint64_t stamp_us = get64(p + 16);
    const int other = !d->started || session != d->session, young = sequence < DRIVE_YOUNG;
    if (d->started && other && !young && d->mode < DRIVE_HOLD) return DRIVE_STRANGER;
    int begins = !d->started || (other && young);
    d->owed = d->anew = 0;
    if (other) {
        d->session = session;
        d->expected = sequence + 1;
        d->window = 1;
        d->transit_us = now_us - stamp_us;
        d->anew = 1;
    } else {
        const enum drive_verdict place = placed(d, sequence);
        if (place != DRIVE_FRESH) return place;
        if (d->mode >= DRIVE_HOLD && !d->good) d->anew = 1;
        begins = episode != d->episode;
    }
    d->episode = episode;
    if (d->anew && !begins) d->counts.restarts++;
    if (begins) { /* the robot begins an episode: no reason to wait */
        d->anew = 1;
        d->mode = DRIVE_RUN;
        d->good = 0;
    }
    d->hide = (uint8_t)is_old(d, now_us, stamp_us);
    d->stamp_us = stamp_us;
    d->late = 0;
    return DRIVE_FRESH;
}

static void step(drive *d, int hidden, float action[DRIVE_ACTION]) {
    float seen[DRIVE_OBSERVATION];
    memcpy(seen, d->seen, sizeof seen);
    if (hidden) seen[DRIVE_PUCK] = seen[DRIVE_PUCK + 1] = seen[DRIVE_VISIBLE] = 0.0f;
    drive_policy_step(&d->policy, seen, action);
}

static float limited(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* An action becomes the command: a number, inside the box, not too far from the last one. */
static void obey(drive *d, const float action[DRIVE_ACTION]) {
    const drive_config *c = &d->config;
    int changed = 0;
    for (int i = 0; i < DRIVE_ACTION; i++)
        if (!finite_bits(bits_of(action[i]))) {
            d->counts.broken++;
            drive_policy_reset(&d->policy); /* whatever broke may be in its memory */
            d->mode = DRIVE_HOLD;
            return;
        }
    for (int i = 0; i < DRIVE_ACTION; i++) {
        float x = limited(action[i], c->low, c->high);
        if (c->max_step < 2.0f) x = limited(x, d->command[i] - c->max_step, d->command[i] + c->max_step);
        changed |= bits_of(x) != bits_of(action[i]);
        d->command[i] = x;
    }
    d->counts.limited += (uint32_t)changed;
}

enum drive_verdict drive_receive(drive *d, uint64_t now_us, const uint8_t *bytes, size_t count) {
    const enum drive_verdict verdict = judged(d, now_us, bytes, count);
    d->counts.packets[verdict]++;
    if (verdict != DRIVE_FRESH) return verdict;
    float action[DRIVE_ACTION];
    if (d->anew) drive_policy_reset(&d->policy);
    if (d->pending && !d->anew) step(d, d->hidden, action);                /* two in one tick: both are seen */
    for (uint32_t i = 0; i < d->owed && !d->anew; i++) step(d, 1, action); /* what was not seen was hidden */
    d->hidden = d->hide;
    for (int i = 0; i < DRIVE_OBSERVATION; i++) d->seen[i] = limited(float_of(get32(bytes + 24 + 4 * i)), -1.0f, 1.0f);
    if (d->anew) /* commands begin where the arm is */
        for (int i = 0; i < DRIVE_ACTION; i++)
            d->command[i] = limited(d->seen[DRIVE_MALLET + i], d->config.low, d->config.high);
    d->started = d->pending = 1;
    return verdict;
}

/* A tick with an observation: act, unless a stopped robot has not been heard well for long enough. */
static void tick_seen(drive *d) {
    float action[DRIVE_ACTION];
    const int stopped = d->mode == DRIVE_STOP || (d->mode == DRIVE_HOLD && d->good);
    step(d, d->hidden, action);
    d->silent = 0;
    d->good = stopped ? d->good + 1 : 0;
    if (stopped && d->good < d->config.recover_packets) {
        d->mode = DRIVE_HOLD;
        return;
    }
    d->good = 0;
    d->mode = d->hidden ? DRIVE_BLIND : DRIVE_RUN;
    obey(d, action);
}

/* A tick without one: hidden puck, then hold still, then stop. */
static void tick_silent(drive *d) {
    float action[DRIVE_ACTION];
    expect(d, 1);
    d->counts.missing++;
    d->silent++;
    if (d->silent > d->config.stop_ticks || d->mode == DRIVE_STOP || d->good) {
        d->mode = DRIVE_STOP;
    } else if (d->silent > d->config.blind_ticks || d->mode == DRIVE_HOLD) {
        d->mode = DRIVE_HOLD;
    } else {
        step(d, 1, action);
        d->mode = DRIVE_BLIND;
        obey(d, action);
        return;
    }
    d->good = 0;
}

static size_t say(const drive *d, uint8_t out[DRIVE_COMMAND_BYTES]) {
    memcpy(out, "BSAV", 4);
    out[4] = DRIVE_VERSION;
    out[5] = DRIVE_KIND_COMMAND;
    out[6] = d->mode;
    out[7] = 0;
    put32(out + 8, d->session);
    put32(out + 12, d->expected - 1);
    put64(out + 16, d->stamp_us);
    for (int i = 0; i < DRIVE_ACTION; i++) put32(out + 24 + 4 * i, bits_of(d->command[i]));
    put32(out + 32, d->counts.ticks);
    put32(out + 36, drive_crc(out, 36));
    return DRIVE_COMMAND_BYTES;
}

size_t drive_tick(drive *d, uint8_t out[DRIVE_COMMAND_BYTES]) {
    if (!d->started) return 0;
    if (d->pending) {
        tick_seen(d);
    } else {
        tick_silent(d);
    }
    d->pending = 0;
    d->counts.ticks++;
    d->counts.modes[d->mode]++;
    return say(d, out);
}

size_t drive_stop(drive *d, uint8_t out[DRIVE_COMMAND_BYTES]) {
    if (!d->started) return 0;
    d->mode = DRIVE_STOP;
    d->good = 0;
    return say(d, out);
}

/* Durations below 8 ns have bins of their own; then eight bins to an octave. */
static uint32_t bin_of(uint64_t ns) {
    uint32_t octave = 0;
    while (ns >= 16) {
        ns >>= 1;
        octave++;
    }
    const uint32_t bin = octave * 8 + (uint32_t)ns;
    return bin < DRIVE_BINS ? bin : DRIVE_BINS - 1;
}

void drive_account(drive_histogram *h, uint64_t ns, uint32_t deadline_us) {
    h->bins[bin_of(ns)]++;
    h->count++;
    h->missed += ns > (uint64_t)deadline_us * 1000;
    if (ns > h->worst_ns) h->worst_ns = ns;
}

uint64_t drive_quantile(const drive_histogram *h, uint32_t per_million) {
    const uint64_t wanted = ((uint64_t)h->count * per_million + 999999) / 1000000;
    uint64_t below = 0;
    for (uint32_t bin = 0; bin < DRIVE_BINS; bin++) {
        below += h->bins[bin];
        if (below >= wanted && below) {
            const uint64_t edge = bin < 16 ? bin : (uint64_t)(bin % 8 + 9) << (bin / 8 - 1);
            return edge < h->worst_ns ? edge : h->worst_ns;
        }
    }
    return h->worst_ns;
}
