// The definitions of functions of the C library. See faults.h.
#ifdef __linux__
#define _GNU_SOURCE
#include "internal.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// The C library's own function of this name.
#define REAL(name)                              \
    static __typeof__(&name) real;              \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// What happens to this call.
#define DECIDE(name) \
    int value = 0;   \
    enum flt_kind kind = flt_decide(function_##name, __builtin_return_address(0), &value)

// Whether the caller is in the program itself, and not in a shared library.
extern const char __executable_start, etext;
#define IS_PROGRAM(caller) ((const char *)(caller) >= &__executable_start && (const char *)(caller) < &etext)

// A function that reports an error as -1 and errno.
#define DEFINE(result, name, parameters, arguments) \
    result name parameters {                        \
        REAL(name);                                 \
        DECIDE(name);                               \
        if (kind == flt_error) {                    \
            errno = value;                          \
            return -1;                              \
        }                                           \
        return real arguments;                      \
    }

// A function that reports an error as NULL and errno.
#define DEFINE_POINTER(result, name, parameters, arguments) \
    result name parameters {                                \
        REAL(name);                                         \
        DECIDE(name);                                       \
        if (kind == flt_error) {                            \
            errno = value;                                  \
            return NULL;                                    \
        }                                                   \
        return real arguments;                              \
    }

// A function that moves `count` bytes.
#define DEFINE_MOVING(name, parameters, arguments)         \
    ssize_t name parameters {                              \
        REAL(name);                                        \
        DECIDE(name);                                      \
        if (kind == flt_nothing) return 0;                 \
        if (kind == flt_error || kind == flt_would_block) {\
            errno = kind == flt_error ? value : EAGAIN;    \
            return -1;                                     \
        }                                                  \
        if (kind == flt_short && count > (size_t)value) count = (size_t)value; \
        return real arguments;                             \
    }

// MARK: Sockets

DEFINE(int, socket, (int family, int type, int protocol), (family, type, protocol))
DEFINE(int, connect, (int descriptor, const struct sockaddr *address, socklen_t length), (descriptor, address, length))
DEFINE(
    int, accept4, (int descriptor, struct sockaddr *restrict address, socklen_t *restrict length, int flags),
    (descriptor, address, length, flags)
)
DEFINE(int, pipe2, (int ends[2], int flags), (ends, flags))
DEFINE(int, shutdown, (int descriptor, int how), (descriptor, how))
DEFINE(
    int, setsockopt, (int descriptor, int level, int name, const void *option, socklen_t length),
    (descriptor, level, name, option, length)
)
DEFINE(
    int, getpeername, (int descriptor, struct sockaddr *restrict address, socklen_t *restrict length),
    (descriptor, address, length)
)

int getsockopt(int descriptor, int level, int name, void *restrict option, socklen_t *restrict length) {
    REAL(getsockopt);
    DECIDE(getsockopt);
    if (kind == flt_error) {
        errno = value;
        return -1;
    }
    int result = real(descriptor, level, name, option, length);
    if (kind == flt_answer && result == 0 && level == SOL_SOCKET && name == SO_ERROR) *(int *)option = value;
    return result;
}

int close(int descriptor) {
    REAL(close);
    DECIDE(close);
    int result = real(descriptor);
    // Linux has closed the descriptor whatever close reports.
    if (kind == flt_none) return result;
    errno = value;
    return -1;
}

// The events that sockets are registered for. A short count and EAGAIN promise that an event follows.
#define MOST_DESCRIPTORS 4096
static struct { int queue; struct epoll_event event; } registered[MOST_DESCRIPTORS];

int epoll_ctl(int queue, int operation, int descriptor, struct epoll_event *event) {
    REAL(epoll_ctl);
    DECIDE(epoll_ctl);
    if (kind == flt_error) {
        errno = value;
        return -1;
    }
    if (operation == EPOLL_CTL_ADD && descriptor < MOST_DESCRIPTORS) {
        registered[descriptor].queue = queue;
        registered[descriptor].event = *event;
    }
    return real(queue, operation, descriptor, event);
}

// Changing the registration, to what it was, reports again what the socket is ready for.
static void repeat_event(int descriptor) {
    static __typeof__(&epoll_ctl) real;
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "epoll_ctl");
    if (descriptor < MOST_DESCRIPTORS && registered[descriptor].queue > 0) {
        int error = errno;
        struct epoll_event event = registered[descriptor].event;
        real(registered[descriptor].queue, EPOLL_CTL_MOD, descriptor, &event);
        errno = error;
    }
}

// Ends a function that moves bytes: it moves all of them, fewer, or none now.
#define TRANSFER                                                                                                    \
    ssize_t result = -1;                                                                                           \
    if (kind == flt_would_block) errno = EAGAIN;                                                                   \
    else result = real(descriptor, buffer, kind == flt_short && count > (size_t)value ? (size_t)value : count, flags); \
    if (kind != flt_none) repeat_event(descriptor);                                                                \
    return result

ssize_t recv(int descriptor, void *buffer, size_t count, int flags) {
    REAL(recv);
    DECIDE(recv);
    if (kind == flt_nothing) return 0;
    if (kind == flt_error) {
        errno = value;
        return -1;
    }
    TRANSFER;
}

ssize_t send(int descriptor, const void *buffer, size_t count, int flags) {
    REAL(send);
    flt_note_sent(buffer, count);
    DECIDE(send);
    if (kind == flt_error) {
        // After these errors the connection is over, and the next calls notice it.
        if (value == EPIPE || value == ECONNRESET || value == ETIMEDOUT || value == EHOSTUNREACH || value == ENETUNREACH
            || value == ENETDOWN)
            shutdown(descriptor, SHUT_RDWR);
        errno = value;
        return -1;
    }
    TRANSFER;
}

ssize_t splice(int from, off64_t *read_at, int to, off64_t *write_at, size_t count, unsigned int flags) {
    REAL(splice);
    DECIDE(splice);
    if (kind == flt_nothing) return 0;
    ssize_t result = -1;
    if (kind == flt_error || kind == flt_would_block) errno = kind == flt_error ? value : EAGAIN;
    else result = real(from, read_at, to, write_at, kind == flt_short && count > (size_t)value ? (size_t)value : count, flags);
    // One of them is a pipe, of which no queue knows.
    if (kind != flt_none) repeat_event(from), repeat_event(to);
    return result;
}

// MARK: The readiness queue

DEFINE(int, epoll_create1, (int flags), (flags))

int eventfd(unsigned int count, int flags) {
    static int (*real)(unsigned int, int);
    if (!real) real = (int (*)(unsigned int, int))dlsym(RTLD_NEXT, "eventfd");
    DECIDE(eventfd);
    if (kind != flt_error) return real(count, flags);
    errno = value;
    return -1;
}

int epoll_wait(int queue, struct epoll_event *events, int capacity, int milliseconds) {
    REAL(epoll_wait);
    DECIDE(epoll_wait);
    if (kind == flt_nothing) return 0;
    if (kind != flt_error) return real(queue, events, capacity, milliseconds);
    errno = value;
    return -1;
}

// MARK: Names, threads and random numbers

int getaddrinfo(
    const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict list
) {
    REAL(getaddrinfo);
    DECIDE(getaddrinfo);
    if (kind != flt_answer) return real(name, service, hints, list);
    if (value < 1000) return value;
    errno = value - 1000;
    return EAI_SYSTEM;
}

struct body { void *(*function)(void *); void *argument; };

static void *run_body(void *argument) {
    struct body body = *(struct body *)argument;
    free(argument);
    void *result = body.function(body.argument);
    flt_threads--;
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    REAL(pthread_create);
    int value = 0;
    const void *caller = __builtin_return_address(0);
    if (!IS_PROGRAM(caller)) return real(thread, attributes, function, argument);
    if (flt_decide(function_pthread_create, caller, &value) == flt_error) return value;
    struct body *body = malloc(sizeof *body);
    if (!body) return EAGAIN;
    *body = (struct body){function, argument};
    flt_threads++;
    int error = real(thread, attributes, run_body, body);
    if (error) {
        flt_threads--;
        free(body);
    }
    return error;
}

DEFINE(int, getentropy, (void *buffer, size_t count), (buffer, count))

// MARK: Files

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    DECIDE(open);
    if (kind != flt_error) return real(path, flags, mode);
    errno = value;
    return -1;
}

int openat(int folder, const char *path, int flags, ...) {
    REAL(openat);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    DECIDE(openat);
    if (kind != flt_error) return real(folder, path, flags, mode);
    errno = value;
    return -1;
}

DEFINE_MOVING(read, (int file, void *buffer, size_t count), (file, buffer, count))
DEFINE_MOVING(write, (int file, const void *buffer, size_t count), (file, buffer, count))
DEFINE_MOVING(pread, (int file, void *buffer, size_t count, off_t place), (file, buffer, count, place))
DEFINE_MOVING(pwrite, (int file, const void *buffer, size_t count, off_t place), (file, buffer, count, place))
DEFINE(int, fsync, (int file), (file))
DEFINE(int, ftruncate, (int file, off_t size), (file, size))
DEFINE(int, flock, (int file, int operation), (file, operation))
DEFINE(int, fstat, (int file, struct stat *facts), (file, facts))
DEFINE(
    int, fstatat, (int folder, const char *restrict path, struct stat *restrict facts, int flags),
    (folder, path, facts, flags)
)
DEFINE(int, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new))
DEFINE(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
DEFINE(int, fchmod, (int file, mode_t mode), (file, mode))
DEFINE(int, fchown, (int file, uid_t user, gid_t group), (file, user, group))
DEFINE(
    ssize_t, readlinkat, (int folder, const char *restrict path, char *restrict buffer, size_t count),
    (folder, path, buffer, count)
)
DEFINE(
    int, linkat, (int from, const char *old, int to, const char *new, int flags), (from, old, to, new, flags)
)
DEFINE(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
DEFINE(int, access, (const char *path, int mode), (path, mode))
DEFINE(int, futimens, (int file, const struct timespec times[2]), (file, times))
DEFINE_POINTER(DIR *, opendir, (const char *path), (path))
DEFINE_POINTER(DIR *, fdopendir, (int folder), (folder))
DEFINE_POINTER(struct dirent *, readdir, (DIR *listing), (listing))

// MARK: Streams, by which OpenSSL reads files

// The stream whose last call failed on this thread.
static __thread FILE *failed_stream;

static FILE *open_stream(__typeof__(&fopen) real, const void *caller, const char *path, const char *mode) {
    int value = 0;
    // The program's own files are the scenarios', not the client's.
    if (IS_PROGRAM(caller)) return real(path, mode);
    if (flt_decide(function_fopen, caller, &value) != flt_error) return real(path, mode);
    errno = value;
    return NULL;
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
    REAL(fopen);
    return open_stream(real, __builtin_return_address(0), path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode) {
    REAL(fopen64);
    return open_stream(real, __builtin_return_address(0), path, mode);
}

size_t fread(void *restrict buffer, size_t size, size_t count, FILE *restrict stream) {
    REAL(fread);
    if (IS_PROGRAM(__builtin_return_address(0))) return real(buffer, size, count, stream);
    DECIDE(fread);
    if (kind != flt_error) return real(buffer, size, count, stream);
    failed_stream = stream;
    errno = value;
    return 0;
}

char *fgets(char *restrict buffer, int count, FILE *restrict stream) {
    REAL(fgets);
    DECIDE(fgets);
    if (kind != flt_error) return real(buffer, count, stream);
    failed_stream = stream;
    errno = value;
    return NULL;
}

int ferror(FILE *stream) {
    REAL(ferror);
    return stream == failed_stream ? 1 : real(stream);
}

int fclose(FILE *stream) {
    REAL(fclose);
    if (stream == failed_stream) failed_stream = NULL;
    return real(stream);
}

// MARK: Libraries

// Of zlib, which says -4 (Z_MEM_ERROR) if memory has run out.
int inflateInit2_(void *stream, int bits, const char *version, int size) {
    REAL(inflateInit2_);
    DECIDE(inflateInit2_);
    return kind == flt_answer ? value : real(stream, bits, version, size);
}

SSL *SSL_new(SSL_CTX *context) {
    REAL(SSL_new);
    SSL *ssl = real(context);
    if (ssl && IS_PROGRAM(__builtin_return_address(0))) flt_connections++;
    return ssl;
}

void SSL_free(SSL *ssl) {
    REAL(SSL_free);
    // OpenSSL itself frees one that it could not make.
    if (ssl && IS_PROGRAM(__builtin_return_address(0))) flt_connections--;
    real(ssl);
}

int flt_calls_are_ours(void) { return dlsym(RTLD_DEFAULT, "recv") == (void *)recv; }
#endif
