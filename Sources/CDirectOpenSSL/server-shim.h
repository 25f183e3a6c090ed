#ifndef CDIRECTOPENSSL_SERVER_SHIM_H
#define CDIRECTOPENSSL_SERVER_SHIM_H

/* Wrappers for the parts of OpenSSL that TLSFixtures needs and Swift cannot import by itself: function-like macros,
 * variadic functions, and 64-bit option macros, for servers and for making certificates. */

#include "openssl.h"

#ifdef DIRECT_HAS_OPENSSL

static inline int fixture_SSL_CTX_set_versions(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest)
        && SSL_CTX_set_max_proto_version(context, highest);
}

static inline void fixture_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    (void)SSL_CTX_set_session_cache_mode(context, mode);
}

static inline void fixture_SSL_CTX_forbid_tickets(SSL_CTX *context) {
    (void)SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
}

static inline void fixture_SSL_CTX_allow_renegotiation(SSL_CTX *context) {
    (void)SSL_CTX_clear_options(context, SSL_OP_NO_RENEGOTIATION);
    (void)SSL_CTX_set_options(context, SSL_OP_ALLOW_CLIENT_RENEGOTIATION);
}

static inline void fixture_SSL_CTX_set_read_ahead(SSL_CTX *context) {
    (void)SSL_CTX_set_read_ahead(context, 1);
}

static inline int fixture_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}

static inline void fixture_SSL_CTX_set_servername_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *)
) {
    (void)SSL_CTX_set_tlsext_servername_callback(context, callback);
}

static inline void fixture_SSL_CTX_set_status_callback(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    (void)SSL_CTX_set_tlsext_status_cb(context, callback);
}

static inline void fixture_SSL_CTX_set_status_argument(SSL_CTX *context, void *argument) {
    (void)SSL_CTX_set_tlsext_status_arg(context, argument);
}

static inline long fixture_SSL_CTX_set_ticket_keys(SSL_CTX *context, void *keys, long count) {
    return SSL_CTX_set_tlsext_ticket_keys(context, keys, count);
}

/* Passes a copy from OpenSSL's allocator, because OpenSSL takes ownership of the response and frees it. */
static inline int fixture_SSL_set_ocsp_response(SSL *ssl, const unsigned char *bytes, long count) {
    unsigned char *copy = OPENSSL_memdup(bytes, (size_t)count);
    return copy != NULL && SSL_set_tlsext_status_ocsp_resp(ssl, copy, count) == 1;
}

static inline void fixture_SSL_set_max_send_fragment(SSL *ssl, long size) {
    (void)SSL_set_max_send_fragment(ssl, size);
}

static inline EVP_PKEY *fixture_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *fixture_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *fixture_EVP_ED25519_gen(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

/* Swift's type of a pointer to an ASN1_STRING depends on the version (shim.h), so it gets none. */
static inline GENERAL_NAME *fixture_GENERAL_NAME_new(
    int kind, int type, const unsigned char *bytes, int count
) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = ASN1_STRING_type_new(type);
    if (name != NULL && value != NULL && ASN1_STRING_set(value, bytes, count) == 1) {
        GENERAL_NAME_set0_value(name, kind, value);
        return name;
    }
    ASN1_STRING_free(value);
    GENERAL_NAME_free(name);
    return NULL;
}

/* Encrypted Client Hello, from 4.0 on. Without it no key is made. */
#if OPENSSL_VERSION_MAJOR >= 4 && !defined(OPENSSL_NO_ECH)
static inline int fixture_has_ech(void) { return 1; }

static inline int fixture_ECH_write_new_key(BIO *out, const char *public_name) {
    OSSL_HPKE_SUITE suite = OSSL_HPKE_SUITE_DEFAULT;
    OSSL_ECHSTORE *store = OSSL_ECHSTORE_new(NULL, NULL);
    int is_made = store != NULL
        && OSSL_ECHSTORE_new_config(store, OSSL_ECH_CURRENT_VERSION, 0, public_name, suite) == 1
        && OSSL_ECHSTORE_write_pem(store, OSSL_ECHSTORE_LAST, out) == 1;
    OSSL_ECHSTORE_free(store);
    return is_made;
}

static inline void *fixture_ECHSTORE_new(void) { return OSSL_ECHSTORE_new(NULL, NULL); }
static inline void fixture_ECHSTORE_free(void *store) { OSSL_ECHSTORE_free(store); }

static inline int fixture_ECHSTORE_add(void *store, BIO *pem, int for_retry) {
    return store != NULL && OSSL_ECHSTORE_read_pem(store, pem, for_retry) == 1;
}

static inline int fixture_SSL_CTX_set1_echstore(SSL_CTX *context, void *store) {
    return SSL_CTX_set1_echstore(context, store);
}

/* The caller frees the name. */
static inline char *fixture_SSL_get1_outer_name(SSL *ssl) {
    char *inner = NULL, *outer = NULL;
    ERR_set_mark();
    int status = SSL_ech_get1_status(ssl, &inner, &outer);
    ERR_pop_to_mark();
    OPENSSL_free(inner);
    if (status == SSL_ECH_STATUS_SUCCESS) return outer;
    OPENSSL_free(outer);
    return NULL;
}
#else
static inline int fixture_has_ech(void) { return 0; }
static inline int fixture_ECH_write_new_key(BIO *out, const char *public_name) {
    (void)out;
    (void)public_name;
    return 0;
}
static inline void *fixture_ECHSTORE_new(void) { return NULL; }
static inline void fixture_ECHSTORE_free(void *store) { (void)store; }
static inline int fixture_ECHSTORE_add(void *store, BIO *pem, int for_retry) {
    (void)store;
    (void)pem;
    (void)for_retry;
    return 0;
}
static inline int fixture_SSL_CTX_set1_echstore(SSL_CTX *context, void *store) {
    (void)context;
    (void)store;
    return 0;
}
static inline char *fixture_SSL_get1_outer_name(SSL *ssl) {
    (void)ssl;
    return NULL;
}
#endif

static inline long fixture_BIO_contents(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void fixture_OPENSSL_free(void *pointer) { OPENSSL_free(pointer); }

static inline unsigned long fixture_XN_FLAG_RFC2253(void) { return XN_FLAG_RFC2253; }

#ifdef __linux__
/* glibc declares these with _GNU_SOURCE only, which Swift does not define. */
struct sockaddr;
extern int accept4(int, struct sockaddr *restrict, unsigned int *restrict, int);
extern int pipe2(int ends[2], int flags);
extern int prctl(int option, ...);

static inline int fixture_accept(int listener, int flags) {
    return accept4(listener, NULL, NULL, flags);
}
/* 15 is PR_SET_NAME. */
static inline void fixture_name_this_thread(const char *name) { (void)prctl(15, name); }
static inline int fixture_pipe(int ends[2], int flags) { return pipe2(ends, flags); }
#endif

#endif
#endif
