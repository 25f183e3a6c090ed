#ifndef CDIRECTLINUX_SHIM_H
#define CDIRECTLINUX_SHIM_H

/* The Linux headers that are missing in Swift's Glibc module. Empty on other systems. */
#ifdef __linux__
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Flags of open(2) that the headers declare only with _GNU_SOURCE, which Swift does not set: O_PATH and O_TMPFILE. */
static const int direct_open_path = 010000000;
static const int direct_open_unnamed = 020000000 | O_DIRECTORY;

/* Wraps prctl, which is variadic. The kernel uses at most 15 characters of the name. */
static inline void direct_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* accept4, which the header declares only with _GNU_SOURCE: one call for what accept and two of fcntl do. */
static inline int direct_accept(int listener) {
    extern int accept4(int, struct sockaddr *, socklen_t *, int);
    return accept4(listener, (struct sockaddr *)0, (socklen_t *)0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* pipe2 and splice, which the headers declare only with _GNU_SOURCE. The kernel's numbers: SPLICE_F_MOVE is 1,
 * SPLICE_F_NONBLOCK 2. */
static inline int direct_pipe(int ends[2]) {
    extern int pipe2(int[2], int);
    return pipe2(ends, O_NONBLOCK | O_CLOEXEC);
}
static inline ssize_t direct_splice(int from, int to, ssize_t count) {
    extern ssize_t splice(int, void *, int, void *, size_t, unsigned int);
    return splice(from, (void *)0, to, (void *)0, (size_t)count, 3);
}

/* Returns free pages to the system. Only glibc keeps free pages in the middle of its heap, and only glibc has
 * malloc_trim. */
static inline void direct_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#ifdef __GLIBC__
/* Closes all descriptors from this one on in a child process (glibc 2.34). The header declares the function only
 * with _GNU_SOURCE, which Swift does not set. */
static inline int direct_close_from(posix_spawn_file_actions_t *actions, int first) {
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
#endif
#endif

#endif
