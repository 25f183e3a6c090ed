/* The part of Apple's <sys/event.h> that KqueuePoller.swift uses, and with KQUEUE_IMPLEMENTATION kqueue on top of epoll, so that KqueuePoller.swift can be tested without an Apple machine. See scripts/apple.
 *
 * There is one epoll set for each filter, inside a third set, because epoll reports input and output of a socket
 * together and kqueue reports each filter separately. Everything is edge-triggered; EV_CLEAR is assumed.
 * It copies these peculiarities of Apple's kernel:
 *   - the changes of one call are applied in order, up to the first that fails; the event list does not report them;
 *   - a wait of more than 100,000,000 seconds is refused (here the process ends, because a loop that ignores the error
 *     would spin), and a wait is rounded down to whole microseconds;
 *   - the end of output is reported (EV_EOF) even if this side has ended it.
 * It differs in this: Apple reports space for output again whenever the peer has read something, and the end of output
 * at the time of `shutdown`; here both are reported with the next edge of epoll. */
#define _GNU_SOURCE
#ifndef KQUEUE_MODEL_EVENT_H
#define KQUEUE_MODEL_EVENT_H

#include <stdint.h>
#include <time.h>

#pragma pack(4)
struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};
#pragma pack()

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_USER (-10)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_CLEAR 0x0020
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

#define NOTE_TRIGGER 0x01000000

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout);

#endif

#ifdef KQUEUE_IMPLEMENTATION

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_files = 1 << 16, most_at_once = 64, most_seconds = 100000000 };

struct queue {
    int set, readers, writers, alarm;
    struct kevent user;
    void *read_tokens[most_files], *write_tokens[most_files];
};

/* The queues by descriptor. A queue lives as long as the process. */
static struct queue *queues[most_files];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int add(int set, int file, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = file};
    if (epoll_ctl(set, EPOLL_CTL_ADD, file, &event) == 0) return 0;
    return errno == EEXIST ? epoll_ctl(set, EPOLL_CTL_MOD, file, &event) : -1;
}

int kqueue(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return -1;
    queue->set = epoll_create1(EPOLL_CLOEXEC);
    queue->readers = epoll_create1(EPOLL_CLOEXEC);
    queue->writers = epoll_create1(EPOLL_CLOEXEC);
    queue->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->set < 0 || queue->set >= most_files || queue->alarm < 0 || add(queue->set, queue->readers, EPOLLIN) != 0
        || add(queue->set, queue->writers, EPOLLIN) != 0 || add(queue->set, queue->alarm, EPOLLIN) != 0)
        return -1;
    queues[queue->set] = queue;
    return queue->set;
}

static int change_user(struct queue *queue, const struct kevent *change) {
    uint64_t one = 1;
    if (change->flags & EV_ADD) {
        queue->user = *change;
    } else if (queue->user.filter != EVFILT_USER || queue->user.ident != change->ident) {
        errno = ENOENT;
        return -1;
    }
    return change->fflags & NOTE_TRIGGER ? (int)write(queue->alarm, &one, sizeof one) - (int)sizeof one : 0;
}

static int change_file(struct queue *queue, const struct kevent *change) {
    bool reads = change->filter == EVFILT_READ;
    int file = (int)change->ident, set = reads ? queue->readers : queue->writers;
    if (file < 0 || file >= most_files) {
        errno = EBADF;
        return -1;
    }
    void **token = (reads ? queue->read_tokens : queue->write_tokens) + file;
    if (change->flags & EV_DELETE) {
        *token = NULL;
        return epoll_ctl(set, EPOLL_CTL_DEL, file, NULL);
    }
    *token = change->udata;
    return add(set, file, EPOLLET | (reads ? EPOLLIN | EPOLLRDHUP : EPOLLOUT));
}

/* Whether this side has sent its FIN. */
static bool has_ended(int file) {
    struct tcp_info facts = {0};
    socklen_t size = sizeof facts;
    if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) return false;
    switch (facts.tcpi_state) {
        case TCP_FIN_WAIT1: case TCP_FIN_WAIT2: case TCP_CLOSING: case TCP_LAST_ACK: case TCP_TIME_WAIT: return true;
        default: return false;
    }
}

static int collect_files(int set, int16_t filter, void **tokens, struct kevent *events, int room) {
    struct epoll_event seen[most_at_once];
    int count = 0, all = room == 0 ? 0 : epoll_wait(set, seen, room < most_at_once ? room : most_at_once, 0);
    for (int index = 0; index < all; index++) {
        int file = seen[index].data.fd, unread = 0;
        bool ends = (seen[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        pthread_mutex_lock(&lock);
        void *token = tokens[file];
        pthread_mutex_unlock(&lock);
        if (token == NULL) continue;
        if (filter == EVFILT_READ) ioctl(file, FIONREAD, &unread);
        if (filter == EVFILT_WRITE && has_ended(file)) ends = true;
        events[count++] = (struct kevent){
            .ident = (uintptr_t)file, .filter = filter, .flags = EV_ADD | EV_CLEAR | (ends ? EV_EOF : 0),
            .data = unread, .udata = token};
    }
    return count;
}

static int collect_user(struct queue *queue, struct kevent *events, int room) {
    uint64_t rings;
    if (room == 0 || read(queue->alarm, &rings, sizeof rings) != sizeof rings) return 0;
    events[0] = queue->user;
    return 1;
}

int kevent(int descriptor, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout) {
    struct queue *queue = descriptor < 0 || descriptor >= most_files ? NULL : queues[descriptor];
    if (queue == NULL) {
        errno = EBADF;
        return -1;
    }
    for (int index = 0; index < change_count; index++) {
        const struct kevent *change = changes + index;
        pthread_mutex_lock(&lock);
        int result = change->filter == EVFILT_USER ? change_user(queue, change) : change_file(queue, change);
        pthread_mutex_unlock(&lock);
        if (result != 0) return -1;
    }
    if (event_count == 0) return 0;
    struct timespec limit = {0};
    if (timeout != NULL) {
        limit = *timeout;
        limit.tv_nsec -= limit.tv_nsec % 1000;
        if (limit.tv_sec < 0 || limit.tv_sec > most_seconds || limit.tv_nsec < 0 || limit.tv_nsec >= 1000000000) {
            fputs("kqueue.h: Apple's kernel refuses a wait of this length\n", stderr);
            _exit(1);
        }
    }
    struct pollfd any = {.fd = queue->set, .events = POLLIN};
    int ready = ppoll(&any, 1, timeout == NULL ? NULL : &limit, NULL);
    if (ready <= 0) return ready;
    int count = collect_files(queue->readers, EVFILT_READ, queue->read_tokens, events, event_count);
    count += collect_files(queue->writers, EVFILT_WRITE, queue->write_tokens, events + count, event_count - count);
    return count + collect_user(queue, events + count, event_count - count);
}

#endif
