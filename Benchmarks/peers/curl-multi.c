/* The benchmark's work by libcurl, with the options that make it fast.
 *
 * driver=multi: the multi interface with socket actions and an epoll set of this program, the fastest way to use it;
 * driver=easy: one easy handle and curl_easy_perform, the fastest way with one request in flight. */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench.h"

enum { MOST_DESCRIPTORS = 1 << 20 };

struct transfer {
    CURL *easy;
    long received;
    int last;
    char answer[32]; /* the first bytes of the body: the count of an upload */
    long to_send;
    double begun;
};

static struct settings settings;
static CURLM *multi;
static int events;
static double deadline = -1; /* the time at which libcurl wants to be called, in microseconds; -1: never */
static uint32_t *registered; /* the registered events of each descriptor */
static struct transfer *transfers;
static struct curl_slist *fields, *targets;
static char url[512];
static long started, finished, connects, upload_length, expected_length;
static int expected_last;
static float *latencies; /* in microseconds, of the requests that are finished */

static void check(CURLcode code, const char *what) {
    if (code != CURLE_OK) die("%s: %s", what, curl_easy_strerror(code));
}

static void check_multi(CURLMcode code) {
    if (code != CURLM_OK) die("multi: %s", curl_multi_strerror(code));
}

static size_t take_body(char *bytes, size_t size, size_t n, void *context) {
    struct transfer *t = context;
    n *= size;
    if (n == 0) return 0;
    if (t->received + n < sizeof t->answer) memcpy(t->answer + t->received, bytes, n);
    t->received += n;
    t->last = (unsigned char)bytes[n - 1];
    return n;
}

/* Sends the buffer unchanged: a real source would read into it directly. */
static size_t give_body(char *buffer, size_t size, size_t n, void *context) {
    (void)buffer;
    struct transfer *t = context;
    n *= size;
    if ((long)n > t->to_send) n = t->to_send;
    t->to_send -= n;
    return n;
}

static int close_socket(void *context, curl_socket_t fd);

static void set_up(struct transfer *t) {
    CURL *easy = t->easy = curl_easy_init();
    if (!easy) die("curl_easy_init");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, targets);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, settings.resume ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    /* By default libcurl has a file and a folder of roots. With a folder it parses the file again for every connection;
     * only without one does it keep the parsed roots (7.87 and later). */
    if (strcmp(settings.ca, "system")) curl_easy_setopt(easy, CURLOPT_CAINFO, settings.ca);
    else if (getenv("CURL_CA_BUNDLE")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CURL_CA_BUNDLE"));
    if (settings.keep_roots) curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (!strcmp(settings.driver, "multi")) curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    if (is_work(&settings, "gzip")) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    if (is_work(&settings, "down") || is_work(&settings, "gzip") || is_work(&settings, "up")) {
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 64 * 1024L);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 64 * 1024L);
    }
    if (is_work(&settings, "up")) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, t);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    }
}

static void prepare(struct transfer *t) {
    t->received = 0;
    t->last = 0;
    t->to_send = upload_length;
}

static void check_response(struct transfer *t, CURLcode code) {
    check(code, "transfer");
    long status = 0, opened = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &opened);
    connects += opened;
    if (status != 200) die("status %ld", status);
    if (upload_length > 0) {
        if (strtol(t->answer, NULL, 10) != upload_length) die("the server counted %.20s bytes", t->answer);
    } else {
        if (t->received != expected_length) die("a body of %ld bytes instead of %ld", t->received, expected_length);
        if (expected_last && t->last != expected_last) die("a body ends with '%c'", t->last);
    }
    if (latencies) latencies[finished] = read_wall() - t->begun;
    finished++;
}

static void start(struct transfer *t) {
    prepare(t);
    if (latencies) t->begun = read_wall();
    started++;
    check_multi(curl_multi_add_handle(multi, t->easy));
}

static void collect(long requests) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        struct transfer *t = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        check_response(t, message->data.result);
        check_multi(curl_multi_remove_handle(multi, t->easy));
        if (started < requests) start(t);
    }
}

/* libcurl removes an idle connection from the set after each response and adds it again for the next request. Removals
 * are ignored here, which saves two calls of epoll_ctl per request. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *context, void *pointer) {
    (void)easy, (void)context, (void)pointer;
    if (fd >= MOST_DESCRIPTORS) die("descriptor %d", fd);
    uint32_t wanted = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (what == CURL_POLL_REMOVE || wanted == registered[fd]) return 0;
    struct epoll_event event = {.events = wanted, .data.fd = fd};
    if (epoll_ctl(events, registered[fd] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl: %s", strerror(errno));
    registered[fd] = wanted;
    return 0;
}

static int close_socket(void *context, curl_socket_t fd) {
    (void)context;
    registered[fd] = 0;
    return close(fd);
}

static int set_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    deadline = milliseconds < 0 ? -1 : milliseconds == 0 ? 0 : read_wall() + milliseconds * 1e3;
    return 0;
}

static void run_by_socket_action(long requests) {
    int running;
    while (finished < requests) {
        if (deadline >= 0 && deadline <= (deadline == 0 ? 0 : read_wall())) {
            deadline = -1;
            check_multi(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running));
            collect(requests);
            continue;
        }
        struct epoll_event ready[256];
        int n = epoll_wait(events, ready, 256, deadline < 0 ? -1 : (int)((deadline - read_wall()) / 1e3) + 1);
        if (n < 0 && errno != EINTR) die("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < n; i++) {
            int fd = ready[i].data.fd;
            int mask = (ready[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                       (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                       (ready[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            check_multi(curl_multi_socket_action(multi, fd, mask, &running));
        }
        collect(requests);
    }
}

static void run_easy(long requests) {
    for (started = 0; started < requests; started++) {
        prepare(&transfers[0]);
        check_response(&transfers[0], curl_easy_perform(transfers[0].easy));
    }
}

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void report_latencies(void) {
    qsort(latencies, finished, sizeof *latencies, compare);
    printf("p50_us=%.0f p99_us=%.0f ", latencies[finished / 2], latencies[finished * 99 / 100]);
}

static void run(long requests) {
    if (requests == 0) return;
    started = finished = 0;
    if (!strcmp(settings.driver, "easy")) {
        run_easy(requests);
        return;
    }
    for (long i = 0; i < settings.inflight && started < requests; i++) start(&transfers[i]);
    run_by_socket_action(requests);
}

/* Does the warm-up or the measured run. For down, gzip and up `count` is in KiB, and one request transfers them. The
 * warm-up does not check the last byte of bodies: its first connection cannot resume. */
static void run_stretch(long count, int last) {
    expected_last = last;
    bool down = is_work(&settings, "down") || is_work(&settings, "gzip"), up = is_work(&settings, "up");
    snprintf(url, sizeof url, "https://%s:%s%s", settings.host, settings.port, settings.path);
    expected_length = settings.length;
    if (down) {
        snprintf(url + strlen(url), sizeof url - strlen(url), "%ld", count);
        expected_length = count * 1024;
    }
    upload_length = up ? count * 1024 : 0;
    for (long i = 0; i < settings.inflight; i++) {
        curl_easy_setopt(transfers[i].easy, CURLOPT_URL, url);
        if (up) curl_easy_setopt(transfers[i].easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)upload_length);
    }
    run(down || up ? count > 0 : count);
}

int main(int argc, char **argv) {
    settings = settings_from(argc, argv);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    char to[128];
    snprintf(to, sizeof to, "::%s:%s", settings.address, settings.port);
    targets = curl_slist_append(NULL, to);
    fields = curl_slist_append(curl_slist_append(NULL, "Expect:"), "Content-Type: application/octet-stream");
    multi = curl_multi_init();
    events = epoll_create1(EPOLL_CLOEXEC);
    transfers = calloc(settings.inflight, sizeof *transfers);
    registered = calloc(MOST_DESCRIPTORS, sizeof *registered);
    if (!multi || !registered || events < 0 || !transfers) die("start-up");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, settings.inflight);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    long rss_start = memory_kib("VmRSS");
    for (long i = 0; i < settings.inflight; i++) set_up(&transfers[i]);

    if (is_work(&settings, "latency")) {
        long most = settings.count > settings.warmup ? settings.count : settings.warmup;
        latencies = calloc(most, sizeof *latencies);
        if (!latencies) die("no memory");
    }
    run_stretch(settings.warmup, 0);
    connects = 0;
    struct reading before = read_clocks();
    run_stretch(settings.count, settings.last);
    struct reading after = read_clocks();
    if (is_work(&settings, "requests") && settings.warmup > 0 && connects > 0) die("a connection was not kept");
    if (is_work(&settings, "idle")) {
        for (long i = 0; i < settings.inflight; i++) curl_easy_cleanup(transfers[i].easy);
        settle(&settings);
    }
    if (latencies) report_latencies();
    report(settings.count, before, after, rss_start);
    return 0;
}
