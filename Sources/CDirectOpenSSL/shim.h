#ifndef CDIRECTOPENSSL_SHIM_H
#define CDIRECTOPENSSL_SHIM_H

/* Wrappers for the parts of OpenSSL that Swift cannot import by itself: function-like macros, casts, and 64-bit
 * option macros. Each has the name of the macro it wraps. */

#include "openssl.h"

#ifdef DIRECT_HAS_OPENSSL

/* Whether the headers have Encrypted Client Hello, which is from 4.0 on. */
#if OPENSSL_VERSION_MAJOR >= 4 && !defined(OPENSSL_NO_ECH)
#define DIRECT_HAS_ECH 1
#else
#define DIRECT_HAS_ECH 0
#endif

#ifdef __linux__
/* glibc and musl declare it with _GNU_SOURCE only, which Swift does not define. */
extern char *secure_getenv(const char *name);
#endif

/* Loads OpenSSL's configuration file, as any program does: it may contain the administrator's policy or a FIPS provider
 * (skipping it would save 0.3 ms). OpenSSL's own clean-up at `exit` is disabled: it would unload the library under threads
 * that still use it. OpenSSL asks for that once, when it is first used, so this comes before every other use of it. */
static inline void direct_start_OpenSSL(void) {
    (void)OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}

static inline long direct_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}

static inline int direct_SSL_set1_sigalgs_list(SSL *ssl, const char *list) {
    return (int)SSL_set1_sigalgs_list(ssl, list);
}

static inline int direct_SSL_CTX_set_version_range(SSL_CTX *ctx, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(ctx, lowest) && SSL_CTX_set_max_proto_version(ctx, highest);
}

static inline int direct_SSL_CTX_get_min_proto_version(SSL_CTX *context) {
    return (int)SSL_CTX_get_min_proto_version(context);
}

static inline int direct_SSL_CTX_get_max_proto_version(SSL_CTX *context) {
    return (int)SSL_CTX_get_max_proto_version(context);
}

static inline void direct_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) {
    SSL_CTX_set_mode(ctx, mode);
}

static inline void direct_SSL_CTX_clear_mode(SSL_CTX *context, long mode) {
    (void)SSL_CTX_clear_mode(context, mode);
}

static inline void direct_SSL_CTX_set_read_ahead(SSL_CTX *ctx, int on) {
    SSL_CTX_set_read_ahead(ctx, on);
}

static inline void direct_SSL_CTX_set_session_cache_mode(SSL_CTX *ctx, long mode) {
    SSL_CTX_set_session_cache_mode(ctx, mode);
}

static inline int direct_SSL_CTX_add1_chain_cert(SSL_CTX *ctx, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(ctx, certificate);
}

static inline int direct_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}

static inline void direct_SSL_CTX_request_staples(SSL_CTX *context) {
    (void)SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
}

static inline long direct_SSL_set_retry_verify(SSL *ssl) {
    return SSL_ctrl(ssl, SSL_CTRL_SET_RETRY_VERIFY, 0, NULL);
}

static inline int direct_SSL_get_negotiated_group(SSL *ssl) {
    return (int)SSL_get_negotiated_group(ssl);
}

static inline uint64_t direct_SSL_OP_NO_RENEGOTIATION(void) {
    return SSL_OP_NO_RENEGOTIATION;
}

/* OpenSSL 3.2 and later also accept compressed certificates (RFC 8879); older versions ignore the bit. */
#ifndef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
#define SSL_OP_NO_RX_CERTIFICATE_COMPRESSION ((uint64_t)1 << 33)
#endif

static inline uint64_t direct_SSL_OP_NO_COMPRESSION(void) {
    return SSL_OP_NO_COMPRESSION | SSL_OP_NO_RX_CERTIFICATE_COMPRESSION;
}

static inline uint64_t direct_SSL_OP_NO_TICKET(void) {
    return SSL_OP_NO_TICKET;
}

static inline long direct_BIO_get_mem_data(BIO *bio, char **data) {
    return BIO_get_mem_data(bio, data);
}

/* Adds an error with this code to the thread's queue. ERR_set_error is variadic. */
static inline void direct_ERR_put(unsigned long code) {
    ERR_new();
    ERR_set_error(ERR_GET_LIB(code), ERR_GET_REASON(code), NULL);
}

static inline int direct_ERR_is_out_of_memory(unsigned long code) {
    return !ERR_SYSTEM_ERROR(code) && ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
}

/* ASN1_STRING and the types like it are opaque from OpenSSL 4.0 on, so Swift has two kinds of pointers for them.
 * These functions have one with every version. */
static inline const unsigned char *direct_ASN1_STRING_get0_data(const void *string, int *count) {
    *count = ASN1_STRING_length((const ASN1_STRING *)string);
    return ASN1_STRING_get0_data((const ASN1_STRING *)string);
}

static inline int direct_ASN1_STRING_type(const void *string) {
    return ASN1_STRING_type((const ASN1_STRING *)string);
}

static inline int direct_ASN1_STRING_to_UTF8(unsigned char **text, const void *string) {
    return ASN1_STRING_to_UTF8(text, (const ASN1_STRING *)string);
}

static inline long direct_ASN1_INTEGER_get(const void *number) {
    return ASN1_INTEGER_get((const ASN1_INTEGER *)number);
}

static inline int direct_ASN1_TIME_to_tm(const void *moment, struct tm *parts) {
    return ASN1_TIME_to_tm((const ASN1_TIME *)moment, parts);
}

static inline int direct_OCSP_single_get0_status(
    OCSP_SINGLERESP *single, int *reason, const void **revoked_at, const void **this_update,
    const void **next_update
) {
    ASN1_GENERALIZEDTIME *times[3] = {NULL, NULL, NULL};
    int status = OCSP_single_get0_status(single, reason, &times[0], &times[1], &times[2]);
    *revoked_at = times[0];
    *this_update = times[1];
    *next_update = times[2];
    return status;
}

static inline int direct_OCSP_check_validity(
    const void *this_update, const void *next_update, long tolerance, long longest_age
) {
    return OCSP_check_validity(
        (ASN1_GENERALIZEDTIME *)this_update, (ASN1_GENERALIZEDTIME *)next_update, tolerance, longest_age
    );
}

/* From 4.0 on a name to check for is refused unless its labels are letters, digits and hyphens. */
static inline int direct_accept_name(const char *name, size_t count) {
    (void)name;
    (void)count;
    return 1;
}

static inline void direct_X509_VERIFY_PARAM_accept_all_names(X509_VERIFY_PARAM *parameters) {
#if OPENSSL_VERSION_NUMBER >= 0x40000000L
    X509_VERIFY_PARAM_set1_host_input_validation(parameters, direct_accept_name);
#else
    (void)parameters;
#endif
}

/* Encrypted Client Hello. Libraries that do not have it take no configuration, so it is not offered. */
static inline int direct_SSL_set1_ech_config_list(SSL *ssl, const unsigned char *bytes, size_t count) {
#if DIRECT_HAS_ECH
    return SSL_set1_ech_config_list(ssl, bytes, count);
#else
    (void)ssl;
    (void)bytes;
    (void)count;
    return 0;
#endif
}

static inline void direct_SSL_grease_ech(SSL *ssl) {
#if DIRECT_HAS_ECH
    (void)SSL_set_options(ssl, SSL_OP_ECH_GREASE);
#else
    (void)ssl;
#endif
}

/* Whether the server has decrypted the inner client hello. Its certificate need not be right. */
static inline int direct_SSL_has_accepted_ech(SSL *ssl) {
#if DIRECT_HAS_ECH
    char *inner = NULL, *outer = NULL;
    ERR_set_mark();
    int status = SSL_ech_get1_status(ssl, &inner, &outer);
    ERR_pop_to_mark();
    OPENSSL_free(inner);
    OPENSSL_free(outer);
    return status == SSL_ECH_STATUS_SUCCESS || status == SSL_ECH_STATUS_BAD_NAME;
#else
    (void)ssl;
    return 0;
#endif
}

/* The caller frees the bytes. There are none if the server has sent none. */
static inline int direct_SSL_ech_get1_retry_config(SSL *ssl, unsigned char **bytes, size_t *count) {
#if DIRECT_HAS_ECH
    return SSL_ech_get1_retry_config(ssl, bytes, count);
#else
    (void)ssl;
    *bytes = NULL;
    *count = 0;
    return 0;
#endif
}

/* Whether the peer has signed the handshake. */
static inline int direct_SSL_has_peer_signature(SSL *ssl) {
    int digest = NID_undef;
    return SSL_get_peer_signature_nid(ssl, &digest) == 1;
}

static inline int direct_is_ech_required(unsigned long code) {
#if DIRECT_HAS_ECH
    return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_ECH_REQUIRED;
#else
    (void)code;
    return 0;
#endif
}

static inline unsigned long direct_XN_FLAG_RFC2253(void) {
    return XN_FLAG_RFC2253;
}

#endif
#endif
