/* drive.c on a PC: one UDP socket, the system's clock, a log. Nothing is allocated.
 *
 *     drive --bind 127.0.0.1 --port 4750 --period-us 20000 --log run.log
 *     drive --replay run.log
 *
 * `work` is the time from a packet read to a command ready, `response` that from waking up to the command sent.
 * The robot's packets are the clock: each is answered at once, and the loop ticks by itself only when they stay away. A
 * log holds every call of drive.c (docs/drive.md), so that --replay can make the same calls and compare every command.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "drive.h"

#define LOG_ROOM 65536
#define LOG_HEADER 48
#define MOST_BYTES 2048 /* of a packet; longer ones are cut, and refused for their length all the same */

typedef struct options {
    const char *bind, *log, *replay;
    uint64_t period_us, patience_us, ticks;
    int port;
} options;

static drive machine;
static uint8_t log_bytes[LOG_ROOM];
static size_t log_held;
static int log_file = -1, log_failed;
static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = 1;
}

static uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void log_flush(void) {
    for (size_t done = 0; done < log_held && !log_failed;) {
        const ssize_t wrote = write(log_file, log_bytes + done, log_held - done);
        if (wrote > 0) {
            done += (size_t)wrote;
        } else if (errno != EINTR) {
            log_failed = 1;
        }
    }
    log_held = 0;
}

static void put(uint8_t *p, uint64_t x, int bytes) {
    for (int i = 0; i < bytes; i++) p[i] = (uint8_t)(x >> (8 * i));
}

static uint64_t get(const uint8_t *p, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

/* A record: what happened, when, and its bytes. 'R' received, 'T' ticked without, 'C' commanded, 'S' stopped. */
static void log_record(char what, uint64_t now_us, const uint8_t *bytes, size_t count) {
    if (log_file < 0 || log_failed) return;
    if (log_held + 11 + count > LOG_ROOM) log_flush();
    uint8_t *p = log_bytes + log_held;
    p[0] = (uint8_t)what;
    put(p + 1, now_us, 8);
    put(p + 9, count, 2);
    if (count) memcpy(p + 11, bytes, count);
    log_held += 11 + count;
}

static void log_header(uint8_t p[LOG_HEADER], const drive_config *c) {
    const uint32_t whole[] = {c->deadline_us,     c->blind_ticks,  c->stop_ticks,
                              c->recover_packets, c->slip_packets, c->stale_us};
    const float real[] = {c->max_step, c->low, c->high};
    memcpy(p, "BSLG", 4);
    put(p + 4, DRIVE_VERSION, 4);
    put(p + 8, DRIVE_POLICY_ID, 4);
    for (int i = 0; i < 6; i++) put(p + 12 + 4 * i, whole[i], 4);
    for (int i = 0; i < 3; i++) {
        uint32_t u;
        memcpy(&u, &real[i], sizeof u);
        put(p + 36 + 4 * i, u, 4);
    }
}

static int fail(const char *what, const char *which) {
    fprintf(stderr, "%s %s%s%s\n", what, which, errno ? ": " : "", errno ? strerror(errno) : "");
    return 2;
}

static void print_times(const char *name, const drive_histogram *h) {
    printf("\"%s\": {\"count\": %" PRIu32 ", \"missed\": %" PRIu32 ", \"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64
           ", \"p999_ns\": %" PRIu64 ", \"worst_ns\": %" PRIu64 ", \"bins\": [",
           name, h->count, h->missed, drive_quantile(h, 500000), drive_quantile(h, 990000), drive_quantile(h, 999000),
           h->worst_ns);
    for (int i = 0; i < DRIVE_BINS; i++) printf(i ? ", %" PRIu32 : "%" PRIu32, h->bins[i]);
    printf("]}, ");
}

static void print_summary(int port) {
    static const char *const modes[] = {"run", "blind", "hold", "stop"};
    static const char *const verdicts[] = {"fresh",   "repeated", "late",       "wrong_length",
                                           "foreign", "corrupt",  "not_finite", "stranger"};
    const drive_counts *c = &machine.counts;
    printf("{\"port\": %d, \"ticks\": %" PRIu32 ", \"modes\": {", port, c->ticks);
    for (int i = 0; i < DRIVE_MODES; i++) printf("%s\"%s\": %" PRIu32, i ? ", " : "", modes[i], c->modes[i]);
    printf("}, \"packets\": {");
    for (int i = 0; i < DRIVE_VERDICTS; i++) printf("%s\"%s\": %" PRIu32, i ? ", " : "", verdicts[i], c->packets[i]);
    printf("}, ");
    print_times("work", &machine.work);
    print_times("response", &machine.response);
    printf("\"missing\": %" PRIu32 ", \"stale\": %" PRIu32 ", \"clock_steps\": %" PRIu32 ", \"restarts\": %" PRIu32
           ", \"limited\": %" PRIu32 ", \"broken\": %" PRIu32 ", \"log_failed\": %s}\n",
           c->missing, c->stale, c->clock_steps, c->restarts, c->limited, c->broken, log_failed ? "true" : "false");
}

static ssize_t read_whole(int file, uint8_t *p, size_t count) {
    size_t done = 0;
    while (done < count) {
        const ssize_t got = read(file, p + done, count - done);
        if (got == 0) break;
        if (got < 0 && errno != EINTR) return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)done;
}

static int replay(const char *path) {
    static uint8_t head[LOG_HEADER], record[11], bytes[65536];
    uint8_t out[DRIVE_COMMAND_BYTES];
    size_t due = 0;
    drive_config c;
    const int file = open(path, O_RDONLY);
    if (file < 0) return fail("cannot read", path);
    errno = 0;
    if (read_whole(file, head, LOG_HEADER) != LOG_HEADER || memcmp(head, "BSLG", 4) != 0) return fail("no log:", path);
    if (get(head + 4, 4) != DRIVE_VERSION) return fail("a log of another version:", path);
    if (get(head + 8, 4) != DRIVE_POLICY_ID) return fail("another policy wrote", path);
    uint32_t *const whole[] = {&c.deadline_us, &c.blind_ticks, &c.stop_ticks, &c.recover_packets, &c.slip_packets,
                               &c.stale_us};
    float *const real[] = {&c.max_step, &c.low, &c.high};
    for (int i = 0; i < 6; i++) *whole[i] = (uint32_t)get(head + 12 + 4 * i, 4);
    for (int i = 0; i < 3; i++) {
        const uint32_t u = (uint32_t)get(head + 36 + 4 * i, 4);
        memcpy(real[i], &u, sizeof u);
    }
    if (drive_init(&machine, &c) != 0) return fail("a configuration that makes no sense in", path);
    for (;;) {
        const ssize_t got = read_whole(file, record, sizeof record);
        if (got == 0) break;
        const size_t count = (size_t)get(record + 9, 2);
        if (got != (ssize_t)sizeof record || read_whole(file, bytes, count) != (ssize_t)count)
            return fail("cut off in the middle of a record:", path);
        if (record[0] == 'R') {
            if (drive_receive(&machine, get(record + 1, 8), bytes, count) == DRIVE_FRESH)
                due = drive_tick(&machine, out);
        } else if (record[0] == 'T') {
            due = drive_tick(&machine, out);
        } else if (record[0] == 'S') {
            due = drive_stop(&machine, out);
        } else if (record[0] != 'C' || due != count || memcmp(out, bytes, count) != 0) {
            fprintf(stderr, "command %" PRIu32 " differs from the log\n", machine.counts.ticks);
            return 1;
        } else {
            due = 0;
        }
    }
    close(file);
    print_summary(0);
    return 0;
}

static int open_socket(options *o) {
    struct sockaddr_in at = {0};
    socklen_t size = sizeof at;
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)o->port);
    errno = 0;
    if (inet_pton(AF_INET, o->bind, &at.sin_addr) != 1) return -1;
    if (s < 0 || fcntl(s, F_SETFL, O_NONBLOCK) != 0 || bind(s, (struct sockaddr *)&at, sizeof at) != 0) return -1;
    if (s >= FD_SETSIZE || getsockname(s, (struct sockaddr *)&at, &size) != 0) return -1;
    o->port = ntohs(at.sin_port);
    return s;
}

/* Wait for a packet until the deadline; 1 if there is one. */
static int wait_until(int s, uint64_t deadline_ns) {
    const uint64_t now = clock_ns();
    const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    const struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(s, &set);
    return pselect(s + 1, &set, NULL, NULL, &timeout, NULL) > 0;
}

static void run(int s, const options *o) {
    static uint8_t bytes[MOST_BYTES];
    uint8_t out[DRIVE_COMMAND_BYTES];
    struct sockaddr_in peer = {0}, from;
    uint64_t deadline = clock_ns() + o->patience_us * 1000;
    while (!stopping && (!o->ticks || machine.counts.ticks < o->ticks)) {
        const int arrived = wait_until(s, deadline);
        const uint64_t woke = clock_ns();
        ssize_t got = -1;
        size_t count = 0;
        if (arrived) {
            socklen_t size = sizeof from;
            got = recvfrom(s, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size);
        }
        const uint64_t began = clock_ns();
        if (got >= 0) {
            log_record('R', began / 1000, bytes, (size_t)got);
            if (drive_receive(&machine, began / 1000, bytes, (size_t)got) == DRIVE_FRESH) {
                peer = from;
                count = drive_tick(&machine, out);
                deadline = began + o->patience_us * 1000;
            }
        }
        if (!count && began >= deadline) {
            log_record('T', began / 1000, NULL, 0);
            count = drive_tick(&machine, out);
            deadline += o->period_us * 1000;
            if (deadline < began) deadline = began + o->period_us * 1000; /* far behind: do not catch up in a rush */
        }
        if (!count) continue;
        const uint64_t worked = clock_ns();
        (void)sendto(s, out, count, 0, (struct sockaddr *)&peer, sizeof peer); /* lost like any other */
        drive_account(&machine.work, worked - began, machine.config.deadline_us);
        drive_account(&machine.response, clock_ns() - woke, machine.config.deadline_us);
        log_record('C', began / 1000, out, count);
        if (log_held > LOG_ROOM / 2) log_flush(); /* now, not when the next packet waits */
    }
    const size_t count = drive_stop(&machine, out);
    if (count) {
        log_record('S', 0, NULL, 0);
        log_record('C', 0, out, count);
        (void)sendto(s, out, count, 0, (struct sockaddr *)&peer, sizeof peer);
    }
    log_flush();
}

static int read_options(int argc, char **argv, options *o, drive_config *c) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        const uint64_t whole = strtoull(value, NULL, 10);
        const float real = strtof(value, NULL);
        if (!strcmp(name, "--bind")) o->bind = value;
        else if (!strcmp(name, "--port")) o->port = (int)whole;
        else if (!strcmp(name, "--log")) o->log = value;
        else if (!strcmp(name, "--replay")) o->replay = value;
        else if (!strcmp(name, "--period-us")) o->period_us = whole;
        else if (!strcmp(name, "--patience-us")) o->patience_us = whole;
        else if (!strcmp(name, "--ticks")) o->ticks = whole;
        else if (!strcmp(name, "--deadline-us")) c->deadline_us = (uint32_t)whole;
        else if (!strcmp(name, "--blind-ticks")) c->blind_ticks = (uint32_t)whole;
        else if (!strcmp(name, "--stop-ticks")) c->stop_ticks = (uint32_t)whole;
        else if (!strcmp(name, "--recover-packets")) c->recover_packets = (uint32_t)whole;
        else if (!strcmp(name, "--slip-packets")) c->slip_packets = (uint32_t)whole;
        else if (!strcmp(name, "--stale-us")) c->stale_us = (uint32_t)whole;
        else if (!strcmp(name, "--max-step")) c->max_step = real;
        else if (!strcmp(name, "--low")) c->low = real;
        else if (!strcmp(name, "--high")) c->high = real;
        else return fail("unknown option", name);
    }
    return argc % 2 ? 0 : fail("an option without a value:", argv[argc - 1]);
}

int main(int argc, char **argv) {
    options o = {"127.0.0.1", NULL, NULL, 20000, 30000, 0, 4750};
    drive_config c = {20000, 25, 50, 3, 3, 40000, 2.0f, -1.0f, 1.0f};
    uint8_t head[LOG_HEADER];
    if (read_options(argc, argv, &o, &c) != 0) return 2;
    if (o.replay) return replay(o.replay);
    if (drive_init(&machine, &c) != 0 || o.period_us < 1) return fail("these options", "make no sense");
    const int s = open_socket(&o);
    if (s < 0) return fail("cannot listen on", o.bind);
    if (o.log && (log_file = open(o.log, O_WRONLY | O_CREAT | O_TRUNC, 0644)) < 0) return fail("cannot write", o.log);
    log_header(head, &c);
    memcpy(log_bytes, head, LOG_HEADER);
    log_held = o.log ? LOG_HEADER : 0;
    struct sigaction action = {0};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    fprintf(stderr, "listening on %s:%d\n", o.bind, o.port);
    run(s, &o);
    print_summary(o.port);
    return 0;
}
