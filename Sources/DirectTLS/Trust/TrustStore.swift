internal import CDirectOpenSSL

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A store of OpenSSL's whose roots are in indexes of ours.
///
/// OpenSSL's own store takes the first root of a subject whose key identifier does not contradict, and asks
/// no further place when it has one. So an old copy of a root, or one of the same name with another key,
/// would hide the root that has issued a certificate. Here each root of the subject is tried by the
/// signature.
final class TrustStore: Sendable {
    private let indexes: [RootIndex]

    private init(_ indexes: [RootIndex]) { self.indexes = indexes }

    /// Returns a store with these roots. The caller owns one reference.
    ///
    /// - Parameter judge: The judge that stands for the system's roots, which are not in the store then.
    static func make(
        _ roots: TrustRoots,
        judge: ChainJudge? = nil,
        revocation: RevocationLists? = nil
    ) throws(TLSError) -> OpaquePointer {
        let system = judge == nil && roots.includesSystem ? [try SystemRoots.shared()] : []
        let sources = roots.sources
        guard roots.includesSystem || !sources.isEmpty else {
            throw .badSettings("the list of trusted roots is empty")
        }
        return try make(system + [try RootIndex(sources)], revocation: revocation)
    }

    /// Returns a store with these roots. The caller owns one reference.
    static func make(
        _ indexes: [RootIndex],
        revocation: RevocationLists? = nil
    ) throws(TLSError) -> OpaquePointer {
        let store = try empty()
        let roots = Unmanaged.passRetained(TrustStore(indexes))
        // The store frees it.
        guard X509_STORE_set_ex_data(store, place, roots.toOpaque()) == 1 else {
            roots.release()
            X509_STORE_free(store)
            throw .badSettings("roots: \(noMemory)")
        }
        X509_STORE_set_get_issuer(store, findIssuer)
        X509_STORE_set_lookup_certs(store, findNamesakes)
        do throws(TLSError) {
            try revocation?.add(to: store)
        } catch {
            X509_STORE_free(store)
            throw error
        }
        return store
    }

    /// Returns a store with one certificate as its root, even if a root of its own has issued it. The caller
    /// owns it.
    static func anchored(at certificate: OpaquePointer) throws(TLSError) -> OpaquePointer {
        let store = try empty()
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        // The store adds a reference of its own.
        guard X509_STORE_add_cert(store, certificate) == 1 else {
            X509_STORE_free(store)
            throw .badSettings("root: \(ErrorQueue.drainedReason())")
        }
        return store
    }

    private static func empty() throws(TLSError) -> OpaquePointer {
        ErrorQueue.clear()
        guard let store = X509_STORE_new() else { throw .badSettings("no memory for a trust store") }
        // For what is not verified for a handshake, which has a level of its own: the certificate of a
        // responder, and its key.
        X509_VERIFY_PARAM_set_auth_level(
            X509_STORE_get0_param(store),
            CertificateRules.lowestSecurityLevel
        )
        return store
    }

    /// The place of a store's own data.
    private static let place = CRYPTO_get_ex_new_index(
        CRYPTO_EX_INDEX_X509_STORE,
        0,
        nil,
        nil,
        nil,
        { _, roots, _, _, _, _ in roots.map { Unmanaged<TrustStore>.fromOpaque($0).release() } }
    )

    fileprivate static func of(_ check: OpaquePointer) -> TrustStore? {
        from(X509_STORE_CTX_get0_store(check))
    }

    private static func from(_ store: OpaquePointer?) -> TrustStore? {
        X509_STORE_get_ex_data(store, place).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the indexes of a store; none if its roots are its own.
    static func indexes(of store: OpaquePointer?) -> [RootIndex] { from(store)?.indexes ?? [] }

    /// Returns the roots of this subject, each once. Borrowed.
    ///
    /// Of equal copies that which is marked as not to be trusted counts, wherever it stands: X509_cmp does
    /// not compare the marks.
    fileprivate func roots(named name: OpaquePointer?) -> [OpaquePointer] {
        var roots: [OpaquePointer] = []
        for root in indexes.flatMap({ $0.roots(named: name) }) {
            if let copy = roots.firstIndex(where: { X509_cmp($0, root) == 0 }) {
                let isRejected = X509_check_trust(root, X509_TRUST_SSL_SERVER, 0) == X509_TRUST_REJECTED
                if isRejected { roots[copy] = root }
            } else {
                roots.append(root)
            }
        }
        return roots
    }

    /// Returns the root that has issued the certificate: the certificate itself, if it is one; else of those
    /// whose key has signed it the first that is valid now, a self-signed one if possible, or ends last.
    /// Borrowed.
    ///
    /// If none has signed it, it is the first that might have, so that the fault is one of the signature.
    fileprivate func issuer(of certificate: OpaquePointer, _ check: OpaquePointer) -> OpaquePointer? {
        guard let isIssued = X509_STORE_CTX_get_check_issued(check) else { return nil }
        let named = roots(named: X509_get_issuer_name(certificate)).filter {
            isIssued(check, certificate, $0) == 1
        }
        guard named.count > 1 else { return named.first }
        if let same = named.first(where: { X509_cmp($0, certificate) == 0 }) { return same }
        defer { ErrorQueue.clear() }
        let signers = named.prefix(Self.mostCandidates).filter { root in
            X509_get0_pubkey(root).map { X509_verify(certificate, $0) == 1 } ?? false
        }
        let now = Self.moment(of: check)
        func end(_ root: OpaquePointer) -> Int { CertificateReader(root).notAfter ?? 0 }
        let valid = signers.filter { (CertificateReader($0).notBefore ?? .max) <= now && now <= end($0) }
        return valid.first(where: isSelfSigned) ?? valid.first ?? signers.max { end($0) < end($1) }
            ?? named.first
    }

    /// Each costs a signature check, and a server chooses the name.
    private static let mostCandidates = 16

    /// The time by which a chain is judged, in seconds since 1970.
    private static func moment(of check: OpaquePointer) -> Int {
        let parameters = X509_STORE_CTX_get0_param(check)
        let isSet = X509_VERIFY_PARAM_get_flags(parameters) & UInt(X509_V_FLAG_USE_CHECK_TIME) != 0
        return isSet ? X509_VERIFY_PARAM_get_time(parameters) : time(nil)
    }
}

extension TLSSettings {
    /// The first of the files that they name.
    package var firstFile: String? {
        if let path = clientIdentity?.files?.paths.first { return path }
        for case .pemFile(let path) in roots.sources { return path }
        return nil
    }
}

extension TrustRoots {
    fileprivate var includesSystem: Bool { if case .only = self { false } else { true } }

    fileprivate var sources: [CertificateSource] {
        switch self {
        case .system: []
        case .systemAnd(let sources), .only(let sources): sources
        }
    }
}

/// OpenSSL's callback for the trusted issuer of a certificate, of which it gets a reference.
private let findIssuer:
    @convention(c) (UnsafeMutablePointer<OpaquePointer?>?, OpaquePointer?, OpaquePointer?) -> Int32 =
        {
            result,
            check,
            certificate in
            guard let result, let check, let certificate, let store = TrustStore.of(check),
                let issuer = store.issuer(of: certificate, check), X509_up_ref(issuer) == 1
            else { return 0 }
            result.pointee = issuer
            return 1
        }

/// OpenSSL's callback for all trusted certificates of a subject: a stack with references.
private let findNamesakes: @convention(c) (OpaquePointer?, OpaquePointer?) -> OpaquePointer? = {
    check,
    name in
    guard let check, let store = TrustStore.of(check), let stack = OPENSSL_sk_new_null() else {
        return nil
    }
    for root in store.roots(named: name) where X509_up_ref(root) == 1 {
        if OPENSSL_sk_push(stack, UnsafeRawPointer(root)) <= 0 { X509_free(root) }
    }
    return stack
}
