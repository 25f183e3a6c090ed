internal import DirectHTTP

/// Why a handshake came to nothing.
enum Refusal: Error, Hashable, Sendable {
    /// The address has a zone that this machine does not know.
    case badAddress(String)
    case notConnected(SystemError)
    /// Nothing came back before the deadline: while connecting, and in the handshake.
    case silentTCP
    case silentTLS
    case alert(UInt8)
    /// The server ended the connection in the handshake: with a FIN, and with a RST.
    case closed
    case reset
    case notTLS(OtherProtocol)
    /// It is TLS, but not as it should be; OpenSSL's words.
    case broken(String)
    /// Nobody waited for it any more.
    case dropped

    /// Whether the server has answered, and does not want this handshake.
    var isRefusal: Bool {
        switch self {
        case .alert, .closed, .reset: true
        default: false
        }
    }

    /// Whether another attempt may do better.
    var mayPass: Bool {
        switch self {
        case .notConnected, .silentTCP, .closed, .reset: true
        default: false
        }
    }

    init(_ error: TLSError, firstBytes: [UInt8]) {
        switch error {
        case .alertReceived(let number, _): self = .alert(number)
        case .truncated:
            let other = firstBytes.isEmpty ? nil : OtherProtocol(firstBytes)
            self = other.map(Refusal.notTLS) ?? .closed
        case .connectionLost: self = .reset
        case .protocolFailure(let reason, _):
            self = OtherProtocol(firstBytes).map(Refusal.notTLS) ?? .broken(reason)
        default: self = .broken("\(error)")
        }
    }
}

/// What a server speaks that does not speak TLS, as far as its first bytes tell.
enum OtherProtocol: String, Hashable, Sendable {
    case http = "plain HTTP"
    case ssh = "SSH"
    case smtp = "SMTP or FTP"
    case imap = "IMAP"
    case pop = "POP3"
    case unknown = "something else"

    /// Nothing where the bytes may begin a TLS record.
    init?(_ bytes: [UInt8]) {
        if bytes.isEmpty || (0x14...0x18).contains(bytes[0]) && (bytes.count < 2 || bytes[1] == 3) {
            return nil
        }
        let begins: [(String, OtherProtocol)] = [
            ("HTTP/", .http), ("<", .http), ("SSH-", .ssh), ("220", .smtp), ("* ", .imap), ("+OK", .pop),
        ]
        self = begins.first { bytes.starts(with: $0.0.utf8) }?.1 ?? .unknown
    }
}
