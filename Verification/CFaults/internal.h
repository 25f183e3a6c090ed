// Shared by the files of this module.
#ifndef CFAULTS_INTERNAL_H
#define CFAULTS_INTERNAL_H
#include "faults.h"
#include <stddef.h>

// All functions that can fail. `allocation` is that of OpenSSL.
#define FUNCTIONS(F) \
    F(socket) F(connect) F(accept4) F(recv) F(send) F(splice) F(pipe2) F(shutdown) F(close) F(setsockopt) F(getsockopt) F(getpeername) \
    F(epoll_create1) F(eventfd) F(epoll_ctl) F(epoll_wait) F(getaddrinfo) F(pthread_create) F(getentropy) \
    F(open) F(openat) F(read) F(write) F(pread) F(pwrite) F(fsync) F(fstat) F(fstatat) F(renameat) \
    F(ftruncate) F(flock) F(unlinkat) F(readlinkat) F(linkat) F(fchmod) F(fchown) F(mkdirat) F(access) F(opendir) F(fdopendir) F(readdir) F(futimens) \
    F(fopen) F(fread) F(fgets) F(inflateInit2_) F(allocation)

enum function {
#define INDEX(function) function_##function,
    FUNCTIONS(INDEX)
};

// Counts a call by the code at `caller` (NULL: by OpenSSL) and returns what happens to it.
enum flt_kind flt_decide(enum function function, const void *caller, int *value);
// Notes bytes that a socket is given.
void flt_note_sent(const void *bytes, size_t count);
// Whether the functions of calls.c are found before those of the C library.
int flt_calls_are_ours(void);

extern _Atomic int64_t flt_threads, flt_connections;
#endif
