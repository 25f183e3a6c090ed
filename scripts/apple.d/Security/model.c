/* A model of the functions of Security that Sources/CDirectSecurity calls, for tests on Linux. OpenSSL builds the chains, and the
 * objects are those of Swift's own CoreFoundation: a certificate is its data, a policy its name, and a trust an array of what it
 * was made of and of its chain. It does what Apple's documents say, which each function names (developer.apple.com/documentation/
 * security), and nothing else: what they leave open, such as caching, revocation, transparency logs and the limits on the age of
 * certificates, is not here, so nothing is proved about it. */

#include "Security.h"

/* model.h: how a test sets up the model. Certificates are in DER and are copied. */
#include <stddef.h>
#include <stdint.h>

/* Makes a certificate a trusted root: of the system, or installed by the user or a company. */
void model_trust(const uint8_t *der, size_t count);
/* Puts a certificate where it can be fetched from the network. */
void model_publish(const uint8_t *der, size_t count);
/* Forgets all certificates. */
void model_forget(void);

/* How often a trust was evaluated, and how many references the client owns by the Create Rule. */
long model_evaluations(void);
long model_objects(void);
/* Whether the last policy had a name. */
int model_was_named(void);

/* Lets the call that makes the object after so many others fail; -1 lets all succeed. */
void model_fail_after(long count);
/* end of model.h */

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdlib.h>

CFTypeRef CFRetain(CFTypeRef object);
CFErrorRef CFErrorCreate(CFAllocatorRef allocator, CFStringRef domain, CFIndex code, const void *userInfo);

static atomic_long owned, evaluations, calls_left = -1;
static atomic_int was_named, may_fetch;
static STACK_OF(X509) *roots, *published;

static bool is_refused(void) { return calls_left >= 0 && calls_left-- == 0; }

static void *given(const void *object) {
    if (object != NULL) owned++;
    return (void *)object;
}

/* The linker puts these in front of CoreFoundation's (--wrap). */
#define WRAP(type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters { return is_refused() ? NULL : given(__real_##name arguments); }
WRAP(CFDataRef, CFDataCreate, (CFAllocatorRef a, const uint8_t *bytes, CFIndex count), (a, bytes, count))
WRAP(CFMutableArrayRef, CFArrayCreateMutable, (CFAllocatorRef a, CFIndex count, const CFArrayCallBacks *calls), (a, count, calls))
WRAP(CFStringRef, CFStringCreateWithCString, (CFAllocatorRef a, const char *text, CFStringEncoding e), (a, text, e))
WRAP(CFStringRef, CFErrorCopyDescription, (CFErrorRef error), (error))

void __real_CFRelease(CFTypeRef object);
void __wrap_CFRelease(CFTypeRef object);
void __wrap_CFRelease(CFTypeRef object) {
    if (owned-- < 1) abort();
    __real_CFRelease(object);
}

static X509 *parse(const uint8_t *bytes, CFIndex count) {
    const uint8_t *end = bytes;
    X509 *x509 = d2i_X509(NULL, &end, count);
    if (x509 != NULL && end != bytes + count) {
        X509_free(x509);
        x509 = NULL;
    }
    ERR_clear_error();
    return x509;
}

/* "Returns NULL if the data passed in the data parameter is not a valid DER-encoded X.509 certificate." */
SecCertificateRef SecCertificateCreateWithData(CFAllocatorRef allocator, CFDataRef data) {
    X509 *x509 = parse(CFDataGetBytePtr(data), CFDataGetLength(data));
    (void)allocator;
    if (x509 == NULL || is_refused()) data = NULL;
    X509_free(x509);
    return given(data == NULL ? NULL : CFRetain(data));
}

/* "Returns a DER representation of a certificate given a certificate object"; NULL if the data "is not a valid" certificate. */
CFDataRef SecCertificateCopyData(SecCertificateRef certificate) { return is_refused() ? NULL : given(CFRetain(certificate)); }

/* "server: Specify true on the client side to return a policy for SSL server certificates. hostname: (Optional) If you specify a
 * value for this parameter, the policy will require the specified value to match the host name in the leaf certificate." */
SecPolicyRef SecPolicyCreateSSL(Boolean server, CFStringRef hostname) {
    if (!server) abort();
    was_named = hostname != NULL;
    if (is_refused()) return NULL;
    return given(hostname ? CFRetain(hostname) : __real_CFStringCreateWithCString(NULL, "", kCFStringEncodingASCII));
}

/* "certificates: The certificate to be verified, plus any other certificates you think might be useful for verifying the
 * certificate. The certificate to be verified must be the first in the array." "trust: On return, points to the newly created
 * trust management object. … call CFRelease to release this object when you are finished with it." */
OSStatus SecTrustCreateWithCertificates(CFTypeRef certificates, CFTypeRef policies, SecTrustRef *result) {
    if (is_refused()) return errSecAllocate;
    CFMutableArrayRef trust = __real_CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
    CFArrayAppendValue(trust, certificates);
    CFArrayAppendValue(trust, policies);
    /* "By default, network fetch of missing certificates is enabled if the trust evaluation includes the SSL policy." */
    may_fetch = true;
    *result = given(trust);
    return errSecSuccess;
}

/* "Pass false to disable network fetch for this trust evaluation." */
OSStatus SecTrustSetNetworkFetchAllowed(SecTrustRef trust, Boolean allowFetch) {
    (void)trust;
    may_fetch = allowFetch;
    return errSecSuccess;
}

/* The texts of "Security Framework Result Codes": "An expired certificate was detected", "The certificate is not yet valid", "The
 * trust policy is not trusted". */
static OSStatus code_of(int fault) {
    switch (fault) {
        case X509_V_ERR_CERT_HAS_EXPIRED: return errSecCertificateExpired;
        case X509_V_ERR_CERT_NOT_YET_VALID: return errSecCertificateNotValidYet;
        default: return errSecNotTrusted;
    }
}

/* Keeps the chain as the third item of the trust. */
static OSStatus keep_chain(CFMutableArrayRef trust, STACK_OF(X509) *chain) {
    if (is_refused()) return errSecAllocate;
    CFMutableArrayRef array = __real_CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
    for (int index = 0; index < sk_X509_num(chain); index++) {
        uint8_t *der = NULL;
        int count = i2d_X509(sk_X509_value(chain, index), &der);
        CFDataRef data = __real_CFDataCreate(NULL, der, count);
        OPENSSL_free(der);
        CFArrayAppendValue(array, data);
        __real_CFRelease(data);
    }
    CFArrayAppendValue(trust, array);
    __real_CFRelease(array);
    return errSecSuccess;
}

static OSStatus evaluate(CFMutableArrayRef trust) {
    CFArrayRef certificates = CFArrayGetValueAtIndex(trust, 0);
    STACK_OF(X509) *others = sk_X509_new_null();
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *attempt = X509_STORE_CTX_new();
    char name[256];
    OSStatus status;
    if (!CFStringGetCString(CFArrayGetValueAtIndex(trust, 1), name, sizeof name, kCFStringEncodingUTF8)) abort();
    for (int index = 0; index < sk_X509_num(roots); index++) X509_STORE_add_cert(store, sk_X509_value(roots, index));
    for (CFIndex index = 0; index < CFArrayGetCount(certificates); index++) {
        CFDataRef data = CFArrayGetValueAtIndex(certificates, index);
        sk_X509_push(others, parse(CFDataGetBytePtr(data), CFDataGetLength(data)));
    }
    X509 *leaf = sk_X509_value(others, 0);
    for (int index = 0; may_fetch && index < sk_X509_num(published); index++) {
        sk_X509_push(others, sk_X509_value(published, index));
        X509_up_ref(sk_X509_value(published, index));
    }
    X509_STORE_CTX_init(attempt, store, leaf, others);
    X509_STORE_CTX_set_default(attempt, "ssl_server");
    if (X509_verify_cert(attempt) != 1) {
        status = code_of(X509_STORE_CTX_get_error(attempt));
    } else if (name[0] != 0 && X509_check_host(leaf, name, 0, 0, NULL) != 1) {
        status = errSecHostNameMismatch;
    } else {
        status = keep_chain(trust, X509_STORE_CTX_get0_chain(attempt));
    }
    X509_STORE_CTX_free(attempt);
    X509_STORE_free(store);
    sk_X509_pop_free(others, X509_free);
    ERR_clear_error();
    return status;
}

/* "Return value: true if the certificate is trusted; otherwise, false." "error: An error pointer the method uses to return an
 * error when trust evaluation fails." */
bool SecTrustEvaluateWithError(SecTrustRef trust, CFErrorRef *error) {
    OSStatus status = evaluate((CFMutableArrayRef)trust);
    evaluations++;
    if (status == errSecSuccess) return true;
    if (is_refused()) return false;
    CFStringRef domain = __real_CFStringCreateWithCString(NULL, "NSOSStatusErrorDomain", kCFStringEncodingASCII);
    *error = given(CFErrorCreate(NULL, domain, status, NULL));
    __real_CFRelease(domain);
    return false;
}

/* "Returns an array of the certificates in the trust's certificate chain", of which the first is the leaf. */
CFArrayRef SecTrustCopyCertificateChain(SecTrustRef pointer) {
    CFArrayRef trust = (CFArrayRef)pointer;
    return CFArrayGetCount(trust) < 3 ? NULL : given(CFRetain(CFArrayGetValueAtIndex(trust, 2)));
}

static void add(STACK_OF(X509) **stack, const uint8_t *der, size_t count) {
    if (*stack == NULL) *stack = sk_X509_new_null();
    sk_X509_push(*stack, parse(der, (CFIndex)count));
}

void model_trust(const uint8_t *der, size_t count) { add(&roots, der, count); }

void model_publish(const uint8_t *der, size_t count) { add(&published, der, count); }

void model_forget(void) {
    sk_X509_pop_free(roots, X509_free);
    sk_X509_pop_free(published, X509_free);
    roots = published = NULL;
}

long model_evaluations(void) { return evaluations; }

long model_objects(void) { return owned; }

int model_was_named(void) { return was_named; }

void model_fail_after(long count) { calls_left = count; }
