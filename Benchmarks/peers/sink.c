/* A server for tasks that nginx has no simple way to do: it reads uploads to their end and reports the number of bytes,
 * and it streams chunked bodies with chunks of one exact size, in TLS records of 16 KiB independent of the chunk size.
 * One thread per connection, blocking sockets.
 *
 *   POST /up                 responds with the number of body bytes, in decimal
 *   GET  /chunk512/KIB       that many KiB in chunks of 512 bytes
 *   GET  /chunk16k/KIB       that many KiB in chunks of 16 KiB
 *
 * Usage: sink CERTIFICATE KEY; prints the port it listens on (127.0.0.1). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECORD = 16 * 1024, HEAD = 8 * 1024 };

struct client {
    SSL *ssl;
    char buffer[64 * 1024];
    long length, at; /* the unread part is from at to length */
};

/* 1 MiB of content in chunks of one size, followed by the start of the same bytes again, one record long, so that a
 * record can start anywhere in the first period. */
struct pattern {
    char *bytes;
    long period, chunk;
};

static struct pattern chunks512, chunks16k;

static struct pattern make_pattern(long chunk) {
    char size[16];
    long size_length = snprintf(size, sizeof size, "%lx\r\n", chunk);
    long frame = size_length + chunk + 2, count = 1024 * 1024 / chunk;
    struct pattern p = {.bytes = malloc(frame * count + RECORD), .period = frame * count, .chunk = chunk};
    if (!p.bytes) exit(1);
    for (char *at = p.bytes; at < p.bytes + p.period; at += frame) {
        memcpy(at, size, size_length);
        memset(at + size_length, '.', chunk);
        memcpy(at + size_length + chunk, "\r\n", 2);
    }
    memcpy(p.bytes + p.period, p.bytes, RECORD);
    return p;
}

static bool fill(struct client *c) {
    int n = SSL_read(c->ssl, c->buffer, sizeof c->buffer);
    c->at = 0;
    c->length = n > 0 ? n : 0;
    return n > 0;
}

static int next_byte(struct client *c) {
    if (c->at == c->length && !fill(c)) return -1;
    return (unsigned char)c->buffer[c->at++];
}

/* Reads one head with its empty line. Returns false if the connection has ended or the head is too long. */
static bool read_head(struct client *c, char *head) {
    for (long n = 0; n < HEAD - 1;) {
        int byte = next_byte(c);
        if (byte < 0) return false;
        head[n++] = byte;
        if (n >= 4 && !memcmp(head + n - 4, "\r\n\r\n", 4)) {
            head[n] = 0;
            return true;
        }
    }
    return false;
}

static bool discard(struct client *c, long left) {
    while (left > 0) {
        if (c->at == c->length && !fill(c)) return false;
        long run = c->length - c->at < left ? c->length - c->at : left;
        c->at += run;
        left -= run;
    }
    return true;
}

/* Reads a chunked body without trailers. Returns the number of content bytes, or -1. */
static long discard_chunks(struct client *c) {
    long total = 0;
    for (;;) {
        long size = 0;
        int byte;
        while ((byte = next_byte(c)) != '\n') {
            if (byte >= '0' && byte <= '9') size = size * 16 + byte - '0';
            else if (byte >= 'a' && byte <= 'f') size = size * 16 + byte - 'a' + 10;
            else if (byte >= 'A' && byte <= 'F') size = size * 16 + byte - 'A' + 10;
            else if (byte != '\r') return -1;
        }
        if (!discard(c, size + 2)) return -1;
        if (size == 0) return total;
        total += size;
    }
}

static bool write_all(struct client *c, const char *bytes, long length) {
    return SSL_write(c->ssl, bytes, length) == length;
}

static bool answer_upload(struct client *c, const char *head) {
    const char *field = strcasestr(head, "\r\ncontent-length:");
    if (strcasestr(head, "\r\nexpect: 100-continue\r\n") && !write_all(c, "HTTP/1.1 100 Continue\r\n\r\n", 25)) return false;
    long count = -1;
    if (field) {
        count = strtol(field + 17, NULL, 10);
        if (!discard(c, count)) return false;
    } else if (strcasestr(head, "\r\ntransfer-encoding: chunked\r\n")) {
        count = discard_chunks(c);
    }
    if (count < 0) return false;
    char body[32], answer[256];
    int length = snprintf(body, sizeof body, "%ld\n", count);
    length = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
                      length, body);
    return write_all(c, answer, length);
}

static bool answer_chunks(struct client *c, struct pattern p, long kib) {
    const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (!write_all(c, head, sizeof head - 1)) return false;
    long left = kib * 1024 / p.chunk * (p.period / (1024 * 1024 / p.chunk));
    for (long at = 0; left > 0;) {
        long run = left < RECORD ? left : RECORD;
        if (!write_all(c, p.bytes + at, run)) return false;
        left -= run;
        at = (at + run) % p.period;
    }
    return write_all(c, "0\r\n\r\n", 5);
}

static bool answer(struct client *c, const char *head) {
    if (!strncmp(head, "POST /up HTTP/1.1\r\n", 19)) return answer_upload(c, head);
    if (!strncmp(head, "GET /chunk512/", 14)) return answer_chunks(c, chunks512, strtol(head + 14, NULL, 10));
    if (!strncmp(head, "GET /chunk16k/", 14)) return answer_chunks(c, chunks16k, strtol(head + 14, NULL, 10));
    const char refusal[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    return write_all(c, refusal, sizeof refusal - 1);
}

static void *serve(void *argument) {
    struct client *c = argument;
    char head[HEAD];
    if (SSL_accept(c->ssl) == 1)
        while (read_head(c, head) && answer(c, head)) {}
    SSL_shutdown(c->ssl);
    close(SSL_get_fd(c->ssl));
    SSL_free(c->ssl);
    free(c);
    return NULL;
}

static int listen_on_loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        perror("sink");
        exit(1);
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s CERTIFICATE KEY\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    if (SSL_CTX_use_certificate_chain_file(context, argv[1]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, argv[2], SSL_FILETYPE_PEM) != 1) {
        ERR_print_errors_fp(stderr);
        return 1;
    }
    chunks512 = make_pattern(512);
    chunks16k = make_pattern(16 * 1024);
    int listener = listen_on_loopback();
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct client *c = calloc(1, sizeof *c);
        pthread_t thread;
        if (!c || !(c->ssl = SSL_new(context)) || !SSL_set_fd(c->ssl, fd) || pthread_create(&thread, NULL, serve, c) != 0)
            return 1;
        pthread_detach(thread);
    }
}
