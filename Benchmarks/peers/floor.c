/* The floor: the least that the work can cost. OpenSSL on non-blocking sockets, one epoll set, request bytes made once,
 * and only as much parsing as proves each response correct. It is no usable client: it has no pool, deadlines,
 * cancellation, headers or useful errors. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bench.h"

enum phase { CLOSED, HANDSHAKING, SENDING, RECEIVING, IDLE };
enum framing { BY_LENGTH, BY_CHUNKS };

struct connection {
    SSL *ssl;
    int fd;
    enum phase phase;
    long head_sent, body_sent;
    bool in_body;
    enum framing framing;
    long body_left;       /* BY_LENGTH: of the body; BY_CHUNKS: of the chunk with its CRLF */
    long received;        /* content bytes of this response */
    int last;             /* its last content byte */
    bool last_chunk, in_size;
    long chunk_size;
    char head[4096];      /* used only if a head arrives in pieces */
    size_t head_length;
};

static struct settings settings;
static struct sockaddr_in server;
static SSL_CTX *context;
static SSL_SESSION *session;
static int events;
static struct connection *connections;
static char request[1024];
static long request_length, upload_length, expected_length;
static int expected_last;
static char block[64 * 1024]; /* the read buffer, and the content of uploads */
static long started, finished, target;

static void die_tls(const char *what) {
    char reason[256];
    ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
    die("%s: %s", what, reason);
}

static int keep_session(SSL *ssl, SSL_SESSION *fresh) {
    (void)ssl;
    SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

static void make_context(void) {
    context = SSL_CTX_new(TLS_client_method());
    if (!context) die_tls("SSL_CTX_new");
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (!strcmp(settings.ca, "system")) {
        const char *folder = getenv("SSL_CERT_DIR");
        if (!SSL_CTX_load_verify_dir(context, folder ? folder : "/etc/ssl/certs")) die_tls("system roots");
    } else if (!SSL_CTX_load_verify_file(context, settings.ca)) {
        die_tls(settings.ca);
    }
    if (settings.resume) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    } else {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    }
}

static void make_request(void) {
    char path[256];
    if (is_work(&settings, "up")) {
        upload_length = target * 1024;
        request_length = snprintf(request, sizeof request,
                                  "POST %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: %ld\r\n\r\n", settings.path,
                                  settings.host, settings.port, upload_length);
        return;
    }
    if (is_work(&settings, "down")) {
        expected_length = target * 1024;
        snprintf(path, sizeof path, "%s%ld", settings.path, target);
    } else {
        expected_length = settings.length;
        snprintf(path, sizeof path, "%s", settings.path);
    }
    request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nAccept: */*\r\n\r\n", path,
                              settings.host, settings.port);
}

static void open_connection(struct connection *c) {
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) die("socket: %s", strerror(errno));
    int on = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(c->fd, (struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS)
        die("connect: %s", strerror(errno));
    c->ssl = SSL_new(context);
    if (!c->ssl || !SSL_set_fd(c->ssl, c->fd) || !SSL_set_tlsext_host_name(c->ssl, settings.host) ||
        !SSL_set1_host(c->ssl, settings.host))
        die_tls("SSL_new");
    if (session && !SSL_set_session(c->ssl, session)) die_tls("SSL_set_session");
    SSL_set_connect_state(c->ssl);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(events, EPOLL_CTL_ADD, c->fd, &event) != 0) die("epoll_ctl: %s", strerror(errno));
    c->phase = HANDSHAKING;
}

static void close_connection(struct connection *c) {
    SSL_shutdown(c->ssl); /* without it OpenSSL marks the session as not resumable */
    SSL_free(c->ssl);
    close(c->fd);
    c->phase = CLOSED;
}

/* Starts the next request on an unused connection. Returns false if all requests have been started. */
static bool take_request(struct connection *c, long requests) {
    if (started == requests) return false;
    started++;
    c->head_sent = c->body_sent = c->received = 0;
    c->last = 0;
    c->in_body = false;
    c->head_length = 0;
    if (c->phase == CLOSED) open_connection(c);
    else c->phase = SENDING;
    return true;
}

static bool would_block(struct connection *c, int result, const char *what) {
    int error = SSL_get_error(c->ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return true;
    if (error == SSL_ERROR_SYSCALL) die("%s: %s", what, strerror(errno));
    die_tls(what);
    return false;
}

static bool send_request(struct connection *c) {
    while (c->head_sent < request_length) {
        int n = SSL_write(c->ssl, request + c->head_sent, request_length - c->head_sent);
        if (n <= 0) return !would_block(c, n, "SSL_write");
        c->head_sent += n;
    }
    while (c->body_sent < upload_length) {
        long left = upload_length - c->body_sent;
        int n = SSL_write(c->ssl, block, left < (long)sizeof block ? left : (long)sizeof block);
        if (n <= 0) return !would_block(c, n, "SSL_write");
        c->body_sent += n;
    }
    c->phase = RECEIVING;
    return true;
}

static void parse_head(struct connection *c, const char *head, size_t length) {
    if (length < 13 || memcmp(head, "HTTP/1.1 200 ", 13)) die("wrong status: %.*s", 40, head);
    const char *field = memmem(head, length, "\r\nContent-Length: ", 18);
    c->in_body = true;
    if (field) {
        c->framing = BY_LENGTH;
        c->body_left = strtol(field + 18, NULL, 10);
        return;
    }
    if (!memmem(head, length, "\r\nTransfer-Encoding: chunked\r\n", 30)) die("a response without framing");
    c->framing = BY_CHUNKS;
    c->in_size = true;
    c->last_chunk = false;
    c->body_left = c->chunk_size = 0;
}

static void take_content(struct connection *c, const char *bytes, long n) {
    c->received += n;
    c->last = (unsigned char)bytes[n - 1];
}

/* Reads chunked bytes. Returns true after the last chunk and the empty trailer section. */
static bool feed_chunks(struct connection *c, const char *bytes, long n) {
    for (long at = 0; at < n;) {
        if (c->in_size) {
            char byte = bytes[at++];
            if (byte >= '0' && byte <= '9') c->chunk_size = c->chunk_size * 16 + byte - '0';
            else if (byte >= 'a' && byte <= 'f') c->chunk_size = c->chunk_size * 16 + byte - 'a' + 10;
            else if (byte == '\n') {
                c->in_size = false;
                c->last_chunk = c->chunk_size == 0;
                c->body_left = c->chunk_size + 2;
            } else if (byte != '\r') die("wrong chunk size");
            continue;
        }
        long run = c->body_left < n - at ? c->body_left : n - at;
        long content = c->body_left - 2 < run ? c->body_left - 2 : run;
        if (content > 0) take_content(c, bytes + at, content);
        c->body_left -= run;
        at += run;
        if (c->body_left == 0) {
            if (c->last_chunk) return true;
            c->in_size = true;
            c->chunk_size = 0;
        }
    }
    return false;
}

static bool feed_body(struct connection *c, const char *bytes, long n) {
    if (c->framing == BY_CHUNKS) return feed_chunks(c, bytes, n);
    if (n > c->body_left) die("more body than announced");
    if (n > 0) take_content(c, bytes, n);
    c->body_left -= n;
    return c->body_left == 0;
}

/* Reads response bytes. Returns true when the response is complete. */
static bool feed(struct connection *c, const char *bytes, long n) {
    if (c->in_body) return feed_body(c, bytes, n);
    if (c->head_length > 0) { /* a head in pieces is rare, so it is copied */
        if (c->head_length + n > sizeof c->head) die("a head over 4 KiB");
        memcpy(c->head + c->head_length, bytes, n);
        c->head_length += n;
        bytes = c->head;
        n = c->head_length;
    }
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    if (!end) {
        if (c->head_length == 0) {
            memcpy(c->head, bytes, n < (long)sizeof c->head ? n : (long)sizeof c->head);
            c->head_length = n;
        }
        return false;
    }
    long head = end + 4 - bytes;
    parse_head(c, bytes, head);
    return feed_body(c, bytes + head, n - head);
}

static void check_response(struct connection *c) {
    if (upload_length > 0) {
        if (c->received < 2 || c->last != '\n') die("wrong answer to the upload");
    } else {
        if (c->received != expected_length) die("a body of %ld bytes instead of %ld", c->received, expected_length);
        if (expected_last && c->last != expected_last) die("a body ends with '%c'", c->last);
    }
}

static void check_upload_count(const char *bytes, long n) {
    long count = 0;
    const char *digits = memmem(bytes, n, "\r\n\r\n", 4);
    if (digits) count = strtol(digits + 4, NULL, 10);
    if (count != upload_length) die("the server counted %ld bytes of %ld", count, upload_length);
}

static bool receive_response(struct connection *c) {
    for (;;) {
        int n = SSL_read(c->ssl, block, sizeof block);
        if (n <= 0) return !would_block(c, n, "SSL_read");
        if (upload_length > 0) check_upload_count(block, n);
        if (is_work(&settings, "once")) {
            const char *body = memmem(block, n, "\r\n\r\n", 4);
            if (body) fwrite(body + 4, 1, block + n - body - 4, stdout);
        }
        if (!feed(c, block, n)) continue;
        check_response(c);
        finished++;
        if (is_work(&settings, "fresh")) close_connection(c);
        else c->phase = IDLE;
        return true;
    }
}

static void advance(struct connection *c, long requests) {
    for (;;) {
        switch (c->phase) {
        case HANDSHAKING: {
            int n = SSL_do_handshake(c->ssl);
            if (n <= 0 && would_block(c, n, "handshake")) return;
            c->phase = SENDING;
            break;
        }
        case SENDING:
            if (!send_request(c)) return;
            if (c->phase == RECEIVING) return; /* the response cannot have arrived yet: wait for its edge */
            break;
        case RECEIVING:
            if (!receive_response(c)) return;
            break;
        case IDLE:
        case CLOSED:
            if (!take_request(c, requests)) return;
            if (c->phase == HANDSHAKING) return;
            break;
        }
    }
}

static void run(long requests) {
    if (requests == 0) return;
    started = finished = 0;
    for (long i = 0; i < settings.inflight && started < requests; i++) advance(&connections[i], requests);
    while (finished < requests) {
        struct epoll_event ready[256];
        int n = epoll_wait(events, ready, 256, -1);
        if (n < 0 && errno != EINTR) die("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < n; i++) {
            struct connection *c = ready[i].data.ptr;
            if (c->phase != IDLE && c->phase != CLOSED) advance(c, requests);
        }
    }
}

/* Does the warm-up or the measured run. For down and up `count` is in KiB, and one request transfers them. The warm-up
 * does not check the last byte of bodies: its first connection cannot resume. */
static void run_stretch(long count, int last) {
    expected_last = last;
    bool transfer = is_work(&settings, "down") || is_work(&settings, "up");
    target = count;
    upload_length = 0;
    make_request();
    run(transfer ? count > 0 : count);
}

int main(int argc, char **argv) {
    settings = settings_from(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    server.sin_family = AF_INET;
    server.sin_port = htons(number(settings.port));
    if (inet_pton(AF_INET, settings.address, &server.sin_addr) != 1) die("not an address: %s", settings.address);
    make_context();
    events = epoll_create1(EPOLL_CLOEXEC);
    connections = calloc(settings.inflight, sizeof *connections);
    if (events < 0 || !connections) die("start-up");

    long rss_start = memory_kib("VmRSS");
    run_stretch(settings.warmup, 0);
    struct reading before = read_clocks();
    run_stretch(settings.count, settings.last);
    struct reading after = read_clocks();
    if (is_work(&settings, "once")) return 0;
    if (is_work(&settings, "idle")) settle(&settings);
    report(settings.count, before, after, rss_start);
    return 0;
}
