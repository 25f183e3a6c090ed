// TLS of simulated servers, on memory. See simulation.h.
#ifdef __linux__
#include "seam.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

struct sim_tls {
    SSL *ssl;
    // Owned by the SSL.
    BIO *input, *output;
};

static int use_chain(SSL_CTX *context, const char *chain) {
    BIO *pem = BIO_new_mem_buf(chain, -1);
    X509 *leaf = PEM_read_bio_X509(pem, NULL, NULL, NULL), *issuer;
    int works = leaf && SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    while (works && (issuer = PEM_read_bio_X509(pem, NULL, NULL, NULL)))
        works = SSL_CTX_add_extra_chain_cert(context, issuer) == 1;
    BIO_free(pem);
    return works;
}

static int use_key(SSL_CTX *context, const char *key) {
    BIO *pem = BIO_new_mem_buf(key, -1);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(pem, NULL, NULL, NULL);
    int works = pkey && SSL_CTX_use_PrivateKey(context, pkey) == 1;
    EVP_PKEY_free(pkey);
    BIO_free(pem);
    return works;
}

static int choose_protocol(
    SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
    unsigned int count, void *argument
) {
    static const unsigned char http[] = "\x08http/1.1";
    (void)ssl, (void)argument;
    unsigned char *out;
    if (SSL_select_next_proto(&out, length, http, sizeof http - 1, offered, count) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = out;
    return SSL_TLSEXT_ERR_OK;
}

// Without a callback OpenSSL does not keep the name in a session.
static int accept_name(SSL *ssl, int *alert, void *argument) {
    (void)ssl, (void)alert, (void)argument;
    return SSL_TLSEXT_ERR_OK;
}

static int send_staple(SSL *ssl, void *argument) {
    const unsigned char *staple;
    (void)argument;
    return SSL_get_tlsext_status_ocsp_resp(ssl, &staple) > 0 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Makes a session ticket larger than the record of 512 bytes that such a server sends.
static int enlarge_ticket(SSL *ssl, void *argument) {
    static const char data[700];
    (void)argument;
    return SSL_get_app_data(ssl) ? SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data, sizeof data) : 1;
}

static SSL_TICKET_RETURN accept_ticket(
    SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t length, SSL_TICKET_STATUS status, void *argument
) {
    (void)ssl, (void)session, (void)name, (void)length, (void)argument;
    switch (status) {
    case SSL_TICKET_SUCCESS: return SSL_TICKET_RETURN_USE;
    case SSL_TICKET_SUCCESS_RENEW: return SSL_TICKET_RETURN_USE_RENEW;
    case SSL_TICKET_EMPTY:
    case SSL_TICKET_NO_DECRYPT: return SSL_TICKET_RETURN_IGNORE_RENEW;
    default: return SSL_TICKET_RETURN_ABORT;
    }
}

// What clients decode in each handshake. For a key, OpenSSL 3.0 looks through all of its decoders every time; so
// all connections share what is decoded once. Certificates that are to cost memory are larger.
static struct known {
    const unsigned char *bytes;
    long length;
    X509 *certificate;
} known[128];
static int known_count;
#define LARGEST_KNOWN 2048

static void remember(X509 *certificate) {
    unsigned char *bytes = NULL;
    int length = i2d_X509(certificate, &bytes);
    if (length <= 0 || length > LARGEST_KNOWN || known_count == sizeof known / sizeof *known) {
        OPENSSL_free(bytes);
        return;
    }
    known[known_count++] = (struct known){bytes, length, certificate};
}

X509 *d2i_X509(X509 **target, const unsigned char **bytes, long length) {
    REAL(d2i_X509);
    for (int at = 0; at < known_count; at++) {
        if (known[at].length != length || memcmp(known[at].bytes, *bytes, (size_t)length) != 0) continue;
        X509_up_ref(known[at].certificate);
        *bytes += length;
        if (!target) return known[at].certificate;
        X509_free(*target);
        return *target = known[at].certificate;
    }
    return real(target, bytes, length);
}

void sim_tls_know(const unsigned char *bytes, size_t length) { remember(d2i_X509(NULL, &bytes, (long)length)); }

void *sim_tls_context(const char *chain, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) return NULL;
    // Some of the certificates are weak, which clients have to notice.
    SSL_CTX_set_security_level(context, 0);
    if (!use_chain(context, chain) || !use_key(context, key)) {
        SSL_CTX_free(context);
        return NULL;
    }
    // Sessions are in the tickets; a cache would outlive a world.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_tlsext_servername_callback(context, accept_name);
    SSL_CTX_set_tlsext_status_cb(context, send_staple);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    // A server that asks for certificates resumes sessions of its own context only.
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"world", 5);
    SSL_CTX_set_session_ticket_cb(context, enlarge_ticket, accept_ticket, NULL);
    remember(SSL_CTX_get0_certificate(context));
    return context;
}

void sim_tls_renew(void *context, uint64_t seed) {
    unsigned char keys[80];
    for (size_t at = 0; at < sizeof keys; at++) keys[at] = (unsigned char)((seed >> (at % 8 * 8)) + at);
    SSL_CTX_set_tlsext_ticket_keys((SSL_CTX *)context, keys, sizeof keys);
    // An RSA key takes random numbers for blinding when it is first used, and keeps them: a copy takes its own.
    EVP_PKEY *own = SSL_CTX_get0_privatekey(context);
    if (EVP_PKEY_get_base_id(own) != EVP_PKEY_RSA) return;
    EVP_PKEY *key = EVP_PKEY_dup(own);
    if (!key || SSL_CTX_use_PrivateKey(context, key) != 1) abort();
    EVP_PKEY_free(key);
}

struct sim_tls *sim_tls_new(void *context, int tickets, int highest_version_is_12, int tickets_are_large) {
    struct sim_tls *tls = malloc(sizeof *tls);
    if (!tls) abort();
    sim_serve(1);
    tls->ssl = SSL_new(context);
    tls->input = BIO_new(BIO_s_mem());
    tls->output = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(tls->input, -1);
    BIO_set_mem_eof_return(tls->output, -1);
    SSL_set_bio(tls->ssl, tls->input, tls->output);
    SSL_set_accept_state(tls->ssl);
    SSL_set_num_tickets(tls->ssl, (size_t)tickets);
    if (tickets == 0) SSL_set_options(tls->ssl, SSL_OP_NO_TICKET);
    if (tickets_are_large) {
        SSL_set_max_send_fragment(tls->ssl, 512);
        SSL_set_app_data(tls->ssl, tls);
    }
    if (highest_version_is_12) SSL_set_max_proto_version(tls->ssl, TLS1_2_VERSION);
    sim_serve(0);
    return tls;
}

void sim_tls_free(struct sim_tls *tls) {
    SSL_free(tls->ssl);
    free(tls);
}

void sim_tls_feed(struct sim_tls *tls, const void *bytes, size_t count) {
    sim_serve(1);
    BIO_write(tls->input, bytes, (int)count);
    sim_serve(0);
}

int sim_tls_read(struct sim_tls *tls, void *buffer, int count) {
    ERR_clear_error();
    sim_serve(1);
    int result = SSL_read(tls->ssl, buffer, count);
    sim_serve(0);
    if (result > 0) return result;
    int error = SSL_get_error(tls->ssl, result);
    ERR_clear_error();
    switch (error) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return 0;
    case SSL_ERROR_ZERO_RETURN: return -1;
    default: return -2;
    }
}

int sim_tls_write(struct sim_tls *tls, const void *bytes, int count) {
    ERR_clear_error();
    sim_serve(1);
    int result = SSL_write(tls->ssl, bytes, count);
    sim_serve(0);
    ERR_clear_error();
    return result == count;
}

int sim_tls_take(struct sim_tls *tls, void *buffer, int count) {
    int result = BIO_read(tls->output, buffer, count);
    return result > 0 ? result : 0;
}

int sim_tls_take_record(struct sim_tls *tls, void *buffer, int count) {
    char *waiting;
    long available = BIO_get_mem_data(tls->output, &waiting);
    if (available < 5) return 0;
    int size = 5 + ((unsigned char)waiting[3] << 8 | (unsigned char)waiting[4]);
    return sim_tls_take(tls, buffer, size < count ? size : count);
}

void sim_tls_close(struct sim_tls *tls) {
    ERR_clear_error();
    sim_serve(1);
    if (SSL_is_init_finished(tls->ssl)) SSL_shutdown(tls->ssl);
    sim_serve(0);
    ERR_clear_error();
}

void sim_tls_update_keys(struct sim_tls *tls) {
    ERR_clear_error();
    sim_serve(1);
    if (SSL_version(tls->ssl) == TLS1_3_VERSION) {
        SSL_key_update(tls->ssl, SSL_KEY_UPDATE_REQUESTED);
        // Sends it; otherwise the next write would.
        SSL_do_handshake(tls->ssl);
    }
    sim_serve(0);
    ERR_clear_error();
}

void sim_tls_staple(struct sim_tls *tls, const void *bytes, size_t count) {
    sim_serve(1);
    void *staple = OPENSSL_memdup(bytes, count);
    if (staple) SSL_set_tlsext_status_ocsp_resp(tls->ssl, staple, (long)count);
    sim_serve(0);
}

static int accept_client(int works, X509_STORE_CTX *store) {
    (void)works, (void)store;
    return 1;
}

void sim_tls_ask(struct sim_tls *tls) { SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, accept_client); }

long sim_tls_client(struct sim_tls *tls) {
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    return certificate ? ASN1_INTEGER_get(X509_get0_serialNumber(certificate)) : 0;
}

int sim_tls_version(struct sim_tls *tls) { return SSL_version(tls->ssl); }
int sim_tls_is_established(struct sim_tls *tls) { return SSL_is_init_finished(tls->ssl); }
int sim_tls_is_resumed(struct sim_tls *tls) { return SSL_session_reused(tls->ssl); }
const char *sim_tls_server_name(struct sim_tls *tls) {
    return SSL_get_servername(tls->ssl, TLSEXT_NAMETYPE_host_name);
}
#endif
