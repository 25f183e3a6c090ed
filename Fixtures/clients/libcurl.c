// libcurl, through easy handles that share what the job keeps. Compiled with preload.c for its clock, and with jansson.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdarg.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "bytes.h"

static json_t *setting(json_t *job, const char *name) { return json_object_get(json_object_get(job, "settings"), name); }

static int keeps(json_t *job, const char *name) {
    size_t index;
    json_t *kept;
    json_array_foreach(json_object_get(job, "keep"), index, kept) {
        if (strcmp(json_string_value(kept), name) == 0) return 1;
    }
    return 0;
}

// Why the job is left out; NULL if it is not.
static const char *reason_to_leave(json_t *job) {
    static char reason[200];
    const char *name;
    json_t *value;
    size_t index;
    json_object_foreach(json_object_get(job, "settings"), name, value) {
        char word[64];
        snprintf(word, sizeof word, " %s ", name);
        if (strstr(" follow decode versions certificate resume addresses headers redirects proxy credentials ", word) == NULL)
            return snprintf(reason, sizeof reason, "it has no setting like `%s`", name), reason;
    }
    json_object_foreach(setting(job, "redirects"), name, value) {
        if (strcmp(name, "limit") != 0 && strcmp(name, "downgrade") != 0)
            return snprintf(reason, sizeof reason, "it has no setting for redirects like `%s`", name), reason;
    }
    const char *lowest = json_string_value(json_array_get(setting(job, "versions"), 0));
    if (lowest && strcmp(lowest, "1.2") < 0) return "its OpenSSL speaks no TLS before 1.2 at this level of security";
    if (json_object_get(setting(job, "proxy"), "addresses")) return "it gives a proxy names only";
    if (keeps(job, "cache")) return "it keeps no cache";
    json_array_foreach(json_object_get(job, "requests"), index, value) {
        if (json_object_get(value, "upgrade")) return "it switches to no other protocol";
    }
    json_object_foreach(json_object_get(job, "connect"), name, value) {
        json_t *target;
        const char *port = NULL;
        json_array_foreach(value, index, target) {
            const char *own = strrchr(json_string_value(target), ':');
            if (port && strcmp(port, own) != 0) return "it cannot be told addresses of one host with different ports";
            port = own;
        }
    }
    return NULL;
}

static struct curl_slist *append_line(struct curl_slist *list, const char *format, ...) {
    char *line;
    va_list values;
    va_start(values, format);
    if (vasprintf(&line, format, values) < 0) fail("no memory");
    va_end(values);
    list = curl_slist_append(list, line);
    free(line);
    return list;
}

// What leads to the addresses of the job, and nowhere else: port 0 cannot be connected to.
static void set_addresses(CURL *handle, json_t *job, struct curl_slist **lists) {
    const char *place;
    json_t *targets, *target;
    size_t index, number = 0;
    if (setting(job, "proxy")) return;  // It is given names, and looks them up.
    json_object_foreach(json_object_get(job, "connect"), place, targets) {
        const char *colon = strrchr(place, ':');
        int host = (int)(colon - place) - (colon > place && colon[-1] == '.');
        struct bytes all = {0};
        append(&all, "", 0);
        const char *port = ":0";
        json_array_foreach(targets, index, target) {
            const char *text = json_string_value(target);
            port = strrchr(text, ':');
            if (index > 0) append(&all, ",", 1);
            append(&all, text, port - text);
        }
        lists[0] = append_line(lists[0], "%.*s%s:several-%zu.invalid%s", host, place, colon, number, port);
        lists[0] = append_line(lists[0], "%.*s.%s:several-%zu.invalid%s", host, place, colon, number, port);
        lists[1] = append_line(lists[1], "several-%zu.invalid%s:%s", number, port, all.length ? all.data : "127.0.0.1");
        free(all.data);
        number++;
    }
    lists[0] = append_line(lists[0], "::127.0.0.1:0");
    curl_easy_setopt(handle, CURLOPT_CONNECT_TO, lists[0]);
    curl_easy_setopt(handle, CURLOPT_RESOLVE, lists[1]);
}

// The proxy, and the credentials for it and for the origin.
static void set_trust(CURL *handle, json_t *job) {
    json_t *proxy = setting(job, "proxy"), *told = setting(job, "credentials");
    const char *at = json_string_value(json_object_get(proxy, "at"));
    curl_easy_setopt(handle, CURLOPT_PROXY, at ? at : "");
    curl_easy_setopt(handle, CURLOPT_PROXYUSERNAME, json_string_value(json_object_get(proxy, "user")));
    curl_easy_setopt(handle, CURLOPT_PROXYPASSWORD, json_string_value(json_object_get(proxy, "password")));
    if (json_object_get(proxy, "digest")) curl_easy_setopt(handle, CURLOPT_PROXYAUTH, (long)CURLAUTH_DIGEST);
    if (!told) return;
    json_t *schemes = json_object_get(told, "schemes");
    const char *scheme = json_string_value(json_array_get(schemes, 0));
    int is_free = json_array_size(schemes) != 1;
    curl_easy_setopt(handle, CURLOPT_USERNAME, json_string_value(json_object_get(told, "user")));
    curl_easy_setopt(handle, CURLOPT_PASSWORD, json_string_value(json_object_get(told, "password")));
    curl_easy_setopt(handle, CURLOPT_HTTPAUTH,
                     is_free                         ? (long)CURLAUTH_ANY
                     : strcmp(scheme, "digest") == 0 ? (long)CURLAUTH_DIGEST
                                                     : (long)CURLAUTH_BASIC);
}

static void set_common(CURL *handle, json_t *job) {
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    set_trust(handle, job);
    curl_easy_setopt(handle, CURLOPT_CAINFO, json_string_value(json_object_get(job, "roots")));
    curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)json_integer_value(json_object_get(job, "timeout")));
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, (long)json_is_true(setting(job, "follow")));
    json_t *limit = json_object_get(setting(job, "redirects"), "limit");
    if (limit) curl_easy_setopt(handle, CURLOPT_MAXREDIRS, (long)json_integer_value(limit));
    if (json_is_true(setting(job, "decode"))) curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
    int resumes = keeps(job, "sessions") && !json_is_false(setting(job, "resume"));
    curl_easy_setopt(handle, CURLOPT_SSL_SESSIONID_CACHE, (long)resumes);
    if (!keeps(job, "connections")) curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
    if (keeps(job, "cookies")) curl_easy_setopt(handle, CURLOPT_COOKIEFILE, "");
    if (keeps(job, "hsts")) curl_easy_setopt(handle, CURLOPT_HSTS_CTRL, (long)CURLHSTS_ENABLE);
    json_t *versions = setting(job, "versions"), *certificate = setting(job, "certificate");
    if (versions) {
        int lowest = strcmp(json_string_value(json_array_get(versions, 0)), "1.3") == 0;
        int highest = strcmp(json_string_value(json_array_get(versions, 1)), "1.3") == 0;
        curl_easy_setopt(handle, CURLOPT_SSLVERSION,
                         (long)(lowest ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2) |
                             (long)(highest ? CURL_SSLVERSION_MAX_TLSv1_3 : CURL_SSLVERSION_MAX_TLSv1_2));
    }
    if (certificate) {
        curl_easy_setopt(handle, CURLOPT_SSLCERT, json_string_value(certificate));
        curl_easy_setopt(handle, CURLOPT_SSLKEY, json_string_value(certificate));
    }
}

static struct curl_slist *add_fields(struct curl_slist *list, json_t *fields) {
    size_t index;
    json_t *field;
    json_array_foreach(fields, index, field) {
        struct bytes name = bytes_of(json_array_get(field, 0)), value = bytes_of(json_array_get(field, 1));
        // A field without value has a semicolon here; with a colon, libcurl would send none.
        int isEmpty = value.data[strspn(value.data, " \t")] == 0;
        list = append_line(list, isEmpty ? "%s;" : "%s: %s", name.data, value.data);
        free(name.data);
        free(value.data);
    }
    return list;
}

static size_t read_body(char *place, size_t size, size_t count, void *user) {
    struct bytes *body = user;
    size_t length = body->length - body->read < size * count ? body->length - body->read : size * count;
    memcpy(place, body->data + body->read, length);
    body->read += length;
    return length;
}

static int seek_body(void *user, curl_off_t offset, int origin) {
    struct bytes *body = user;
    if (origin != SEEK_SET || offset < 0 || (size_t)offset > body->length) return CURL_SEEKFUNC_FAIL;
    body->read = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static size_t write_body(char *data, size_t size, size_t count, void *user) {
    append(user, data, size * count);
    return size * count;
}

static void set_request(CURL *handle, json_t *request, struct bytes *body) {
    const char *method = json_string_value(json_object_get(request, "method"));
    int has_body = json_object_get(request, "body") != NULL;
    if (!method) method = "GET";
    int is_stream = json_is_true(json_object_get(request, "stream"));
    if (has_body && (strcmp(method, "PUT") == 0 || is_stream)) {
        curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(handle, CURLOPT_READFUNCTION, read_body);
        curl_easy_setopt(handle, CURLOPT_READDATA, body);
        if (!is_stream) {
            curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)body->length);
            // A body that can be read again is, for a redirect that keeps it.
            curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek_body);
            curl_easy_setopt(handle, CURLOPT_SEEKDATA, body);
        }
        if (strcmp(method, "PUT") != 0) curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
    } else if (has_body || strcmp(method, "POST") == 0) {
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->length);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body->data);
        if (strcmp(method, "POST") != 0) curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
    } else if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    } else if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
    }
}

static json_t *fields_of(CURL *handle, unsigned origin) {
    json_t *found = json_array();
    struct curl_header *header = NULL;
    while ((header = curl_easy_nextheader(handle, origin, -1, header))) {
        json_t *name = text_of(header->name, strlen(header->name));
        json_array_append_new(found, json_pack("[o, o]", name, text_of(header->value, strlen(header->value))));
    }
    return found;
}

// The words for OpenSSL's results of a verification (x509_vfy.h) whose meaning is not in doubt.
static const char *kind_of_verification(long code) {
    static const struct { long code; const char *kind; } kinds[] = {
        {7, "badSignature"}, {9, "notYetValid"}, {10, "expired"}, {18, "untrusted"}, {19, "untrusted"}, {20, "untrusted"},
        {21, "untrusted"}, {24, "notAuthority"}, {25, "pathTooLong"}, {26, "wrongPurpose"}, {34, "unknownExtension"},
        {47, "outsideConstraints"}, {48, "outsideConstraints"}, {66, "weak"}, {67, "weak"}, {68, "weak"},
        {79, "notAuthority"},
    };
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        if (kinds[index].code == code) return kinds[index].kind;
    }
    return NULL;
}

static json_t *error_of(CURL *handle, CURLcode code, const char *text) {
    long verified = 0, number = 0;
    unsigned alert = 0;
    char word[20];
    const char *kind = NULL, *place = strstr(text, "error:0A");
    curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &verified);
    curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_PEER_FAILED_VERIFICATION) kind = kind_of_verification(verified);
    if (code == CURLE_PEER_FAILED_VERIFICATION && strstr(text, "subject name")) kind = "wrongName";
    if (code == CURLE_COULDNT_CONNECT && number == ECONNREFUSED && !strstr(text, " port 0 ")) kind = "refused";
    if (code == CURLE_OPERATION_TIMEDOUT) kind = "timeout";
    if (code == CURLE_GOT_NOTHING) kind = "closed";
    if (code == CURLE_PARTIAL_FILE) kind = "incomplete";
    if (code == CURLE_WEIRD_SERVER_REPLY || strstr(text, "HTTP/0.9")) kind = "badHTTP";
    if (code == CURLE_TOO_MANY_REDIRECTS) kind = "tooMany";
    // OpenSSL's reasons for an alert that it received are 1000 + N.
    if (!kind && place && sscanf(place + 8, "%6x", &alert) == 1 && alert >= 1000 && alert < 1256) {
        snprintf(word, sizeof word, "alert %u", alert - 1000);
        kind = word;
    }
    if (!*text) text = curl_easy_strerror(code);
    return json_pack("{s:{s:s*, s:o}}", "error", "kind", kind, "text", text_of(text, strlen(text)));
}

static json_t *response_of(CURL *handle, struct bytes *content, json_t *lines) {
    long status = 0, version = 0;
    char *url = NULL;
    json_t *interims = json_array(), *reason = NULL, *line;
    size_t index;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(handle, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(handle, CURLINFO_EFFECTIVE_URL, &url);
    json_array_foreach(lines, index, line) {
        const char *text = json_string_value(line), *space = strchr(text, ' ');
        int code = space ? atoi(space + 1) : 0;
        if (code / 100 == 1) json_array_append_new(interims, json_integer(code));
        else if (index + 1 < json_array_size(lines)) json_array_clear(interims);
        reason = space && strchr(space + 1, ' ') ? json_string(strchr(space + 1, ' ') + 1) : json_string("");
    }
    const char *digits = version == CURL_HTTP_VERSION_1_0 ? "1.0" : version == CURL_HTTP_VERSION_1_1 ? "1.1" : NULL;
    json_t *body = text_of(content->data ? content->data : "", content->length);
    json_t *headers = fields_of(handle, CURLH_HEADER), *trailers = fields_of(handle, CURLH_TRAILER);
    return json_pack("{s:I, s:o*, s:s*, s:o, s:o, s:o, s:o, s:s}", "status", (json_int_t)status, "reason", reason,
                     "version", digits, "headers", headers, "trailers", trailers, "interims", interims, "body", body,
                     "url", url);
}

// Keeps the status lines: what else the head has, libcurl tells afterwards.
static size_t see_line(char *data, size_t size, size_t count, void *user) {
    size_t length = size * count;
    if (length > 5 && strncasecmp(data, "HTTP/", 5) == 0) {
        while (length > 0 && (data[length - 1] == '\n' || data[length - 1] == '\r')) length--;
        json_array_append_new(user, text_of(data, length));
    }
    return size * count;
}

static json_t *send_request(CURL *handle, json_t *job, json_t *request) {
    char message[CURL_ERROR_SIZE] = "";
    struct bytes body = bytes_of(json_object_get(request, "body")), content = {0};
    struct curl_slist *fields = add_fields(NULL, setting(job, "headers"));
    fields = add_fields(fields, json_object_get(request, "headers"));
    struct curl_slist *lists[2] = {NULL, NULL};
    json_t *lines = json_array();
    set_common(handle, job);
    set_addresses(handle, job, lists);
    set_request(handle, request, &body);
    curl_easy_setopt(handle, CURLOPT_URL, json_string_value(json_object_get(request, "url")));
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &content);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, see_line);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, lines);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
    CURLcode code = curl_easy_perform(handle);
    json_t *result = code == CURLE_OK ? response_of(handle, &content, lines) : error_of(handle, code, message);
    curl_easy_reset(handle);  // Keeps connections, cookies, sessions and HSTS.
    curl_slist_free_all(fields);
    curl_slist_free_all(lists[0]);
    curl_slist_free_all(lists[1]);
    free(body.data);
    free(content.data);
    json_decref(lines);
    if (!result) fail("a result could not be made");
    return result;
}

static json_t *answer(json_t *job) {
    json_t *results = json_array(), *request, *start = json_object_get(job, "time");
    int keeps_state = keeps(job, "connections") || keeps(job, "sessions") || keeps(job, "cookies") || keeps(job, "hsts");
    CURL *handle = NULL;
    size_t index;
    json_array_foreach(json_object_get(job, "requests"), index, request) {
        char now[32];
        double after = json_number_value(json_object_get(request, "after"));
        snprintf(now, sizeof now, "%.0f", json_number_value(start) + after);
        if (start) setenv("CLIENT_TIME", now, 1);
        if (!handle) handle = curl_easy_init();
        json_array_append_new(results, send_request(handle, job, request));
        if (!keeps_state) curl_easy_cleanup(handle), handle = NULL;
    }
    if (handle) curl_easy_cleanup(handle);
    unsetenv("CLIENT_TIME");
    return results;
}

static void write_line(json_t *value) {
    if (!value || json_dumpf(value, stdout, JSON_COMPACT) != 0) fail("a line could not be written");
    json_decref(value);
    putchar('\n');
    fflush(stdout);
}

static json_t *describe(void) {
    curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    json_t *codings = json_array();
    if (version->features & CURL_VERSION_LIBZ) json_array_append_new(codings, json_string("gzip"));
    if (version->features & CURL_VERSION_LIBZ) json_array_append_new(codings, json_string("deflate"));
    if (version->features & CURL_VERSION_BROTLI) json_array_append_new(codings, json_string("br"));
    if (version->features & CURL_VERSION_ZSTD) json_array_append_new(codings, json_string("zstd"));
    return json_pack("{s:i, s:s, s:s, s:o}", "contract", 1, "name", "libcurl", "version", version->version, "codings",
                     codings);
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    write_line(describe());
    while ((length = getline(&line, &room, stdin)) > 0) {
        json_error_t error;
        json_t *job = json_loadb(line, length, JSON_ALLOW_NUL, &error);
        if (!job) fail(error.text);
        json_t *id = json_incref(json_object_get(job, "id"));
        const char *left = reason_to_leave(job);
        write_line(left ? json_pack("{s:o, s:s}", "id", id, "left", left)
                        : json_pack("{s:o, s:o}", "id", id, "results", answer(job)));
        json_decref(job);
    }
    free(line);
    return 0;
}
