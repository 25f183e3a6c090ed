// Simulates a distant network for clients on loopback: a round trip of DELAY-MS in front of a server on 127.0.0.1.
//
//   delay SERVER-PORT DELAY-MS
//
// Listens on 127.0.0.1 to 127.0.0.8, on the same free port, and prints the port. The kernel answers a SYN immediately;
// to make up for the missing round trip of TCP, the first bytes of each client are delayed, and so is everything that
// the server sends. A TLS 1.3 handshake thus takes two round trips, as it does over a network. One thread; the amount
// of delayed data has no limit.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ADDRESSES = 8, MOST_DESCRIPTORS = 65536, PIECE = 64 * 1024 };

// One end of a relayed connection, found by its descriptor.
struct end {
    int peer; // the other end's descriptor, or -1 without one
    bool is_listener, is_server, has_spoken;
    int pending; // delayed parcels for this end, which later bytes must not overtake
    unsigned generation; // tells reused descriptors apart: parcels for an earlier connection are dropped
};

// Delayed bytes. The delay is the same for all, so the queue is in the order of arrival.
struct parcel {
    struct parcel *next;
    long due;
    int to;
    unsigned generation;
    size_t length; // 0 for the end of the stream
    char bytes[];
};

static struct end ends[MOST_DESCRIPTORS];
static struct parcel *first, *last;
static long delay;
static int epoll;

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static void watch(int descriptor, int peer, bool is_server) {
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ends[descriptor].peer = peer;
    ends[descriptor].is_server = is_server;
    ends[descriptor].has_spoken = false;
    ends[descriptor].pending = 0;
    ends[descriptor].generation++;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) give_up("epoll_ctl");
}

static void end_both(int descriptor) {
    int both[] = {descriptor, ends[descriptor].peer};
    for (int i = 0; i < 2; i++) {
        ends[both[i]].peer = -1;
        ends[both[i]].generation++;
        close(both[i]);
    }
}

static void take_client(int listener, struct sockaddr_in server) {
    int client;
    while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        int upstream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (upstream < 0 || client >= MOST_DESCRIPTORS || upstream >= MOST_DESCRIPTORS) give_up("socket");
        if (connect(upstream, (struct sockaddr *)&server, sizeof server) != 0) give_up("connect");
        watch(client, upstream, false);
        watch(upstream, client, true);
    }
}

static void hold_back(int to, const char *bytes, size_t length) {
    struct parcel *parcel = malloc(sizeof *parcel + length);
    if (!parcel) give_up("malloc");
    *parcel = (struct parcel){.due = now() + delay, .to = to, .generation = ends[to].generation, .length = length};
    memcpy(parcel->bytes, bytes, length);
    if (last) last->next = parcel;
    else first = parcel;
    last = parcel;
    ends[to].pending++;
}

// Sends bytes. A handshake and a small response always fit into the socket's buffer.
static void deliver(int to, const char *bytes, size_t length) {
    if (length == 0) shutdown(to, SHUT_WR);
    else if (send(to, bytes, length, MSG_NOSIGNAL) < 0 && errno == EAGAIN) give_up("send");
}

static void relay(int descriptor) {
    static char bytes[PIECE];
    struct end *end = &ends[descriptor];
    if (end->peer < 0) return;
    ssize_t count = recv(descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0 && !(count == 0 && end->is_server)) return end_both(descriptor);
    if (end->is_server || !end->has_spoken || ends[end->peer].pending) hold_back(end->peer, bytes, count > 0 ? (size_t)count : 0);
    else deliver(end->peer, bytes, (size_t)count);
    end->has_spoken = true;
    // A server that has sent its end sends nothing more; its socket is closed together with the client's.
    if (count == 0) epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

static void deliver_what_is_due(void) {
    while (first && first->due <= now()) {
        struct parcel *parcel = first;
        first = parcel->next;
        if (!first) last = NULL;
        if (ends[parcel->to].generation == parcel->generation) {
            ends[parcel->to].pending--;
            deliver(parcel->to, parcel->bytes, parcel->length);
        }
        free(parcel);
    }
}

// Listens on an address and port, any free port for 0, and returns the port. Ports are in network byte order.
static in_port_t listen_at(in_addr_t address, in_port_t port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(address)};
    socklen_t size = sizeof place;
    if (bind(listener, (struct sockaddr *)&place, size) != 0 || listen(listener, 4096) != 0) give_up("listen");
    getsockname(listener, (struct sockaddr *)&place, &size);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    ends[listener].is_listener = true;
    return place.sin_port;
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "usage: delay SERVER-PORT DELAY-MS\n"), 64;
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[1]))};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    delay = atol(words[2]) * 1000;
    for (int i = 0; i < MOST_DESCRIPTORS; i++) ends[i].peer = -1;

    if ((epoll = epoll_create1(EPOLL_CLOEXEC)) < 0) give_up("epoll_create1");
    struct epoll_event events[256];
    in_port_t port = 0;
    for (unsigned i = 0; i < ADDRESSES; i++) port = listen_at(INADDR_LOOPBACK + i, port);
    printf("%d\n", ntohs(port));
    fflush(stdout);

    for (;;) {
        deliver_what_is_due();
        long wait = first ? first->due - now() : -1000;
        int ready = epoll_wait(epoll, events, 256, wait < 0 ? (first ? 0 : -1) : (int)((wait + 999) / 1000));
        for (int i = 0; i < ready; i++) {
            int ready_one = events[i].data.fd;
            if (ends[ready_one].is_listener) take_client(ready_one, server);
            else relay(ready_one);
        }
    }
}
