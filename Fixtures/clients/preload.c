// Replaces look-up, connecting and the clock in a program that cannot be told them: LD_PRELOAD=preload.so.
//
//   CLIENT_CONNECT  a.test:443=127.0.0.1:4001,[::1]:4001;127.0.0.9:80=127.0.0.1:4002   absent: nothing is replaced
//                   a path that begins with a slash: the file has the text
//   CLIENT_TIME     seconds since 1970                                              absent: the real time
//
// A name of CLIENT_CONNECT gets made-up addresses for its Nth address, 240.0.HOST.N or, of IPv6, 100::HOST:N. Connecting to
// one of them, or to an address that CLIENT_CONNECT has, leads to the address behind the equals sign. Connecting elsewhere
// fails.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

struct endpoint {
    char host[256];
    int port;
};

// For programs that cannot change their environment: they write to it.
#define OWN_FILE "/proc/self/fd/99"

__attribute__((constructor)) static void make_file(void) {
    const char *path = getenv("CLIENT_CONNECT");
    if (!path || strcmp(path, OWN_FILE) != 0) return;
    int file = memfd_create("connect", 0);
    dup2(file, 99);
    close(file);
}

// The text of CLIENT_CONNECT, or of the file that it names.
static const char *connections(void) {
    static __thread char text[1 << 16];
    const char *value = getenv("CLIENT_CONNECT");
    if (!value || value[0] != '/') return value;
    int file = open(value, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[count > 0 ? count : 0] = 0;
    return text;
}

static const char *read_endpoint(const char *text, struct endpoint *found) {
    size_t length = strcspn(text, "=,;");
    const char *colon = memrchr(text, ':', length);
    size_t host = colon ? (size_t)(colon - text) : length;
    if (host > 1 && text[0] == '[') {
        text++;
        host -= 2;
        length--;
    }
    snprintf(found->host, sizeof found->host, "%.*s", (int)host, text);
    found->port = colon ? atoi(colon + 1) : 0;
    return text + length;
}

static int is_same_name(const char *one, const char *other) {
    size_t length = strlen(one), others = strlen(other);
    if (length > 1 && one[length - 1] == '.') length--;
    if (others > 1 && other[others - 1] == '.') others--;
    return length == others && strncasecmp(one, other, length) == 0;
}

// The index of the first entry with this host; -1 if there is none.
static int index_of(const char *host) {
    const char *text = connections();
    struct endpoint entry;
    for (int index = 0; text && *text; index++) {
        read_endpoint(text, &entry);
        if (is_same_name(entry.host, host)) return index;
        text += strcspn(text, ";");
        text += *text == ';';
    }
    return -1;
}

// The Nth address of a host and port, or of any port if that is 0. The host is given by the index of its first entry.
static int address_of(int wanted, int port, int number, struct endpoint *found) {
    const char *text = connections();
    struct endpoint entry;
    while (text && *text) {
        const char *next = read_endpoint(text, &entry);
        if (index_of(entry.host) == wanted && (port == 0 || entry.port == port)) {
            int left = number;
            while (*next == '=' || *next == ',') {
                next = read_endpoint(next + 1, found);
                if (left-- == 0) return 1;
            }
        }
        text += strcspn(text, ";");
        text += *text == ';';
    }
    return 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    char address[64];
    struct endpoint target;
    struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
    unsigned char bytes[16];
    int is_address = node && (inet_pton(AF_INET, node, bytes) == 1 || inet_pton(AF_INET6, node, bytes) == 1);
    // A program that only asks whether a text is an address is told that a name is none.
    int asks_for_address = hints && hints->ai_flags & AI_NUMERICHOST;
    if (!getenv("CLIENT_CONNECT") || !node || is_address || asks_for_address)
        return NEXT(getaddrinfo)(node, service, hints, found);
    int index = index_of(node), port = service ? atoi(service) : 0, status = EAI_NONAME;
    numeric.ai_flags |= AI_NUMERICHOST;
    for (int number = 0; index >= 0 && number < 32 && address_of(index, port, number, &target); number++) {
        // A client may treat the families differently.
        int is_six = strchr(target.host, ':') != NULL;
        if (numeric.ai_family == (is_six ? AF_INET : AF_INET6)) continue;
        snprintf(address, sizeof address, is_six ? "100::%x:%x" : "240.0.%d.%d", index, number);
        // glibc frees a list one by one, so lists can be joined.
        status = NEXT(getaddrinfo)(address, service, &numeric, found);
        if (status != 0) return status;
        while (*found) found = &(*found)->ai_next;
    }
    return status;
}

// Where the job leads for an address that a program connects to.
static int target_of(const struct sockaddr *address, struct endpoint *found) {
    char host[64] = "";
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const void *)address;
        if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
            struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six->sin6_port};
            memcpy(&four.sin_addr, six->sin6_addr.s6_addr + 12, 4);
            return target_of((const void *)&four, found);
        }
        const unsigned char *bytes = six->sin6_addr.s6_addr;
        if (bytes[0] == 1 && !bytes[1])
            return address_of(bytes[12] << 8 | bytes[13], ntohs(six->sin6_port), bytes[14] << 8 | bytes[15], found);
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        return address_of(index_of(host), ntohs(six->sin6_port), 0, found);
    }
    const struct sockaddr_in *four = (const void *)address;
    unsigned number = ntohl(four->sin_addr.s_addr);
    if (number >> 16 == 240 << 8)
        return address_of(number >> 8 & 255, ntohs(four->sin_port), number & 255, found);
    inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    return index_of(host) >= 0 && address_of(index_of(host), ntohs(four->sin_port), 0, found);
}

// Gives a descriptor a socket of this family. A program that connects again to hear the end of it keeps its socket.
static int replace_socket(int descriptor, int family) {
    int has = 0;
    socklen_t size = sizeof has;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &has, &size) == 0 && has == family) return 0;
    int made = socket(family, SOCK_STREAM, 0);
    if (made < 0) return -1;
    fcntl(made, F_SETFL, fcntl(descriptor, F_GETFL));
    int status = dup2(made, descriptor);
    close(made);
    return status;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    if (!getenv("CLIENT_CONNECT") || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
        return NEXT(connect)(descriptor, address, length);
    struct endpoint target;
    if (!target_of(address, &target)) {
        errno = ENETUNREACH;
        return -1;
    }
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(target.port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(target.port)};
    int is_four = inet_pton(AF_INET, target.host, &four.sin_addr) == 1;
    if (!is_four) inet_pton(AF_INET6, target.host, &six.sin6_addr);
    int family = is_four ? AF_INET : AF_INET6;
    if (family != address->sa_family && replace_socket(descriptor, family) < 0) return -1;
    return is_four ? NEXT(connect)(descriptor, (void *)&four, sizeof four)
                   : NEXT(connect)(descriptor, (void *)&six, sizeof six);
}

// The libraries that check certificates see the real time.
time_t time(time_t *place) {
    struct timespec now;
    Dl_info caller;
    const char *set = getenv("CLIENT_TIME");
    clock_gettime(CLOCK_REALTIME, &now);
    time_t found = now.tv_sec;
    if (set && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
        !strstr(caller.dli_fname, "libcrypto") && !strstr(caller.dli_fname, "libssl") &&
        !strstr(caller.dli_fname, "libgnutls"))
        found = atoll(set);
    if (place) *place = found;
    return found;
}
