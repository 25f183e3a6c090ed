// The definitions of functions of the C library. See simulation.h.
#ifdef __linux__
#define _GNU_SOURCE
#include "seam.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// Above all descriptors of the simulation.
#define SIMULATED_LIMIT (1 << 30)
// The simulated calendar begins here: in the lifetime of the fixtures' certificates.
#define EPOCH 1799999999ull

struct sim_system simulated;
__thread int is_inside;
// The thread that a body started within the simulation believes to be on has waited for this long.
static __thread uint64_t clock_ahead;
static int64_t live_connections;

// Whether the function was called by the program itself within the simulation. libdispatch keeps threads and
// descriptors of its own, which stay real.
#define CALLED_INSIDE (is_inside && is_own_code(__builtin_return_address(0)))
extern const char __executable_start, etext;
static int is_own_code(const void *caller) {
    return (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

// The C library's own dlsym: this file defines another one.
void *system_symbol(void *library, const char *name) {
    static void *(*real)(void *, const char *);
    if (!real) real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real) real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real(library, name);
}

ssize_t reported(ssize_t result) {
    if (result >= 0) return result;
    errno = (int)-result;
    return -1;
}

void sim_enter(int enters) { is_inside = enters; }
int sim_first_descriptor(void) { return FIRST_DESCRIPTOR; }
int64_t sim_live_connections(void) { return live_connections; }

// MARK: Sockets

int socket(int family, int type, int protocol) {
    REAL(socket);
    if (!CALLED_INSIDE) return real(family, type, protocol);
    return (int)reported(simulated.open_socket((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_DGRAM));
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    REAL(connect);
    if (!SIMULATES(descriptor)) return real(descriptor, address, length);
    if (address->sa_family == AF_UNIX)
        return (int)reported(simulated.connect_local(descriptor, ((const struct sockaddr_un *)address)->sun_path));
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        return (int)reported(simulated.connect(descriptor, (const void *)&v4->sin_addr, 4, ntohs(v4->sin_port)));
    }
    const struct sockaddr_in6 *v6 = (const void *)address;
    return (int)reported(simulated.connect(descriptor, (const void *)&v6->sin6_addr, 16, ntohs(v6->sin6_port)));
}

int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    REAL(bind);
    if (!SIMULATES(descriptor)) return real(descriptor, address, length);
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        return (int)reported(simulated.bind(descriptor, (const void *)&v4->sin_addr, 4));
    }
    const struct sockaddr_in6 *v6 = (const void *)address;
    return (int)reported(simulated.bind(descriptor, (const void *)&v6->sin6_addr, 16));
}

int listen(int descriptor, int backlog) {
    REAL(listen);
    return SIMULATES(descriptor) ? (int)reported(simulated.listen(descriptor)) : real(descriptor, backlog);
}

int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length, int flags) {
    REAL(accept4);
    if (!SIMULATES(descriptor)) return real(descriptor, address, length, flags);
    return (int)reported(simulated.accept(descriptor));
}

int getsockname(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length) {
    REAL(getsockname);
    if (!SIMULATES(descriptor)) return real(descriptor, address, length);
    struct sockaddr_in *v4 = (void *)address;
    *v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)simulated.port(descriptor))};
    v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *length = sizeof *v4;
    return 0;
}

// Of a socket only the bytes on their way are asked for.
int ioctl(int descriptor, unsigned long request, ...) {
    static int (*real)(int, unsigned long, ...);
    if (!real) real = (int (*)(int, unsigned long, ...))system_symbol(RTLD_NEXT, "ioctl");
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!SIMULATES(descriptor)) return real(descriptor, request, argument);
    int count = simulated.count_on_the_way(descriptor);
    if (count >= 0) *(int *)argument = count;
    return count >= 0 ? 0 : (int)reported(count);
}

// Pipes are for many bytes at a time. Without one these are copied.
int pipe2(int ends[2], int flags) {
    REAL(pipe2);
    return CALLED_INSIDE ? (int)reported(-EMFILE) : real(ends, flags);
}

ssize_t recv(int descriptor, void *buffer, size_t count, int flags) {
    REAL(recv);
    if (!SIMULATES(descriptor)) return real(descriptor, buffer, count, flags);
    return reported(simulated.receive(descriptor, buffer, count, (flags & MSG_PEEK) != 0));
}

ssize_t send(int descriptor, const void *buffer, size_t count, int flags) {
    REAL(send);
    if (!SIMULATES(descriptor)) return real(descriptor, buffer, count, flags);
    return reported(simulated.send(descriptor, buffer, count));
}

int shutdown(int descriptor, int how) {
    REAL(shutdown);
    return SIMULATES(descriptor) ? (int)reported(simulated.shut_down(descriptor)) : real(descriptor, how);
}

int close(int descriptor) {
    REAL(close);
    if (!SIMULATES(descriptor)) return real(descriptor);
    return descriptor <= ALARM ? 0 : (int)reported(simulated.close(descriptor));
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t length) {
    REAL(setsockopt);
    if (!SIMULATES(descriptor)) return real(descriptor, level, name, value, length);
    int is_mark = level == SOL_SOCKET && name == SO_RCVLOWAT;
    int is_reset = level == SOL_SOCKET && name == SO_LINGER && ((const struct linger *)value)->l_linger == 0;
    return (int)reported(simulated.set_option(descriptor, is_mark ? *(const int *)value : is_reset ? -1 : 0));
}

int getsockopt(int descriptor, int level, int name, void *restrict value, socklen_t *restrict length) {
    REAL(getsockopt);
    if (!SIMULATES(descriptor)) return real(descriptor, level, name, value, length);
    int code = name == SO_ERROR ? simulated.take_error(descriptor) : simulated.set_option(descriptor, 0);
    if (code >= 0) *(int *)value = code;
    return code >= 0 ? 0 : (int)reported(code);
}

int getpeername(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length) {
    REAL(getpeername);
    if (!SIMULATES(descriptor)) return real(descriptor, address, length);
    return (int)reported(simulated.is_connected(descriptor));
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limits) {
    REAL(getrlimit);
    if (!is_inside || resource != RLIMIT_NOFILE) return real(resource, limits);
    limits->rlim_cur = limits->rlim_max = SIMULATED_LIMIT;
    return 0;
}

// MARK: The readiness queue

int epoll_create1(int flags) {
    REAL(epoll_create1);
    return CALLED_INSIDE ? QUEUE : real(flags);
}

int eventfd(unsigned int value, int flags) {
    static int (*real)(unsigned int, int);
    if (!real) real = (int (*)(unsigned int, int))system_symbol(RTLD_NEXT, "eventfd");
    return CALLED_INSIDE ? ALARM : real(value, flags);
}

ssize_t write(int descriptor, const void *buffer, size_t count) {
    REAL(write);
    if (!SIMULATES(descriptor)) return real(descriptor, buffer, count);
    // The alarm need not wake anything: there is one thread.
    if (descriptor == ALARM) return (ssize_t)count;
    return reported(simulated.write_file(descriptor, buffer, count, -1));
}

int epoll_ctl(int queue, int operation, int descriptor, struct epoll_event *event) {
    REAL(epoll_ctl);
    if (!SIMULATES(queue)) return real(queue, operation, descriptor, event);
    if (descriptor == ALARM) return 0;
    if (operation == EPOLL_CTL_ADD) return (int)reported(simulated.watch(descriptor, event->data.ptr));
    return (int)reported(simulated.unwatch(descriptor));
}

int epoll_wait(int queue, struct epoll_event *events, int capacity, int milliseconds) {
    REAL(epoll_wait);
    if (!SIMULATES(queue)) return real(queue, events, capacity, milliseconds);
    return (int)reported(simulated.wait(events, capacity, milliseconds));
}

void sim_put_event(void *events, int place, uint32_t mask, void *token) {
    struct epoll_event *event = (struct epoll_event *)events + place;
    event->events = mask;
    event->data.ptr = token;
}

// MARK: Clocks, also those of shared libraries, such as OpenSSL's

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!is_inside || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return (int)syscall(SYS_clock_gettime, clock, time);
    uint64_t now = simulated.now() + clock_ahead;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now += (uint64_t)((int64_t)EPOCH + simulated.clock_shift()) * 1000000000ull;
    time->tv_sec = (time_t)(now / 1000000000ull);
    time->tv_nsec = (long)(now % 1000000000ull);
    return 0;
}

time_t time(time_t *where) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict where, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    where->tv_sec = now.tv_sec;
    where->tv_usec = now.tv_nsec / 1000;
    return 0;
}

uint64_t sim_real_time(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

// MARK: Random numbers

static uint64_t outside = 1;
void sim_seed_outside(uint64_t seed) { outside = seed; }

static uint64_t random_word(void) {
    if (is_inside) return simulated.random();
    // splitmix64
    uint64_t word = outside += 0x9e3779b97f4a7c15ull;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
}

static void fill_randomly(unsigned char *bytes, size_t count) {
    for (size_t at = 0; at < count; at += 8) {
        uint64_t word = random_word();
        memcpy(bytes + at, &word, count - at < 8 ? count - at : 8);
    }
}

ssize_t getrandom(void *buffer, size_t count, unsigned flags) {
    (void)flags;
    fill_randomly(buffer, count);
    return (ssize_t)count;
}

int getentropy(void *buffer, size_t count) {
    fill_randomly(buffer, count);
    return 0;
}

void arc4random_buf(void *buffer, size_t count) { fill_randomly(buffer, count); }

// RAND_set_rand_method is deprecated in OpenSSL 3.0, and its successors cannot be set for a whole process.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static int openssl_bytes(unsigned char *bytes, int count) {
    fill_randomly(bytes, (size_t)count);
    return 1;
}
static int openssl_status(void) { return 1; }
void sim_seed_openssl(void) {
    static const RAND_METHOD method = {0, openssl_bytes, 0, 0, openssl_bytes, openssl_status};
    RAND_set_rand_method(&method);
}

// MARK: Threads. Their bodies run on the simulation's thread, some time later, each on a stack of its own: there a call
// can take its time.

struct sim_thread { ucontext_t context; struct sim_thread *next; void *(*body)(void *); void *argument; int has_ended; };
#define STACK (1 << 19)
static struct sim_thread *running, *spare;
static ucontext_t outside_of_threads;

static void run_thread(void) {
    while (1) {
        running->body(running->argument);
        running->has_ended = 1;
        swapcontext(&running->context, &outside_of_threads);
    }
}

int sim_continue_thread(struct sim_thread *thread) {
    running = thread;
    swapcontext(&outside_of_threads, &thread->context);
    running = NULL;
    clock_ahead = 0;
    if (!thread->has_ended) return 0;
    thread->next = spare, spare = thread;
    return 1;
}

int sim_run_thread(void *(*body)(void *), void *argument) {
    struct sim_thread *thread = spare;
    if (thread) {
        spare = thread->next;
    } else {
        // A stack that is too small must not be written beyond.
        char *memory = mmap(NULL, STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        thread = calloc(1, sizeof *thread);
        if (!thread || memory == MAP_FAILED || mprotect(memory + 4096, STACK - 4096, PROT_READ | PROT_WRITE)) abort();
        getcontext(&thread->context);
        thread->context.uc_stack.ss_sp = memory;
        thread->context.uc_stack.ss_size = STACK;
        makecontext(&thread->context, run_thread, 0);
    }
    thread->body = body, thread->argument = argument, thread->has_ended = 0;
    return sim_continue_thread(thread);
}

void pause_thread(uint64_t nanoseconds) {
    if (!nanoseconds || !running) return;
    simulated.pause_thread(running, nanoseconds);
    swapcontext(&running->context, &outside_of_threads);
}

// MARK: Names

#define MOST_ADDRESSES 16

int getaddrinfo(
    const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict list
) {
    REAL(getaddrinfo);
    if (!is_inside) return real(name, service, hints, list);
    pause_thread(simulated.look_up_time(name, hints ? hints->ai_family : AF_UNSPEC));
    unsigned char addresses[MOST_ADDRESSES * 16];
    int count = simulated.look_up(name, hints ? hints->ai_family : AF_UNSPEC, addresses, MOST_ADDRESSES);
    if (count < 0) return count;
    struct addrinfo *first = NULL, **next = &first;
    for (int i = 0; i < count; i++) {
        static const unsigned char v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
        // One allocation for the entry and its address, which freeaddrinfo releases.
        struct entry { struct addrinfo info; struct sockaddr_storage address; } *entry = calloc(1, sizeof *entry);
        if (!entry) abort();
        const unsigned char *bytes = addresses + 16 * i;
        if (memcmp(bytes, v4_prefix, 12) == 0) {
            struct sockaddr_in *v4 = (void *)&entry->address;
            v4->sin_family = AF_INET;
            memcpy(&v4->sin_addr, bytes + 12, 4);
            entry->info.ai_addrlen = sizeof *v4;
        } else {
            struct sockaddr_in6 *v6 = (void *)&entry->address;
            v6->sin6_family = AF_INET6;
            memcpy(&v6->sin6_addr, bytes, 16);
            entry->info.ai_addrlen = sizeof *v6;
        }
        entry->info.ai_family = entry->address.ss_family;
        entry->info.ai_addr = (void *)&entry->address;
        *next = &entry->info;
        next = &entry->info.ai_next;
    }
    *list = first;
    return 0;
}

void freeaddrinfo(struct addrinfo *list) {
    REAL(freeaddrinfo);
    if (!is_inside) {
        real(list);
        return;
    }
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}

// MARK: Calls for threads

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    REAL(pthread_create);
    if (!CALLED_INSIDE) return real(thread, attributes, body, argument);
    *thread = 0;
    return simulated.start_thread(body, argument);
}

// A wait for work ends at once, and the body sees a clock that has gone on by as much: nothing else can run meanwhile.
int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict end
) {
    static __typeof__(&pthread_cond_timedwait) real;
    // An older function of this name, for conditions of another layout, is in the library as well.
    if (!real) real = (__typeof__(real))dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!real) real = (__typeof__(real))system_symbol(RTLD_NEXT, "pthread_cond_timedwait");
    if (!CALLED_INSIDE) return real(condition, mutex, end);
    uint64_t target = (uint64_t)end->tv_sec * 1000000000ull + (uint64_t)end->tv_nsec, now = simulated.now();
    if (target > now) clock_ahead = target - now;
    return ETIMEDOUT;
}

int prctl(int option, ...) {
    va_list list;
    va_start(list, option);
    unsigned long argument = va_arg(list, unsigned long);
    va_end(list);
    // Names a thread: here it would be the only one.
    return is_inside ? 0 : (int)syscall(SYS_prctl, option, argument, 0, 0, 0);
}

// MARK: OpenSSL's connections, counted to find those that are never freed

SSL *SSL_new(SSL_CTX *context) {
    REAL(SSL_new);
    SSL *ssl = real(context);
    if (is_inside && ssl) live_connections++;
    return ssl;
}

void SSL_free(SSL *ssl) {
    REAL(SSL_free);
    if (is_inside && ssl) live_connections--;
    real(ssl);
}

// MARK: Swift's global executor. The hooks are the runtime's own; if they go, this file does not link.

#define SWIFTCC __attribute__((swiftcall))
extern SWIFTCC void (*swift_task_enqueueGlobal_hook)(void *job, SWIFTCC void (*original)(void *));
extern SWIFTCC void (*swift_task_enqueueGlobalWithDelay_hook)(
    unsigned long long delay, void *job, SWIFTCC void (*original)(unsigned long long, void *)
);
extern SWIFTCC void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long s, long long ns, long long ts, long long tns, int clock, void *job,
    SWIFTCC void (*original)(long long, long long, long long, long long, int, void *)
);
extern SWIFTCC void swift_job_run(void *job, void *identity, void *implementation);

static SWIFTCC void enqueue(void *job, SWIFTCC void (*original)(void *)) {
    // This program does nothing outside of its simulations: a task that another thread continues has left its world.
    if (!is_inside) abort();
    (void)original;
    simulated.enqueue(job);
}

// Task.yield goes past the hooks, straight to this function of libdispatch.
static void dispatch_job(void *queue, void *job, unsigned int quality) {
    (void)queue, (void)quality;
    if (!is_inside) abort();
    simulated.enqueue(job);
}

// The runtime looks that function up by dlsym.
void *dlsym(void *restrict library, const char *restrict name) {
    if (strcmp(name, "dispatch_async_swift_job") == 0) return (void *)dispatch_job;
    return system_symbol(library, name);
}

static SWIFTCC void enqueue_after(
    unsigned long long nanoseconds, void *job, SWIFTCC void (*original)(unsigned long long, void *)
) {
    if (!is_inside) abort();
    (void)original;
    simulated.enqueue_after(nanoseconds, job);
}

static SWIFTCC void enqueue_at(
    long long s, long long ns, long long ts, long long tns, int clock, void *job,
    SWIFTCC void (*original)(long long, long long, long long, long long, int, void *)
) {
    if (!is_inside) abort();
    (void)ts, (void)tns, (void)clock, (void)original;
    uint64_t due = (uint64_t)s * 1000000000ull + (uint64_t)ns, now = simulated.now();
    simulated.enqueue_after(due > now ? due - now : 0, job);
}

void sim_install(const struct sim_system *system) {
    simulated = *system;
    swift_task_enqueueGlobal_hook = enqueue;
    swift_task_enqueueGlobalWithDelay_hook = enqueue_after;
    swift_task_enqueueGlobalWithDeadline_hook = enqueue_at;
}

void sim_run_job(void *job) { swift_job_run(job, 0, 0); }

int sim_is_effective(void) { return system_symbol(RTLD_DEFAULT, "epoll_wait") == (void *)epoll_wait; }

void sim_make_deterministic(char **arguments) {
    int persona = personality(0xffffffff);
    if (getenv("SWIFT_DETERMINISTIC_HASHING") && (persona & ADDR_NO_RANDOMIZE)) return;
    if (getenv("SIMULATE_RESTARTED")) return;
    setenv("SIMULATE_RESTARTED", "1", 1);
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
    personality(persona | ADDR_NO_RANDOMIZE);
    execv("/proc/self/exe", arguments);
}

void sim_keep_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20); // the largest that glibc takes
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}
#endif
