internal import CDirectOpenSSL

extension TLSConnection {
    /// OpenSSL's callback for a new session that can be resumed: at the end of a TLS 1.2 handshake, and within any
    /// later read in TLS 1.3. Returns 1 to keep the reference it was passed.
    static let keepNewSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let ssl, let session, let connection = TLSConnection.owning(ssl) else { return 0 }
        return connection.keep(session) ? 1 : 0
    }

    /// Returns the connection that this `SSL` belongs to. It outlives its `SSL`, so the pointer cannot dangle.
    static func owning(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Offers the newest session of the same identity, port and context.
    func offerSession() {
        guard let (session, keys) = sessions?.take(sessionKey) else { return }
        chainKeys = keys
        // The `SSL` adds a reference of its own.
        _ = SSL_set_session(ssl, session)
        SSL_SESSION_free(session)
    }

    /// Stores the session that arrived before the server was verified. It must not be stored earlier.
    func storeEarlySession() {
        guard let session = earlySession else { return }
        earlySession = nil
        sessions?.store(session, for: sessionKey, keys: chainKeys)
    }

    /// Keeps a new session. Returns whether the connection now owns the reference.
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
