internal import CDirectOpenSSL

// If memory runs out while OpenSSL reads a certificate, it may report success and keep a certificate without
// its key, or one whose extensions count as invalid. A root stays in its store and is never read again, so
// every certificate below it would be rejected for as long as the store exists.

extension TrustStore {
    /// Makes OpenSSL read now all parts of each root that it would otherwise read during handshakes. Throws
    /// if memory ran out.
    static func demandWholeRoots(in store: OpaquePointer) throws(TLSError) {
        X509_STORE_lock(store)
        let objects = X509_STORE_get0_objects(store)
        let isDamaged = (0..<max(0, OPENSSL_sk_num(objects))).contains { index in
            guard let object = OPENSSL_sk_value(objects, index) else { return false }
            return X509_OBJECT_get0_X509(OpaquePointer(object)).map(isDamagedRoot) ?? false
        }
        X509_STORE_unlock(store)
        guard !ErrorQueue.drainSaysNoMemory(), !isDamaged else { throw .badSettings("roots: \(noMemory)") }
    }
}

let noMemory = "not enough memory"

/// Whether the certificate lacks a part that it has when the same bytes are read again.
func isDamagedRoot(_ root: OpaquePointer) -> Bool {
    let (hasKey, flags) = (X509_get0_pubkey(root) != nil, X509_get_extension_flags(root))
    guard !hasKey || flags & extensionFaults != 0 || flags & selfSigned == selfIssued else { return false }
    guard let copy = X509_dup(root) else { return true }
    defer { X509_free(copy) }
    return hasKey != (X509_get0_pubkey(copy) != nil) || flags != X509_get_extension_flags(copy)
}

private let extensionFaults = UInt32(bitPattern: EXFLAG_INVALID | EXFLAG_NO_FINGERPRINT)
/// A root that names itself as its issuer is self-signed, as a rule.
private let selfIssued = UInt32(bitPattern: EXFLAG_SI)
private let selfSigned = UInt32(bitPattern: EXFLAG_SI | EXFLAG_SS)
