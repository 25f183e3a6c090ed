/* What Sources/CDirectSecurity uses of Apple's frameworks CoreFoundation and Security, whose headers are not public without an
 * SDK. Each declaration is as Apple's reference shows it in C (developer.apple.com/documentation/NAME); the numbers are those
 * of "Security Framework Result Codes" and of SecBase.h and CFString.h in Apple's published sources. What the functions of
 * Security do is in model.c. */
#ifndef DIRECT_SECURITY_MODEL_H
#define DIRECT_SECURITY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* corefoundation */
typedef const void *CFTypeRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFData *CFDataRef;
typedef const struct __CFArray *CFArrayRef;
typedef struct __CFArray *CFMutableArrayRef;
typedef struct __CFError *CFErrorRef;
typedef long CFIndex;
typedef unsigned char Boolean;
typedef uint32_t CFStringEncoding;
typedef struct { CFIndex version; } CFArrayCallBacks;

extern const CFArrayCallBacks kCFTypeArrayCallBacks;
enum { kCFStringEncodingASCII = 0x0600, kCFStringEncodingUTF8 = 0x08000100 };

void CFRelease(CFTypeRef object);
CFDataRef CFDataCreate(CFAllocatorRef allocator, const uint8_t *bytes, CFIndex length);
const uint8_t *CFDataGetBytePtr(CFDataRef data);
CFIndex CFDataGetLength(CFDataRef data);
CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFArrayCallBacks *callBacks);
void CFArrayAppendValue(CFMutableArrayRef array, const void *value);
CFIndex CFArrayGetCount(CFArrayRef array);
const void *CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index);
CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text, CFStringEncoding encoding);
Boolean CFStringGetCString(CFStringRef string, char *buffer, CFIndex size, CFStringEncoding encoding);
CFIndex CFErrorGetCode(CFErrorRef error);
CFStringRef CFErrorCopyDescription(CFErrorRef error);

/* security */
typedef int32_t OSStatus;
typedef struct __SecCertificate *SecCertificateRef;
typedef struct __SecPolicy *SecPolicyRef;
typedef struct __SecTrust *SecTrustRef;

/* CF_ENUM(OSStatus) */
enum : OSStatus {
    errSecSuccess = 0,
    errSecAllocate = -108,
    errSecUnknownFormat = -25257,
    errSecCreateChainFailed = -25318,
    errSecHostNameMismatch = -67602,
    errSecCertificateExpired = -67818,
    errSecCertificateNotValidYet = -67819,
    errSecNotTrusted = -67843,
};

SecCertificateRef SecCertificateCreateWithData(CFAllocatorRef allocator, CFDataRef data);
CFDataRef SecCertificateCopyData(SecCertificateRef certificate);
SecPolicyRef SecPolicyCreateSSL(Boolean server, CFStringRef hostname);
OSStatus SecTrustCreateWithCertificates(CFTypeRef certificates, CFTypeRef policies, SecTrustRef *trust);
OSStatus SecTrustSetNetworkFetchAllowed(SecTrustRef trust, Boolean allowFetch);
bool SecTrustEvaluateWithError(SecTrustRef trust, CFErrorRef *error);
CFArrayRef SecTrustCopyCertificateChain(SecTrustRef trust);

#endif
