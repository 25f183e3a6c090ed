internal import CDirectOpenSSL

/// Builds the store of trusted roots.
enum TrustStore {
    /// Returns a store with these roots. The caller owns one reference.
    ///
    /// - Parameter judge: The judge that stands for the system's roots, which are not in the store then.
    static func make(
        _ roots: TrustRoots,
        judge: ChainJudge? = nil,
        revocation: RevocationLists? = nil
    ) throws(TLSError) -> OpaquePointer {
        guard let revocation else { return try filled(roots, judge: judge) }
        // A store of its own: the one of the system's roots is shared with contexts that have no lists.
        var roots = roots
        if roots == .system { roots = .systemAnd([]) }
        let store = try filled(roots, judge: judge)
        do throws(TLSError) {
            try revocation.add(to: store)
        } catch {
            X509_STORE_free(store)
            throw error
        }
        return store
    }

    private static func filled(_ roots: TrustRoots, judge: ChainJudge?) throws(TLSError) -> OpaquePointer {
        switch roots {
        case .system:
            return judge == nil ? try SystemRoots.shared() : try filled { _ in }
        case .systemAnd(let sources):
            return try filled { store throws(TLSError) in
                if judge == nil { try SystemRoots.find().add(to: store) }
                for source in sources { try add(source, to: store) }
            }
        case .only(let sources):
            guard !sources.isEmpty else { throw .badSettings("the list of trusted roots is empty") }
            return try filled { store throws(TLSError) in
                for source in sources { try add(source, to: store) }
            }
        }
    }

    /// Returns a new store after `fill`, and frees it if that fails.
    static func filled(_ fill: (OpaquePointer) throws(TLSError) -> Void) throws(TLSError) -> OpaquePointer {
        guard let store = X509_STORE_new() else { throw .badSettings("no memory for a trust store") }
        // For what is not verified for a handshake, which has a level of its own: the certificate of a
        // responder, and its key.
        X509_VERIFY_PARAM_set_auth_level(
            X509_STORE_get0_param(store),
            CertificateRules.standard.minimumSecurityLevel
        )
        do throws(TLSError) {
            ErrorQueue.clear()
            try fill(store)
            try demandWholeRoots(in: store)
            return store
        } catch {
            X509_STORE_free(store)
            throw error
        }
    }

    /// Returns a store with one certificate as its root, even if a root of its own has issued it. The caller
    /// owns it.
    static func anchored(at certificate: OpaquePointer) throws(TLSError) -> OpaquePointer {
        try filled { store throws(TLSError) in
            X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
            // The store adds a reference of its own.
            guard X509_STORE_add_cert(store, certificate) == 1 else {
                throw .badSettings("root: \(ErrorQueue.drainedReason())")
            }
        }
    }

    private static func add(_ source: CertificateSource, to store: OpaquePointer) throws(TLSError) {
        switch source {
        case .pemFile(let path):
            try RootFile(path: path).certificates().add(to: store)
        case .pem(let bytes):
            try CertificateList(pem: bytes, as: "roots").add(to: store)
        case .der(let bytes):
            try CertificateList(der: bytes).add(to: store)
        }
    }
}
