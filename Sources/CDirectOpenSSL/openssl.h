#ifndef CDIRECTOPENSSL_OPENSSL_H
#define CDIRECTOPENSSL_OPENSSL_H

/* OpenSSL's headers: those of a package's framework (the trait OpenSSLPackage), or else the system's. The shims are empty
 * without them, so that the error here is the only one. */

/* The sources compile with 3.0, so they cannot use what later versions recommend in place of its functions: none of
 * those is to be reported as deprecated. */
#define OPENSSL_API_COMPAT 30000

#if __has_include(<OpenSSL/opensslv.h>)
#include <OpenSSL/opensslv.h>
#elif __has_include(<openssl/opensslv.h>)
#include <openssl/opensslv.h>
#else
#define DIRECT_OPENSSL_IS_MISSING
#endif

#ifdef DIRECT_OPENSSL_IS_MISSING
#ifdef __APPLE__
#error "OpenSSL is missing. In an app: turn on direct-http's trait OpenSSLPackage. On a Mac also: brew install openssl@3 pkg-config"
#else
#error "OpenSSL is missing. Install its headers and pkg-config: apt-get install libssl-dev pkg-config"
#endif
#elif !defined(OPENSSL_VERSION_MAJOR) || defined(OPENSSL_IS_BORINGSSL) || defined(LIBRESSL_VERSION_NUMBER)
/* OpenSSL 1.1, LibreSSL and BoringSSL have headers of the same names, and OPENSSL_VERSION_MAJOR is new in OpenSSL 3. */
#error "The headers found first are not those of OpenSSL 3 or newer. Remove the search path of the other library."
#elif __has_include(<OpenSSL/opensslv.h>)
#define DIRECT_HAS_OPENSSL 1
#include <OpenSSL/bio.h>
#include <OpenSSL/ct.h>
#if __has_include(<OpenSSL/ech.h>)
#include <OpenSSL/ech.h>
#endif
#include <OpenSSL/err.h>
#include <OpenSSL/evp.h>
#include <OpenSSL/ocsp.h>
#include <OpenSSL/pem.h>
#include <OpenSSL/pkcs12.h>
#include <OpenSSL/ssl.h>
#include <OpenSSL/x509.h>
#include <OpenSSL/x509_vfy.h>
#include <OpenSSL/x509v3.h>
#else
#define DIRECT_HAS_OPENSSL 1
#include <openssl/bio.h>
#include <openssl/ct.h>
#if __has_include(<openssl/ech.h>)
#include <openssl/ech.h>
#endif
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#endif

#endif
