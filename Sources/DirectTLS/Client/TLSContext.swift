internal import CDirectOpenSSL
internal import Synchronization

/// The state that all connections with the same settings share: one `SSL_CTX`, never changed after its
/// creation.
///
/// Immutable, and OpenSSL counts its references atomically: any thread may use it.
package final class TLSContext: @unchecked Sendable {
    /// The settings that the context was created with.
    package let settings: TLSSettings

    /// Distinguishes the sessions of this context from those of any other, even of one with equal settings
    /// that has read its files at another time.
    let number: UInt64

    /// The judge of chains that stands for the system's roots; `nil` if all roots are in the store.
    let judge: ChainJudge?

    /// The oldest and the newest version to offer, as OpenSSL numbers them.
    let lowestVersion, highestVersion: Int32
    /// The oldest version that OpenSSL's configuration file allows; 0 if it allows all.
    let systemMinimum: Int32

    /// When the first of the revocation lists ends, in seconds since 1970; `nil` without one.
    private(set) var revocationExpiry: Int?

    /// Owned: freed in `deinit`. Every `SSL` created from it holds a reference of its own.
    let raw: OpaquePointer

    /// Reads files of roots and parses the caller's certificates. Must not be called on an event loop.
    package init(_ settings: TLSSettings) throws(TLSError) {
        try OpenSSLLibrary.start()
        ErrorQueue.clear()
        guard let raw = SSL_CTX_new(TLS_client_method()) else {
            throw .badSettings(ErrorQueue.drainedReason())
        }
        self.settings = settings
        self.raw = raw
        judge = settings.roots.judge(settings.judge)
        // `SSL_CTX_new` has applied the configuration file (config(5), "system_default"), before which all
        // versions count as allowed: 0.
        systemMinimum = direct_SSL_CTX_get_min_proto_version(raw)
        let systemMaximum = direct_SSL_CTX_get_max_proto_version(raw)
        let (lowest, highest) = (
            Int32(settings.minimumVersion.rawValue), Int32(settings.maximumVersion.rawValue)
        )
        lowestVersion = settings.choosesMinimum ? lowest : max(lowest, systemMinimum)
        highestVersion =
            settings.choosesMaximum || systemMaximum == 0 ? highest : min(highest, systemMaximum)
        number = contextNumbers.add(1, ordering: .relaxed).newValue
        try restrictProtocol()
        try restrictAlgorithms()
        setModes()
        try setTrust()
        guard let identity = settings.clientIdentity else { return }
        try identity.install(in: raw)
        SSL_CTX_set_cert_cb(raw, judgeBeforeIdentity, nil)
    }

    deinit {
        SSL_CTX_free(raw)
    }

    /// Whether files of the system's roots had a fault, as while they are written.
    package var lacksRoots: Bool { indexes.contains(where: \.lacksRoots) }

    /// Whether such a file is another one now. Must not be called on an event loop.
    package var isOutdated: Bool { indexes.contains(where: \.isOutdated) }

    private var indexes: [RootIndex] { TrustStore.indexes(of: SSL_CTX_get_cert_store(raw)) }

    private func restrictProtocol() throws(TLSError) {
        let (lowest, highest) = (TLSVersion.text(of: lowestVersion), TLSVersion.text(of: highestVersion))
        guard lowestVersion <= highestVersion else {
            throw .badSettings("\(lowest) is newer than \(highest)")
        }
        guard direct_SSL_CTX_set_version_range(raw, lowestVersion, highestVersion) == 1 else {
            throw .badSettings("\(lowest) to \(highest): \(ErrorQueue.drainedReason())")
        }
        SSL_CTX_set_options(raw, direct_SSL_OP_NO_RENEGOTIATION() | direct_SSL_OP_NO_COMPRESSION())
        // Zero means success here, unlike in other functions.
        guard SSL_CTX_set_alpn_protos(raw, offeredProtocols, UInt32(offeredProtocols.count)) == 0 else {
            throw .badSettings("ALPN: \(ErrorQueue.drainedReason())")
        }
    }

    private func setModes() {
        // A partial write is reported as such, and the rest may be at another address.
        let writing = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        // Our own chain is sent as configured, not as OpenSSL would complete it from the roots.
        direct_SSL_CTX_set_mode(raw, Int(writing | SSL_MODE_NO_AUTO_CHAIN))
        limitMessages(of: raw)
        limitCertificates(of: raw, to: settings.maximumCertificateBytes)
        // One read of the transport for each record, not one for its header and one for the rest.
        direct_SSL_CTX_set_read_ahead(raw, 1)
        guard settings.resumesSessions else {
            direct_SSL_CTX_set_session_cache_mode(raw, Int(SSL_SESS_CACHE_OFF))
            SSL_CTX_set_options(raw, direct_SSL_OP_NO_TICKET())
            return
        }
        let storing = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
        direct_SSL_CTX_set_session_cache_mode(raw, Int(storing))
        SSL_CTX_sess_set_new_cb(raw, TLSConnection.keepNewSession)
    }

    private func setTrust() throws(TLSError) {
        let store = try TrustStore.make(settings.roots, judge: judge, revocation: settings.revocationLists)
        // The context adds a reference of its own.
        SSL_CTX_set1_cert_store(raw, store)
        defer { X509_STORE_free(store) }
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(raw, checkServerChain, nil)
        settings.certificateRules.restrict(raw)
        if let lists = settings.revocationLists {
            X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(raw), lists.flags)
            revocationExpiry = RevocationLists.expiry(in: store)
        }
        if settings.stapling != .ignored { direct_SSL_CTX_request_staples(raw) }
        if settings.insecureKeyLog != nil { SSL_CTX_set_keylog_callback(raw, logKey) }
    }
}

private let contextNumbers = Atomic<UInt64>(0)

extension TLSContext {
    /// Verifies a chain like a handshake, but without a connection.
    ///
    /// - Parameters:
    ///   - chain: The server's certificate in DER, followed by the other certificates that it sends, in any
    ///     order.
    ///   - identity: The identity that the server's certificate must prove.
    ///   - time: The time for checking dates, in seconds since 1970; `nil` means now.
    ///   - intermediates: The largest number of certificates between the server's and a root.
    /// - Returns: The reason why the chain is not trusted, or `nil` if it is.
    package func verify(
        _ chain: [[UInt8]],
        for identity: ServerIdentity,
        at time: Int? = nil,
        intermediates: Int? = nil
    ) -> TLSError? {
        do throws(TLSError) {
            let certificates = try chain.map { bytes throws(TLSError) in try CertificateList(der: bytes) }
            // All pointers below borrow from the certificates.
            defer { withExtendedLifetime(certificates) {} }
            guard let leaf = certificates.first?.first else { throw .noPeerCertificate }
            guard let sent = OPENSSL_sk_new_null() else { throw .badSettings(noMemory) }
            defer { OPENSSL_sk_free(sent) }
            for list in certificates { list.first.map { _ = OPENSSL_sk_push(sent, UnsafeRawPointer($0)) } }
            let roots = SSL_CTX_get_cert_store(raw)
            return try withCheck(of: leaf, sent: sent, roots: roots, context: raw, time: time) {
                check throws(TLSError) in
                let parameters = X509_STORE_CTX_get0_param(check)
                guard identity.demand(in: parameters) else {
                    throw .uncheckableHost("cannot be checked: \(printable(identity.text))")
                }
                if let intermediates {
                    X509_VERIFY_PARAM_set_depth(parameters, Int32(clamping: intermediates))
                }
                let rules = settings.certificateRules
                return ChainCheck(check, rules: rules, expected: identity.text).run().first.map(TLSError.init)
            }
        } catch {
            return error
        }
    }
}

/// The cipher suites and groups of a context.
extension TLSContext {
    /// Restricts cipher suites and groups to those of the settings, if they name any.
    func restrictAlgorithms() throws(TLSError) {
        if let suites = settings.cipherSuites { try restrict(toSuites: suites) }
        if let groups = settings.groups { try restrict(toGroups: groups) }
    }

    /// The suites of TLS 1.3 and of older versions are separate lists in OpenSSL. A version for which no
    /// suite is named is not offered.
    private func restrict(toSuites suites: [String]) throws(TLSError) {
        var new: [String] = []
        var old: [String] = []
        for suite in suites {
            guard let name = OPENSSL_cipher_name(suite).map({ String(cString: $0) }), name != "(NONE)" else {
                throw .badSettings("unknown cipher suite \(printable(suite))")
            }
            if name.hasPrefix("TLS_") { new.append(name) } else { old.append(name) }
        }
        let lowest = old.isEmpty ? TLS1_3_VERSION : lowestVersion
        let highest = new.isEmpty ? TLS1_2_VERSION : highestVersion
        guard !suites.isEmpty, lowest <= highest else {
            throw .badSettings(
                "no cipher suite is left for \(TLSVersion.text(of: lowestVersion)) to "
                    + TLSVersion.text(of: highestVersion)
            )
        }
        ErrorQueue.clear()
        guard new.isEmpty || SSL_CTX_set_ciphersuites(raw, new.joined(separator: ":")) == 1,
            old.isEmpty || SSL_CTX_set_cipher_list(raw, old.joined(separator: ":")) == 1,
            direct_SSL_CTX_set_version_range(raw, lowest, highest) == 1
        else { throw .badSettings("cipher suites: \(ErrorQueue.drainedReason())") }
        try refuseBareSuites()
    }

    /// Refuses suites that encrypt nothing, and those without a certificate.
    private func refuseBareSuites() throws(TLSError) {
        let suites = SSL_CTX_get_ciphers(raw)
        for index in 0..<max(0, OPENSSL_sk_num(suites)) {
            guard let suite = OPENSSL_sk_value(suites, index).map({ OpaquePointer($0) }) else { continue }
            guard
                SSL_CIPHER_get_cipher_nid(suite) == NID_undef
                    || SSL_CIPHER_get_auth_nid(suite) == NID_auth_null
            else { continue }
            throw .badSettings(
                "cipher suite without encryption or certificate: \(String(cString: SSL_CIPHER_get_name(suite)))"
            )
        }
    }

    private func restrict(toGroups groups: [String]) throws(TLSError) {
        // A colon, or an empty name, would change the meaning of the list.
        guard !groups.isEmpty, groups.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: ":")) })
        else {
            throw .badSettings("the list of groups is empty or has an invalid name")
        }
        ErrorQueue.clear()
        guard direct_SSL_CTX_set1_groups_list(raw, groups.joined(separator: ":")) == 1 else {
            let names = groups.map(printable).joined(separator: ", ")
            throw .badSettings("groups \(names): \(ErrorQueue.drainedReason())")
        }
    }
}
