internal import CDirectOpenSSL

/// The `SSL_CTX` of a server. The ClientHello callback sets the certificates for each connection, so all
/// names share one context and, as on real servers, one set of ticket keys.
final class TLSContext: @unchecked Sendable {
    let context: OpaquePointer
    let settings: FixtureTLSSettings
    /// The forced ALPN answer. OpenSSL keeps a pointer to it, so it is freed with the context.
    private let forcedProtocol: UnsafeMutableBufferPointer<UInt8>

    init(_ settings: FixtureTLSSettings) throws(FixtureError) {
        guard settings.minimumVersion.rawValue <= settings.maximumVersion.rawValue else {
            throw .badSettings("the oldest TLS version is newer than the newest")
        }
        direct_start_OpenSSL()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw openSSLError("SSL_CTX_new") }
        self.context = context
        self.settings = settings
        let forced = Array((settings.forcedApplicationProtocol ?? "").utf8)
        forcedProtocol = .allocate(capacity: forced.count)
        _ = forcedProtocol.initialize(from: forced)

        try setUpVersionsAndCiphers()
        try setUpResumption()
        try setUpClientCertificates()
        try settings.encryptedClientHello?.install(in: context)
        setUpCallbacks()
    }

    deinit {
        SSL_CTX_free(context)
        forcedProtocol.deallocate()
    }

    private func setUpVersionsAndCiphers() throws(FixtureError) {
        let (lowest, highest) = (settings.minimumVersion.rawValue, settings.maximumVersion.rawValue)
        guard fixture_SSL_CTX_set_versions(context, lowest, highest) == 1 else {
            throw openSSLError("TLS versions")
        }
        guard SSL_CTX_set_cipher_list(context, settings.ciphers) == 1 else {
            throw openSSLError("ciphers \(settings.ciphers)")
        }
        if let groups = settings.groups, fixture_SSL_CTX_set1_groups_list(context, groups) != 1 {
            throw openSSLError("groups \(groups)")
        }
        try settings.diffieHellman?.install(in: context)
        fixture_SSL_CTX_set_read_ahead(context)
        if settings.allowsRenegotiation { fixture_SSL_CTX_allow_renegotiation(context) }
    }

    private func setUpResumption() throws(FixtureError) {
        // Without a session id context, OpenSSL refuses to resume sessions if client certificates are
        // requested.
        SSL_CTX_set_session_id_context(context, "fixture", 7)
        SSL_CTX_set_num_tickets(context, settings.tickets)
        if settings.tickets == 0 {
            fixture_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
            fixture_SSL_CTX_forbid_tickets(context)
        }
        guard var keys = settings.ticketKeys else { return }
        guard fixture_SSL_CTX_set_ticket_keys(context, &keys, keys.count) == 1 else {
            throw openSSLError("ticket keys (80 bytes are wanted, \(keys.count) given)")
        }
    }

    /// Requests client certificates. With `.requested`, the callback accepts any certificate.
    private func setUpClientCertificates() throws(FixtureError) {
        switch settings.clientCertificates {
        case .none:
            return
        case .requested:
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { _, _ in 1 }
        case .required(let authorities):
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            let store = SSL_CTX_get_cert_store(context)
            for authority in authorities {
                guard X509_STORE_add_cert(store, authority.x509) == 1,
                    SSL_CTX_add_client_CA(context, authority.x509) == 1
                else { throw openSSLError("client authority \(authority.subject)") }
            }
        }
    }

    private func setUpCallbacks() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_client_hello_cb(
            context,
            { ssl, alert, me in answerHello(ssl, alert: alert, argument: me) },
            me
        )
        fixture_SSL_CTX_set_servername_callback(context) { ssl, alert, _ in acknowledgeName(ssl, alert: alert)
        }
        if settings.forcedApplicationProtocol != nil || !settings.applicationProtocols.isEmpty {
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, chosen, count, offered, offeredCount, me in
                    selectProtocol(
                        chosen,
                        count: count,
                        offered: UnsafeBufferPointer(start: offered, count: Int(offeredCount)),
                        argument: me
                    )
                },
                me
            )
        }
        if settings.ocspStaple != nil {
            fixture_SSL_CTX_set_status_callback(context) { ssl, me in staple(ssl, argument: me) }
            fixture_SSL_CTX_set_status_argument(context, me)
        }
    }

    fileprivate var forcedAnswer: UnsafeBufferPointer<UInt8>? {
        settings.forcedApplicationProtocol == nil ? nil : UnsafeBufferPointer(forcedProtocol)
    }
}

/// The ``Wire`` of an `SSL`.
private func wire(of ssl: OpaquePointer?) -> Wire? {
    SSL_get_ex_data(ssl, 0).map { Unmanaged<Wire>.fromOpaque($0).takeUnretainedValue() }
}

/// The context that a callback was registered with.
private func tlsContext(_ argument: UnsafeMutableRawPointer?) -> TLSContext? {
    argument.map { Unmanaged<TLSContext>.fromOpaque($0).takeUnretainedValue() }
}

/// The ClientHello callback: records the ClientHello and sets the certificates for its server name, or
/// refuses it.
private func answerHello(
    _ ssl: OpaquePointer?,
    alert: UnsafeMutablePointer<Int32>?,
    argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let ssl, let wire = wire(of: ssl), let context = tlsContext(argument) else {
        return SSL_CLIENT_HELLO_ERROR
    }
    let hello = ClientHello(reading: ssl)
    // This runs again after a HelloRetryRequest. The first ClientHello shows what the client wanted.
    if wire.hello == nil { wire.hello = hello }
    let choice = context.settings.choice(for: hello.serverName)
    switch choice.answer {
    case .defaultCertificate:
        break
    case .warning:
        wire.refusal = .warning
    case .alert(let number):
        wire.refusal = choice.answer
        alert?.pointee = Int32(number)
        return SSL_CLIENT_HELLO_ERROR
    case .close, .reset:
        wire.refusal = choice.answer
        return SSL_CLIENT_HELLO_ERROR
    }
    for certificate in choice.certificates where !certificate.use(on: ssl) {
        return SSL_CLIENT_HELLO_ERROR
    }
    return SSL_CLIENT_HELLO_SUCCESS
}

/// The server name callback, which OpenSSL calls after the ClientHello callback. Its result decides whether
/// the client is told that its name was used.
private func acknowledgeName(_ ssl: OpaquePointer?, alert: UnsafeMutablePointer<Int32>?) -> Int32 {
    guard let wire = wire(of: ssl), wire.hello?.serverName != nil else { return SSL_TLSEXT_ERR_NOACK }
    guard wire.refusal == .warning else { return SSL_TLSEXT_ERR_OK }
    wire.refusal = nil
    alert?.pointee = SSL_AD_UNRECOGNIZED_NAME
    return SSL_TLSEXT_ERR_ALERT_WARNING
}

/// The ALPN callback: selects the server's first protocol that the client offers.
private func selectProtocol(
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    count: UnsafeMutablePointer<UInt8>?,
    offered: UnsafeBufferPointer<UInt8>,
    argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = tlsContext(argument) else { return SSL_TLSEXT_ERR_NOACK }
    if let forced = context.forcedAnswer {
        chosen?.pointee = forced.baseAddress
        count?.pointee = UInt8(clamping: forced.count)
        return SSL_TLSEXT_ERR_OK
    }
    for wanted in context.settings.applicationProtocols {
        var start = 0
        while start < offered.count {
            let end = min(start + 1 + Int(offered[start]), offered.count)
            if offered[(start + 1)..<end].elementsEqual(wanted.utf8) {
                chosen?.pointee = offered.baseAddress.map { $0 + start + 1 }
                count?.pointee = offered[start]
                return SSL_TLSEXT_ERR_OK
            }
            start = end
        }
    }
    // The only fatal alert that OpenSSL can send here is 120, no_application_protocol.
    return context.settings.refusesUnknownProtocols ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_NOACK
}

/// The OCSP callback: supplies the configured response.
private func staple(_ ssl: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let response = tlsContext(argument)?.settings.ocspStaple,
        fixture_SSL_set_ocsp_response(ssl, response, response.count) == 1
    else { return SSL_TLSEXT_ERR_NOACK }
    return SSL_TLSEXT_ERR_OK
}
