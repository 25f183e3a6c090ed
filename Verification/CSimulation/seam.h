// What the files of the seam share. See simulation.h.
#ifndef SEAM_H
#define SEAM_H
#include "simulation.h"
#include <dlfcn.h>

// Above all descriptors of the system.
#define FIRST_DESCRIPTOR (1 << 20)
// The numbers that the readiness queue and its alarm have. All sockets and files share those behind them.
#define QUEUE FIRST_DESCRIPTOR
#define ALARM (FIRST_DESCRIPTOR + 1)

#define SHARED __attribute__((visibility("hidden"))) extern
SHARED struct sim_system simulated;
SHARED __thread int is_inside;

#define SIMULATES(descriptor) (is_inside && (descriptor) >= FIRST_DESCRIPTOR)

// The C library's own dlsym: seam.c defines another one.
SHARED void *system_symbol(void *library, const char *name);

// The C library's own function of this name.
#define REAL(name)                                             \
    static __typeof__(&name) real;                             \
    if (!real) real = (__typeof__(&name))system_symbol(RTLD_NEXT, #name)

// Lets the thread's call take its time.
SHARED void pause_thread(uint64_t nanoseconds);

// As the C library reports a result.
SHARED ssize_t reported(ssize_t result);
#endif
