#ifndef CDIRECTSECURITY_SHIM_H
#define CDIRECTSECURITY_SHIM_H

/* Apple's trust store behind one function without any of its types. Empty where there is no framework Security. */
#if __has_include(<Security/Security.h>)
#include <Security/Security.h>

/* What is asked. All pointers are borrowed for the call. */
struct direct_chain_question {
    /* The certificates in DER, one behind the other, the server's first, and how many bytes each has. */
    const uint8_t *bytes;
    const size_t *counts;
    size_t number;
    /* The name in ASCII that the server's certificate has to be for; NULL for any. */
    const char *name;
    /* Whether missing certificates may be fetched from the network. */
    bool may_fetch;
};

/* What is answered. */
struct direct_chain_answer {
    /* Called for each certificate of a trusted chain, from the server's to its root. The bytes are borrowed. */
    void (*found)(void *context, const uint8_t *bytes, size_t count);
    void *context;
    /* The reason in UTF-8 why a chain is not trusted; empty if none is given. */
    char reason[512];
};

/* Functions whose names have "Create" or "Copy" return an object that we own ("The Create Rule", Memory Management
 * Programming Guide for Core Foundation); those with "Get" return one that is borrowed ("The Get Rule"). An array retains
 * what is added to it (kCFTypeArrayCallBacks). */

/* Returns the certificates as objects. The caller owns the array. A certificate that the system cannot read is left out, but
 * not the server's own: then the result is NULL. */
static inline CFArrayRef direct_copy_certificates(const struct direct_chain_question *question) {
    CFMutableArrayRef certificates = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
    const uint8_t *bytes = question->bytes;
    for (size_t index = 0; certificates != NULL && index < question->number; index++) {
        CFDataRef data = CFDataCreate(NULL, bytes, (CFIndex)question->counts[index]);
        SecCertificateRef certificate = data == NULL ? NULL : SecCertificateCreateWithData(NULL, data);
        if (data != NULL) CFRelease(data);
        bytes += question->counts[index];
        if (certificate != NULL) {
            CFArrayAppendValue(certificates, certificate);
            CFRelease(certificate);
        } else if (index == 0) {
            CFRelease(certificates);
            return NULL;
        }
    }
    return certificates;
}

/* Tells the chain of a trust that was evaluated. */
static inline OSStatus direct_tell_chain(SecTrustRef trust, struct direct_chain_answer *answer) {
    CFArrayRef chain = SecTrustCopyCertificateChain(trust);
    if (chain == NULL) return errSecNotTrusted;
    CFIndex count = CFArrayGetCount(chain);
    for (CFIndex index = 0; index < count; index++) {
        SecCertificateRef certificate = (SecCertificateRef)CFArrayGetValueAtIndex(chain, index);
        CFDataRef data = SecCertificateCopyData(certificate);
        if (data == NULL) {
            CFRelease(chain);
            return errSecAllocate;
        }
        answer->found(answer->context, CFDataGetBytePtr(data), (size_t)CFDataGetLength(data));
        CFRelease(data);
    }
    CFRelease(chain);
    return errSecSuccess;
}

/* Returns the code of an error, with its text in the answer, and releases it. */
static inline OSStatus direct_take_error(CFErrorRef error, struct direct_chain_answer *answer) {
    if (error == NULL) return errSecNotTrusted;
    OSStatus code = (OSStatus)CFErrorGetCode(error);
    CFStringRef text = CFErrorCopyDescription(error);
    if (text != NULL) {
        if (!CFStringGetCString(text, answer->reason, sizeof answer->reason, kCFStringEncodingUTF8)) answer->reason[0] = 0;
        CFRelease(text);
    }
    CFRelease(error);
    return code == errSecSuccess ? errSecNotTrusted : code;
}

/* Evaluates a chain by a policy. It blocks. */
static inline OSStatus direct_evaluate(
    CFArrayRef certificates, SecPolicyRef policy, bool may_fetch, struct direct_chain_answer *answer
) {
    SecTrustRef trust = NULL;
    OSStatus status = SecTrustCreateWithCertificates(certificates, policy, &trust);
    if (status == errSecSuccess && trust == NULL) status = errSecAllocate;
    if (status == errSecSuccess) status = SecTrustSetNetworkFetchAllowed(trust, may_fetch);
    if (status == errSecSuccess) {
        CFErrorRef error = NULL;
        if (SecTrustEvaluateWithError(trust, &error)) {
            status = direct_tell_chain(trust, answer);
        } else {
            status = direct_take_error(error, answer);
        }
    }
    if (trust != NULL) CFRelease(trust);
    return status;
}

/* Asks the system's trust store, which blocks. Returns errSecSuccess if it trusts the chain, else the reason as a code. */
static inline OSStatus direct_judge_chain(const struct direct_chain_question *question, struct direct_chain_answer *answer) {
    answer->reason[0] = 0;
    CFStringRef name = NULL;
    if (question->name != NULL) {
        name = CFStringCreateWithCString(NULL, question->name, kCFStringEncodingASCII);
        /* Without a name, any certificate would do. */
        if (name == NULL) return errSecAllocate;
    }
    OSStatus status = errSecAllocate;
    CFArrayRef certificates = direct_copy_certificates(question);
    SecPolicyRef policy = SecPolicyCreateSSL(true, name);
    if (certificates == NULL) {
        status = errSecUnknownFormat;
    } else if (policy != NULL) {
        status = direct_evaluate(certificates, policy, question->may_fetch, answer);
    }
    if (policy != NULL) CFRelease(policy);
    if (certificates != NULL) CFRelease(certificates);
    if (name != NULL) CFRelease(name);
    return status;
}

#endif
#endif
