// Which calls fail, and what is counted. See faults.h.
#ifdef __linux__
#define _GNU_SOURCE
#include "internal.h"
#include <fcntl.h>
#include <link.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *const names[] = {
#define NAME(function) #function,
    FUNCTIONS(NAME)
};
#define COUNT ((int)(sizeof names / sizeof *names))

static _Atomic int is_armed;
static struct flt_fault fault;
static _Atomic int64_t calls[COUNT];
static _Atomic int64_t hits;

int flt_function_count(void) { return COUNT; }
const char *flt_function_name(int function) { return names[function]; }
int64_t flt_calls(int function) { return calls[function]; }

void flt_arm(struct flt_fault chosen) {
    fault = chosen;
    for (int i = 0; i < COUNT; i++) calls[i] = 0;
    hits = 0;
    is_armed = 1;
}

int64_t flt_disarm(void) {
    is_armed = 0;
    return hits;
}

// MARK: The code whose calls count

#define MOST_RANGES 16
static struct range { uintptr_t start, end; } ranges[MOST_RANGES];
static int range_count;

static int note_library(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    // Swift calls `open` and `openat` by way of its module for the C library.
    int is_own = !*info->dlpi_name || strstr(info->dlpi_name, "libssl") || strstr(info->dlpi_name, "libcrypto")
        || strstr(info->dlpi_name, "libswiftGlibc");
    for (int i = 0; is_own && i < info->dlpi_phnum && range_count < MOST_RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        ranges[range_count++] = (struct range){start, start + part->p_memsz};
    }
    return 0;
}

static int is_own_code(const void *caller) {
    for (int i = 0; i < range_count; i++)
        if ((uintptr_t)caller >= ranges[i].start && (uintptr_t)caller < ranges[i].end) return 1;
    return 0;
}

enum flt_kind flt_decide(enum function function, const void *caller, int *value) {
    if (!is_armed || (caller && !is_own_code(caller))) return flt_none;
    int64_t number = atomic_fetch_add(&calls[function], 1) + 1;
    if ((int)function != fault.function || number < fault.first || number > fault.last) return flt_none;
    hits++;
    *value = fault.value;
    if (fault.kind == flt_kill || fault.kind == flt_stop) {
        kill(getpid(), fault.kind == flt_kill ? SIGKILL : SIGSTOP);
        return flt_none;
    }
    if (fault.kind != flt_slow) return fault.kind;
    struct timespec pause = {fault.value / 1000, fault.value % 1000 * 1000000L};
    syscall(SYS_nanosleep, &pause, NULL);
    return flt_none;
}

// MARK: What exists

_Atomic int64_t flt_threads, flt_connections;
static _Atomic int64_t pieces;
// The program needs few, and each is asked for.
#define MOST_DESCRIPTORS 512

struct flt_holdings flt_holdings(void) {
    int64_t open = 0;
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        if (syscall(SYS_fcntl, i, F_GETFD) != -1) open++;
    return (struct flt_holdings){open, flt_threads, flt_connections, pieces};
}

uint64_t flt_time(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

// MARK: Secrets

static const char *secret;
static _Atomic int secret_was_sent;

void flt_set_secret(const char *text) {
    secret = text;
    secret_was_sent = 0;
}

int flt_secret_was_sent(void) { return secret_was_sent; }

void flt_note_sent(const void *bytes, size_t count) {
    const char *text = secret;
    if (text && memmem(bytes, count, text, strlen(text))) secret_was_sent = 1;
}

// MARK: OpenSSL's memory

static int is_refused(void) {
    int unused;
    return flt_decide(function_allocation, NULL, &unused) != flt_none;
}

static void *allocate(size_t size, const char *file, int line) {
    (void)file, (void)line;
    void *piece = is_refused() ? NULL : malloc(size);
    if (piece) pieces++;
    return piece;
}

static void release(void *piece, const char *file, int line) {
    (void)file, (void)line;
    if (piece) pieces--;
    free(piece);
}

static void *reallocate(void *old, size_t size, const char *file, int line) {
    if (!old) return allocate(size, file, line);
    if (size == 0) {
        release(old, file, line);
        return NULL;
    }
    return is_refused() ? NULL : realloc(old, size);
}

int flt_prepare(void) {
    dl_iterate_phdr(note_library, NULL);
    // Each line is seen at once, whatever reads it.
    setvbuf(stdout, NULL, _IOLBF, 0);
    return CRYPTO_set_mem_functions(allocate, reallocate, release) == 1 && flt_calls_are_ours();
}

int flt_hash_name(const char *pem, char *name, int capacity) {
    BIO *text = BIO_new_mem_buf(pem, -1);
    X509 *certificate = PEM_read_bio_X509(text, NULL, NULL, NULL);
    BIO_free(text);
    if (!certificate) return 0;
    int length = snprintf(name, (size_t)capacity, "%08lx.0", X509_subject_name_hash(certificate));
    X509_free(certificate);
    return length > 0 && length < capacity;
}
#endif
