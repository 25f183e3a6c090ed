#ifndef CDIRECTOPENSSL_SHIM_H
#define CDIRECTOPENSSL_SHIM_H

/* Only what Swift cannot import by itself: function-like macros, casts, and 64-bit option macros. */

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline long direct_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}

#endif
