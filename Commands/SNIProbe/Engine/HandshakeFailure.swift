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
    /// The server did not consent to TLS in the dialogue before it (STARTTLS). These are its words.
    case noUpgrade([UInt8])
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

    /// Classifies a failure with the help of the first bytes that the server sent.
    init(_ error: TransportError, firstBytes: [UInt8]) {
        switch error {
        case .failed(_, .address(let error)): self = .badAddress("\(error)")
        case .failed(_, .system(let error)): self = .notConnected(error)
        case .failed(.connect, .timedOut): self = .silentTCP
        case .failed(_, .timedOut): self = .silentTLS
        case .failed(_, .tls(let error)): self = HandshakeFailure(error, firstBytes: firstBytes)
        case .cancelled: self = .cancelled
        case .failed(_, let reason): self = .broken(.other, reason: "\(reason)")
        }
    }

    private init(_ error: TLSError, firstBytes: [UInt8]) {
        switch error {
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

/// The protocol of a server without TLS, guessed from its first bytes.
enum OtherProtocol: String, Hashable, Sendable {
    case http = "plain HTTP"
    case ssh = "SSH"
    case smtp = "SMTP or FTP"
    case imap = "IMAP"
    case pop = "POP3"
    case http2 = "HTTP/2 without TLS"
    case unknown = "something else"

    /// Guesses the protocol. Returns `nil` if the bytes may be the start of a TLS record.
    init?(_ bytes: [UInt8]) {
        if bytes.isEmpty || (0x14...0x18).contains(bytes[0]) && (bytes.count < 2 || bytes[1] == 3) {
            return nil
        }
        if bytes.beginsAsHTTP2 {
            self = .http2
            return
        }
        let begins: [(String, OtherProtocol)] = [
            ("HTTP/", .http), ("<", .http), ("SSH-", .ssh), ("220", .smtp), ("* ", .imap), ("+OK", .pop),
        ]
        self = begins.first { bytes.starts(with: $0.0.utf8) }?.1 ?? .unknown
    }
}

extension Collection<UInt8> {
    /// Whether these are the first bytes of an HTTP/2 server: a SETTINGS frame on stream 0 (RFC 9113, section
    /// 3.4).
    var beginsAsHTTP2: Bool {
        let bytes = Array(prefix(9))
        return bytes.count == 9 && bytes[0] == 0 && bytes[3] == 4 && bytes[4] <= 1
            && bytes[5...].allSatisfy { $0 == 0 } && (Int(bytes[1]) << 8 | Int(bytes[2])) % 6 == 0
    }
}
