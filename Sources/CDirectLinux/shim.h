#ifndef CDIRECTLINUX_SHIM_H
#define CDIRECTLINUX_SHIM_H

/* Linux headers that Swift's Glibc module leaves out. Empty elsewhere. */
#ifdef __linux__
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

/* prctl is variadic. At most 15 characters count. */
static inline void direct_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* Only glibc keeps free pages in the middle of its heap, and only glibc has this. */
static inline void direct_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
#endif

#endif
