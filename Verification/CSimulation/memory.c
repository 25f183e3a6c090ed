// How much memory a world leaves behind. See simulation.h.
#ifdef __linux__
#include "simulation.h"
#include <malloc.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

size_t sim_used_memory(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// The bytes that OpenSSL has for the client now, and the most since the last look. What servers have is not counted:
// before each block stands its size, or 0.
static size_t held, most;
static int is_serving;
#define HEAD 16

void sim_serve(int begins) { is_serving += begins ? 1 : -1; }

size_t sim_take_most(void) {
    size_t result = most;
    most = held;
    return result;
}

static void *note(char *block, size_t size) {
    if (!block) return NULL;
    size_t counted = is_serving ? 0 : size;
    memcpy(block, &counted, sizeof counted);
    held += counted;
    if (held > most) most = held;
    return block + HEAD;
}

static void forget(const char *block) {
    size_t counted;
    memcpy(&counted, block - HEAD, sizeof counted);
    held -= counted;
}

static void *allocate(size_t size, const char *file, int line) {
    (void)file, (void)line;
    return size ? note(malloc(size + HEAD), size) : NULL;
}

static void release(void *block, const char *file, int line) {
    (void)file, (void)line;
    if (!block) return;
    forget(block);
    free((char *)block - HEAD);
}

static void *reallocate(void *block, size_t size, const char *file, int line) {
    if (!block) return allocate(size, file, line);
    if (size == 0) {
        release(block, file, line);
        return NULL;
    }
    char *moved = realloc((char *)block - HEAD, size + HEAD);
    if (!moved) return NULL;
    forget(moved + HEAD);
    return note(moved, size);
}

int sim_watch_memory(void) { return CRYPTO_set_mem_functions(allocate, reallocate, release) == 1; }
#endif
