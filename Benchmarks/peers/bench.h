/* The settings, clocks and report that the C peers share.
 *
 * Every client program of the benchmark (floor, curl-multi, ours) takes `WORK key=value...` and does its work twice: a
 * warm-up that opens the connections and fills the caches, then the measured run. Both end with no request in flight,
 * so the processor time between the two readings belongs to exactly `count` requests. The settings and the reported
 * line are the interface to scripts/bench. */
#ifndef BENCH_H
#define BENCH_H

#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct settings {
    const char *work;    /* requests, latency, fresh, down, up, gzip, idle or once */
    const char *host;    /* the name in SNI, certificate check and Host */
    const char *address; /* the address to connect to */
    const char *port;
    const char *path;    /* for down and gzip, the size in KiB is appended */
    const char *ca;      /* a PEM file, or "system" */
    const char *driver;  /* libcurl only: multi or easy */
    long length;         /* required length of a body */
    int last;            /* required last byte of a body, or 0 */
    long count, warmup;  /* requests; KiB for down, gzip (decoded) and up */
    long inflight;
    bool resume;
    bool keep_roots;     /* libcurl only: keep the parsed roots between connections */
    long settle;         /* idle: seconds to wait before memory is read */
};

struct reading {
    double cpu, wall;
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

static inline long number(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < 0) die("not a number: %s", text);
    return value;
}

/* The value of a key of the command line, or another one without it. */
static inline const char *setting(char **words, const char *key, const char *otherwise) {
    size_t length = strlen(key);
    for (; *words; words++)
        if (!strncmp(*words, key, length) && (*words)[length] == '=') return *words + length + 1;
    return otherwise;
}

static inline struct settings settings_from(int argc, char **argv) {
    if (argc < 2) die("usage: %s WORK key=value...", argv[0]);
    struct settings s = {
        .work = argv[1], .host = setting(argv, "host", "bench.test"), .address = setting(argv, "address", "127.0.0.1"),
        .port = setting(argv, "port", NULL), .path = setting(argv, "path", "/small"), .ca = setting(argv, "ca", "system"),
        .driver = setting(argv, "driver", "multi"), .last = (unsigned char)*setting(argv, "last", ""),
        .length = number(setting(argv, "length", "0")), .count = number(setting(argv, "count", "1")),
        .warmup = number(setting(argv, "warmup", "0")), .inflight = number(setting(argv, "inflight", "1")),
        .settle = number(setting(argv, "settle", "0")), .resume = *setting(argv, "resume", "0") == '1',
        .keep_roots = *setting(argv, "keep-roots", "0") == '1',
    };
    if (!s.port) die("no port");
    return s;
}

static inline bool is_work(const struct settings *s, const char *work) { return !strcmp(s->work, work); }

static inline double read_wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static inline struct reading read_clocks(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct reading){
        .cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
        .wall = read_wall(),
    };
}

/* Returns VmRSS or VmHWM in KiB. ru_maxrss does not help: after exec it still has the parent's peak. */
static inline long memory_kib(const char *field) {
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) die("cannot read /proc/self/status");
    char line[256];
    long value = -1;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, field, strlen(field))) value = strtol(line + strlen(field) + 1, NULL, 10);
    fclose(status);
    if (value < 0) die("no %s in /proc/self/status", field);
    return value;
}

/* Waits, and returns free memory to the system. The memory read afterwards is what the connections hold, without the
 * free pages that the allocator kept after opening them. */
static inline void settle(const struct settings *s) {
    struct timespec pause = {.tv_sec = s->settle};
    nanosleep(&pause, NULL);
    malloc_trim(0);
}

static inline void report(long units, struct reading from, struct reading to, long rss_start) {
    printf("units=%ld cpu_us=%.0f wall_us=%.0f rss_start_kib=%ld rss_peak_kib=%ld rss_end_kib=%ld\n", units,
           to.cpu - from.cpu, to.wall - from.wall, rss_start, memory_kib("VmHWM"), memory_kib("VmRSS"));
}

#endif
