internal import CDirectOpenSSL

extension TLSConnection {
    /// OpenSSL's callback for a session that the server has made resumable: at the end of a TLS 1.2 handshake,
    /// and within any later read in TLS 1.3. Answers 1 to keep the reference it was handed.
    static let keepNewSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let ssl, let session, let connection = TLSConnection.owning(ssl) else { return 0 }
        return connection.keep(session) ? 1 : 0
    }

    /// The connection this `SSL` belongs to. It outlives its `SSL`, so the pointer cannot dangle.
    static func owning(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Offers the newest session of the same identity, port and context.
    func offerSession() {
        guard let (session, keys) = sessions?.take(sessionKey) else { return }
        chainKeys = keys
        // The `SSL` takes a reference of its own.
        _ = SSL_set_session(ssl, session)
        SSL_SESSION_free(session)
    }

    /// A session from before the server was checked waits until it has been.
    func storeEarlySession() {
        guard let session = earlySession else { return }
        earlySession = nil
        sessions?.store(session, for: sessionKey, keys: chainKeys)
    }

    /// Whether the reference is ours now.
    private func keep(_ session: OpaquePointer) -> Bool {
        guard let sessions else { return false }
        switch phase {
        case .open:
            sessions.store(session, for: sessionKey, keys: chainKeys)
        case .handshaking:
            if let earlySession { SSL_SESSION_free(earlySession) }
            earlySession = session
        case .over:
            return false
        }
        return true
    }
}
