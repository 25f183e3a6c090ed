// Simulates a distant network for clients on loopback: a round trip of DELAY-MS in front of a server on 127.0.0.1.
//
//   delay SERVER-PORT DELAY-MS
//
// Listens on 127.0.0.1 to 127.0.0.8, on the same free port, and prints the port. The kernel answers a SYN immediately;
// to make up for the missing round trip of TCP, the first bytes of each client are delayed, and so is everything that
// the server sends. A TLS 1.3 handshake thus takes two round trips, as it does over a network. A thread for each connection.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ADDRESSES = 8, PIECE = 16 * 1024, MOST_PARCELS = 64 };

// Bytes on their way, which later ones must not overtake; no bytes are the end of the stream.
struct parcel {
    long due;
    int to;
    ssize_t length;
    char bytes[PIECE];
};

static long delay;
static struct sockaddr_in server = {.sin_family = AF_INET};

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static void *relay(void *argument) {
    int client = (int)(long)argument, upstream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct parcel *parcels = malloc(MOST_PARCELS * sizeof *parcels);
    if (!parcels || upstream < 0 || connect(upstream, (struct sockaddr *)&server, sizeof server) != 0) give_up("connect");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(upstream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = upstream, .events = POLLIN}};
    bool has_spoken = false, is_open = true;
    for (unsigned first = 0, next = 0; is_open;) {
        for (; first != next && parcels[first % MOST_PARCELS].due <= now(); first++) {
            struct parcel *one = &parcels[first % MOST_PARCELS];
            if (one->length == 0) shutdown(one->to, SHUT_WR);
            else send(one->to, one->bytes, (size_t)one->length, MSG_NOSIGNAL);
        }
        long wait = first == next ? -1 : (parcels[first % MOST_PARCELS].due - now() + 999) / 1000;
        if (poll(ends, 2, wait < 0 && first != next ? 0 : (int)wait) <= 0) continue;
        for (int i = 0; i < 2 && next - first < MOST_PARCELS; i++) {
            if (!ends[i].revents) continue;
            struct parcel *one = &parcels[next % MOST_PARCELS];
            one->length = recv(ends[i].fd, one->bytes, PIECE, MSG_DONTWAIT);
            // A server that has sent its end sends nothing more; its socket is closed together with the client's.
            if (one->length <= 0 && i == 0) is_open = false;
            if (one->length <= 0) ends[i].fd = -1;
            one->length = one->length < 0 ? 0 : one->length;
            one->to = i == 0 ? upstream : client;
            bool waits = i == 1 || !has_spoken;
            for (unsigned other = first; other != next; other++) waits |= parcels[other % MOST_PARCELS].to == one->to;
            one->due = now() + (waits ? delay : 0);
            has_spoken = true;
            next++;
        }
    }
    close(client);
    close(upstream);
    free(parcels);
    return NULL;
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "usage: delay SERVER-PORT DELAY-MS\n"), 64;
    server.sin_port = htons((unsigned short)atoi(words[1]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    delay = atol(words[2]) * 1000;
    struct pollfd listeners[ADDRESSES];
    struct sockaddr_in place = {.sin_family = AF_INET};
    for (unsigned i = 0; i < ADDRESSES; i++) {
        // The first gets a free port, the others the same.
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i);
        listeners[i] = (struct pollfd){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), .events = POLLIN};
        socklen_t size = sizeof place;
        if (bind(listeners[i].fd, (struct sockaddr *)&place, size) != 0 || listen(listeners[i].fd, 4096) != 0) give_up("listen");
        getsockname(listeners[i].fd, (struct sockaddr *)&place, &size);
    }
    printf("%d\n", ntohs(place.sin_port));
    fflush(stdout);
    while (poll(listeners, ADDRESSES, -1) > 0) {
        for (int i = 0, client; i < ADDRESSES; i++) {
            while (listeners[i].revents && (client = accept4(listeners[i].fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
                pthread_t thread;
                if (pthread_create(&thread, NULL, relay, (void *)(long)client) != 0) give_up("pthread_create");
                pthread_detach(thread);
            }
        }
    }
}
