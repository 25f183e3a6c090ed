// The seam between a program and the system, for faults of the system on Linux.
//
// calls.c defines functions of the C library (recv, open, pthread_create and others). The dynamic linker finds these
// definitions before those of the library. They call the library, except that one chosen call of one function, or every
// call from that one on, fails in a chosen way. Only calls by the program's own code and by OpenSSL count: the runtime of
// Swift and libdispatch see the system as it is.
#ifndef CFAULTS_H
#define CFAULTS_H
#ifdef __linux__
#include <stdint.h>

// What happens to a call.
enum flt_kind {
    flt_none,
    // The call is not made, and returns the error `value`.
    flt_error,
    // The call is made, and returns the error `value` all the same.
    flt_late_error,
    // The call moves at most `value` bytes.
    flt_short,
    // The call is made after `value` milliseconds.
    flt_slow,
    // The call is not made and says that it would block. If it was for a socket, an event follows.
    flt_would_block,
    // The call is not made and says that there are no more bytes, or that nothing has happened.
    flt_nothing,
    // The process is killed, or stopped until somebody continues it, before the call.
    flt_kill,
    flt_stop,
    // The call returns `value` as its answer: the pending error of a socket, or the code of getaddrinfo. From 1000 on, the
    // code is EAI_SYSTEM and errno is 1000 less.
    flt_answer,
};

struct flt_fault {
    // The index of the function; -1 for none.
    int function;
    // The calls that it happens to, counted from 1.
    int64_t first, last;
    enum flt_kind kind;
    int value;
};

// Call this once, before OpenSSL is used. Returns whether this program can make calls fail: whether its definitions are
// found before those of the C library.
int flt_prepare(void);
// The functions, by index. One is the allocation of memory by OpenSSL.
int flt_function_count(void);
const char *flt_function_name(int function);
// Counts calls from now on, and makes the fault happen.
void flt_arm(struct flt_fault fault);
// Stops counting. Returns how many calls were hit.
int64_t flt_disarm(void);
// The number of calls since the last flt_arm.
int64_t flt_calls(int function);

// Text that must not leave this process in the clear; NULL for none.
void flt_set_secret(const char *text);
// Whether a socket was given that text since it was set.
int flt_secret_was_sent(void);

// What exists now of the things that are made and freed.
struct flt_holdings {
    int64_t descriptors;
    // Threads that the program's own code has started.
    int64_t threads;
    // SSL objects.
    int64_t connections;
    // Pieces of memory that OpenSSL has.
    int64_t pieces;
};
struct flt_holdings flt_holdings(void);
// The time of the monotonic clock in nanoseconds.
uint64_t flt_time(void);

// Writes the name of a file of roots in a hashed directory (XXXXXXXX.0), at most `capacity` bytes with its NUL. Returns 0
// if the text has no certificate.
int flt_hash_name(const char *pem, char *name, int capacity);
#endif
#endif
