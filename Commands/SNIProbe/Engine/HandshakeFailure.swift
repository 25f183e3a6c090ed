internal import DirectHTTP

/// The reason why a probe has no finished handshake, or without TLS no connection.
enum HandshakeFailure: Error, Hashable, Sendable {
    /// The address has a zone that this machine does not know.
    case badAddress(String)
    /// Connecting failed.
    case notConnected(SystemError)
    /// The server did not answer the connection attempt before the deadline.
    case silentTCP
    /// The handshake was not finished before the deadline.
    case silentTLS
    /// The server sent this alert.
    case alert(TLSAlert)
    /// The server closed the connection during the handshake (FIN).
    case closed
    /// The server reset the connection during the handshake (RST).
    case reset
    /// The server does not use TLS.
    case notTLS(OtherProtocol)
    /// The server did not consent to TLS in the dialogue before it (STARTTLS). These are its words, and the
    /// part of the dialogue that they end.
    case noUpgrade([UInt8], at: StartTLS.Part)
    /// The proxy gave no tunnel. The text says why.
    case noTunnel(String)
    /// The server uses TLS, but the handshake failed. The text is OpenSSL's reason.
    case broken(TLSError.ProtocolFailure, reason: String)
    /// The probe was cancelled before this handshake was finished.
    case cancelled

    /// Whether the server answered and rejected this handshake.
    var isRejection: Bool {
        switch self {
        case .alert, .closed, .reset: true
        default: false
        }
    }

    /// Whether the reason may be temporary, so that another attempt may succeed.
    var isTransient: Bool {
        switch self {
        case .notConnected, .silentTCP, .closed, .reset: true
        default: false
        }
    }

    /// Whether the client gave up because the server has not decrypted its hello.
    var isAboutECH: Bool {
        if case .broken(_, let reason) = self { reason.contains("ech required") } else { false }
    }

    /// Classifies a failure with the help of the first bytes that the server sent.
    init(_ error: TransportError, firstBytes: [UInt8]) {
        switch error {
        case .failed(_, .address(let error)): self = .badAddress("\(error)")
        // A server that resets at once has accepted the connection: what would refuse it answers with
        // ECONNREFUSED.
        case .failed(_, .system(let error)) where error.meansReset: self = .reset
        case .failed(_, .system(let error)): self = .notConnected(error)
        case .failed(.connect, .timedOut): self = .silentTCP
        case .failed(_, .timedOut): self = .silentTLS
        case .failed(_, .tls(let error)): self = HandshakeFailure(error, firstBytes: firstBytes)
        case .cancelled: self = .cancelled
        case .failed(_, let reason): self = .broken(.other, reason: "\(reason)")
        }
    }

    /// Classifies why there is no connection: without one to the proxy nothing is known of the server.
    init(connecting error: TransportError, through proxy: TunnelProxy?) {
        self.init(error, firstBytes: [])
        guard let proxy, self != .cancelled else { return }
        let why: String =
            switch self {
            case .notConnected(let error): Words.system(error.code)
            case .badAddress(let why): why
            default: "no answer"
            }
        self = .noTunnel("\(proxy.endpoint): \(why)")
    }

    private init(_ error: TLSError, firstBytes: [UInt8]) {
        switch error {
        case .alertReceived(.closeNotify): self = .closed
        case .alertReceived(let alert): self = .alert(alert)
        case .truncated:
            let other = firstBytes.isEmpty ? nil : OtherProtocol(firstBytes)
            self = other.map(HandshakeFailure.notTLS) ?? .closed
        case .connectionLost: self = .reset
        case .protocolFailure(let kind, let reason, _):
            self = OtherProtocol(firstBytes).map(HandshakeFailure.notTLS) ?? .broken(kind, reason: reason)
        case .noPeerCertificate: self = .broken(.other, reason: "the server sent no certificate")
        default: self = .broken(.other, reason: "\(error)")
        }
    }
}
