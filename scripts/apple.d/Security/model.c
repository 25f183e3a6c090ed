/* A model of the functions of CoreFoundation and Security that Sources/CDirectSecurity calls, for tests on Linux. OpenSSL builds
 * the chains. It does what Apple's documents say, which each function names (developer.apple.com/documentation/security, and
 * /corefoundation), and nothing else: what they leave open, such as the texts of errors, caching, revocation, transparency logs
 * and the limits on the age of certificates, is not here, so nothing is proved about it. An object that is released too often
 * ends the program. */

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

/* How often a trust was evaluated, and how many objects exist that have not been released. */
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { DATA = 0x51AB, ARRAY, STRING, ERROR, CERTIFICATE, POLICY, TRUST };

struct object {
    enum kind kind;
    atomic_long references;
    uint8_t *bytes;
    CFIndex count;
    struct object **items;
    X509 *x509;
    OSStatus code;
    bool may_fetch;
};

const CFArrayCallBacks kCFTypeArrayCallBacks = {0};

static atomic_long objects, evaluations, calls_left = -1;
static atomic_int was_named;
static STACK_OF(X509) *roots, *published;

static struct object *make(enum kind kind) {
    if (atomic_load(&calls_left) >= 0 && atomic_fetch_sub(&calls_left, 1) == 0) return NULL;
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    object->references = 1;
    objects++;
    return object;
}

static struct object *check(const void *pointer, enum kind kind) {
    struct object *object = (struct object *)pointer;
    if (object == NULL || object->kind != kind || object->references < 1) {
        fprintf(stderr, "the model of Security was given an object that is gone or of another kind\n");
        abort();
    }
    return object;
}

/* "If the retain count of cf becomes zero the memory allocated to the object is deallocated"; "cf: This value must not be
 * NULL." */
void CFRelease(CFTypeRef pointer) {
    struct object *object = (struct object *)pointer;
    if (object == NULL) abort();
    check(object, object->kind);
    if (--object->references > 0) return;
    for (CFIndex index = 0; object->items != NULL && index < object->count; index++) CFRelease(object->items[index]);
    X509_free(object->x509);
    free(object->items);
    free(object->bytes);
    object->kind = 0;
    objects--;
    free(object);
}

static struct object *retain(struct object *object) {
    object->references++;
    return object;
}

/* "Creates an immutable CFData object using data copied from a specified byte buffer"; NULL "if there was a problem". */
CFDataRef CFDataCreate(CFAllocatorRef allocator, const uint8_t *bytes, CFIndex length) {
    struct object *data = make(DATA);
    (void)allocator;
    if (data == NULL) return NULL;
    data->bytes = malloc((size_t)length + 1);
    memcpy(data->bytes, bytes, (size_t)length);
    data->count = length;
    return (CFDataRef)data;
}

const uint8_t *CFDataGetBytePtr(CFDataRef data) { return check(data, DATA)->bytes; }

CFIndex CFDataGetLength(CFDataRef data) { return check(data, DATA)->count; }

/* "kCFTypeArrayCallBacks: … appropriate for use when the values in a CFArray are all CFType-derived objects": it retains them. */
CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFArrayCallBacks *callBacks) {
    (void)allocator, (void)capacity;
    if (callBacks != &kCFTypeArrayCallBacks) abort();
    return (CFMutableArrayRef)make(ARRAY);
}

void CFArrayAppendValue(CFMutableArrayRef pointer, const void *value) {
    struct object *array = check(pointer, ARRAY);
    array->items = realloc(array->items, (size_t)(array->count + 1) * sizeof *array->items);
    array->items[array->count++] = retain((struct object *)value);
}

CFIndex CFArrayGetCount(CFArrayRef array) { return check(array, ARRAY)->count; }

/* "If the index is outside the index space of theArray (0 to N-1 inclusive), the behavior is undefined": here the end. */
const void *CFArrayGetValueAtIndex(CFArrayRef pointer, CFIndex index) {
    struct object *array = check(pointer, ARRAY);
    if (index < 0 || index >= array->count) abort();
    return array->items[index];
}

static CFStringRef make_string(const char *text) {
    struct object *string = make(STRING);
    if (string != NULL) string->bytes = (uint8_t *)strdup(text);
    return (CFStringRef)string;
}

CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text, CFStringEncoding encoding) {
    (void)allocator;
    if (encoding != kCFStringEncodingASCII) abort();
    return make_string(text);
}

/* "Returns true upon success or false if the conversion fails or the provided buffer is too small." */
Boolean CFStringGetCString(CFStringRef pointer, char *buffer, CFIndex size, CFStringEncoding encoding) {
    struct object *string = check(pointer, STRING);
    if (encoding != kCFStringEncodingUTF8 || (CFIndex)strlen((char *)string->bytes) >= size) return false;
    strcpy(buffer, (char *)string->bytes);
    return true;
}

CFIndex CFErrorGetCode(CFErrorRef error) { return check(error, ERROR)->code; }

/* "Returns a human-presentable description for a given error." */
CFStringRef CFErrorCopyDescription(CFErrorRef error) {
    char text[64];
    snprintf(text, sizeof text, "the model's error %d", (int)check(error, ERROR)->code);
    return make_string(text);
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

static struct object *make_certificate(X509 *x509) {
    struct object *certificate = make(CERTIFICATE);
    if (certificate == NULL) return NULL;
    X509_up_ref(x509);
    certificate->x509 = x509;
    return certificate;
}

/* "Returns NULL if the data passed in the data parameter is not a valid DER-encoded X.509 certificate." */
SecCertificateRef SecCertificateCreateWithData(CFAllocatorRef allocator, CFDataRef pointer) {
    struct object *data = check(pointer, DATA), *certificate;
    X509 *x509 = parse(data->bytes, data->count);
    (void)allocator;
    if (x509 == NULL) return NULL;
    certificate = make_certificate(x509);
    X509_free(x509);
    return (SecCertificateRef)certificate;
}

/* "Returns a DER representation of a certificate given a certificate object"; NULL if the data "is not a valid" certificate. */
CFDataRef SecCertificateCopyData(SecCertificateRef certificate) {
    uint8_t *der = NULL;
    int count = i2d_X509(check(certificate, CERTIFICATE)->x509, &der);
    CFDataRef data = CFDataCreate(NULL, der, count);
    OPENSSL_free(der);
    return data;
}

/* "server: Specify true on the client side to return a policy for SSL server certificates. hostname: (Optional) If you specify a
 * value for this parameter, the policy will require the specified value to match the host name in the leaf certificate." */
SecPolicyRef SecPolicyCreateSSL(Boolean server, CFStringRef hostname) {
    struct object *policy = make(POLICY);
    if (!server) abort();
    was_named = hostname != NULL;
    if (policy != NULL && hostname != NULL) policy->bytes = (uint8_t *)strdup((char *)check(hostname, STRING)->bytes);
    return (SecPolicyRef)policy;
}

/* "certificates: The certificate to be verified, plus any other certificates you think might be useful for verifying the
 * certificate. The certificate to be verified must be the first in the array." "trust: On return, points to the newly created
 * trust management object. … call CFRelease to release this object when you are finished with it." */
OSStatus SecTrustCreateWithCertificates(CFTypeRef certificates, CFTypeRef policies, SecTrustRef *result) {
    struct object *trust = make(TRUST);
    if (trust == NULL) return errSecAllocate;
    trust->items = malloc(3 * sizeof *trust->items);
    trust->items[0] = retain(check(certificates, ARRAY));
    trust->items[1] = retain(check(policies, POLICY));
    trust->count = 2;
    /* "By default, network fetch of missing certificates is enabled if the trust evaluation includes the SSL policy." */
    trust->may_fetch = true;
    *result = (SecTrustRef)trust;
    return errSecSuccess;
}

/* "Pass false to disable network fetch for this trust evaluation." */
OSStatus SecTrustSetNetworkFetchAllowed(SecTrustRef trust, Boolean allowFetch) {
    check(trust, TRUST)->may_fetch = allowFetch;
    return errSecSuccess;
}

/* The texts of "Security Framework Result Codes": "An expired certificate was detected", "The certificate is not yet valid", "The
 * trust policy is not trusted", "A host name mismatch occurred". */
static OSStatus code_of(int fault) {
    switch (fault) {
        case X509_V_ERR_CERT_HAS_EXPIRED: return errSecCertificateExpired;
        case X509_V_ERR_CERT_NOT_YET_VALID: return errSecCertificateNotValidYet;
        default: return errSecNotTrusted;
    }
}

/* Keeps the chain as the third item of the trust. */
static OSStatus keep_chain(struct object *trust, STACK_OF(X509) *chain) {
    struct object *array = make(ARRAY);
    if (array == NULL) return errSecAllocate;
    for (int index = 0; index < sk_X509_num(chain); index++) {
        struct object *certificate = make_certificate(sk_X509_value(chain, index));
        if (certificate == NULL) {
            CFRelease(array);
            return errSecAllocate;
        }
        CFArrayAppendValue((CFMutableArrayRef)array, certificate);
        CFRelease(certificate);
    }
    trust->items[trust->count++] = array;
    return errSecSuccess;
}

static OSStatus evaluate(struct object *trust) {
    struct object *certificates = trust->items[0], *policy = trust->items[1];
    STACK_OF(X509) *others = sk_X509_new_null();
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *attempt = X509_STORE_CTX_new();
    X509 *leaf = check(certificates->items[0], CERTIFICATE)->x509;
    OSStatus status;
    for (int index = 0; roots != NULL && index < sk_X509_num(roots); index++) X509_STORE_add_cert(store, sk_X509_value(roots, index));
    for (CFIndex index = 1; index < certificates->count; index++) sk_X509_push(others, certificates->items[index]->x509);
    for (int index = 0; trust->may_fetch && published != NULL && index < sk_X509_num(published); index++) {
        sk_X509_push(others, sk_X509_value(published, index));
    }
    X509_STORE_CTX_init(attempt, store, leaf, others);
    X509_STORE_CTX_set_default(attempt, "ssl_server");
    if (X509_verify_cert(attempt) != 1) {
        status = code_of(X509_STORE_CTX_get_error(attempt));
    } else if (policy->bytes != NULL && X509_check_host(leaf, (char *)policy->bytes, 0, 0, NULL) != 1) {
        status = errSecHostNameMismatch;
    } else {
        status = keep_chain(trust, X509_STORE_CTX_get0_chain(attempt));
    }
    X509_STORE_CTX_free(attempt);
    X509_STORE_free(store);
    sk_X509_free(others);
    ERR_clear_error();
    return status;
}

/* "Return value: true if the certificate is trusted; otherwise, false." "error: An error pointer the method uses to return an
 * error when trust evaluation fails." */
bool SecTrustEvaluateWithError(SecTrustRef pointer, CFErrorRef *error) {
    struct object *trust = check(pointer, TRUST), *made;
    evaluations++;
    OSStatus status = evaluate(trust);
    if (status == errSecSuccess) return true;
    made = make(ERROR);
    if (made != NULL) made->code = status;
    *error = (CFErrorRef)made;
    return false;
}

/* "Returns an array of the certificates in the trust's certificate chain", of which the first is the leaf. */
CFArrayRef SecTrustCopyCertificateChain(SecTrustRef pointer) {
    struct object *trust = check(pointer, TRUST);
    return trust->count < 3 ? NULL : (CFArrayRef)retain(trust->items[2]);
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

long model_objects(void) { return objects; }

int model_was_named(void) { return was_named; }

void model_fail_after(long count) { calls_left = count; }
