internal import CDirectOpenSSL

/// A TLS connection to a server that must prove its identity.
///
/// Reads and writes are refused until it has, so no byte of a request is sent before the certificate was accepted.
package final class TLSConnection: TLSLayer, @unchecked Sendable {
    /// The identity that the server's certificate must prove.
    package let identity: ServerIdentity

    let context: TLSContext
    let sessions: SessionCache?
    let sessionKey: SessionKey

    /// The fault that certificate verification found, for the error with which the handshake fails.
    var rejection: VerificationFailure?
    /// The keys of the verified chain, of this handshake or of the one that is resumed. Empty if there are no pins to
    /// check.
    var chainKeys: [KeyPin] = []
    /// A session that arrived before the server was verified. Owned.
    var earlySession: OpaquePointer?

    /// Prepares a connection that will prove `identity` and offer a session of the same identity and `port`. No bytes
    /// are sent yet.
    package init(
        context: TLSContext,
        identity: ServerIdentity,
        transport: TLSTransport,
        sessions: SessionCache? = nil,
        port: UInt16 = 443
    ) throws(TLSError) {
        self.identity = identity
        self.context = context
        self.sessions = context.settings.resumesSessions ? sessions : nil
        sessionKey = SessionKey(identity: identity, port: port, context: context.number)
        try super.init(context: context.raw, transport: transport)
        try configureVerification()
        offerSession()
    }

    deinit {
        if let earlySession { SSL_SESSION_free(earlySession) }
    }

    /// Continues the handshake. `.done` guarantees a certificate verified for the identity, also on a resumed
    /// session.
    package override func handshake() -> HandshakeStep {
        let wasOpen = phase == .open
        let step = handshake(rejection: rejection?.error) { () throws(TLSError) in try verifyPeer() }
        if case .done = step, !wasOpen { storeEarlySession() }
        return step
    }
}
