internal import DirectCore

/// An error in setting up or using TLS on a connection.
@nonexhaustive
public indirect enum TLSError: Error, Sendable, Hashable {
    /// The server's certificate is not trusted.
    case certificateRejected(CertificateFault)
    /// The server's certificate is for other names than the expected one.
    case nameMismatch(expected: String, served: [String])
    /// The server's certificate is trusted, but no key in its chain is pinned; see ``KeyPins``.
    case keyNotPinned(KeyMismatch)
    /// The server sent no certificate.
    case noPeerCertificate
    /// The server ended the connection with this alert (RFC 8446, section 6).
    case alertReceived(number: UInt8, name: String)
    /// The server chose a protocol that was not offered (RFC 7301).
    case unexpectedProtocol(String)
    /// The bytes from the server are not TLS, or break its rules. `code` is OpenSSL's error code.
    case protocolFailure(reason: String, code: UInt)
    /// The server sent more than this many TLS messages, such as key updates, without any data.
    case tooManyMessages(limit: Int)
    /// The transport failed.
    case connectionLost(errno: Int32)
    /// The stream ended without close_notify, so data may be missing.
    case truncated
    /// The host of the URL cannot be checked against a certificate.
    case badIdentity(String)
    /// The settings cannot be used: a file cannot be read, a key does not match its certificate, or there are no
    /// roots.
    case badSettings(String)
    /// The connection was used before its handshake was complete, or after it was closed.
    case notOpen
}

/// The fault that certificate verification found.
public struct CertificateFault: Sendable, Hashable {
    /// OpenSSL's `X509_V_ERR_…` number.
    public let code: Int
    /// OpenSSL's text for the code, or that of the violated rule.
    public let reason: String
    /// The position in the chain of the certificate at fault; 0 is the server's own.
    public let depth: Int
    /// The subject of the certificate at fault.
    public let subject: String
    /// The name or address that the server's own certificate had to prove.
    public let expected: String
    /// The first few names and addresses in the server's own certificate.
    public let served: [String]
}

extension TLSError: CustomStringConvertible {
    /// The error in one line, for a log. Characters that could break the line are escaped.
    public var description: String {
        switch self {
        case .certificateRejected(let fault):
            "certificate rejected: \(fault)"
        case .nameMismatch(let expected, let served):
            "certificate is not for \(printable(expected)) but for \(listed(served))"
        case .keyNotPinned(let mismatch):
            "\(mismatch)"
        case .noPeerCertificate:
            "the server sent no certificate"
        case .alertReceived(let number, let name):
            "the server sent alert \(number) (\(name))"
                + (Self.isAboutUs(number) ? ", about the client's certificate" : "")
        case .unexpectedProtocol(let name):
            "the server chose the protocol \"\(printable(name))\", which was not offered"
        case .protocolFailure(let reason, let code) where Self.isNoTLS(code):
            "the server does not speak TLS on this port: \(printable(reason)) (\(String(code, radix: 16, uppercase: true)))"
        case .protocolFailure(let reason, let code):
            "TLS failed: \(printable(reason)) (\(String(code, radix: 16, uppercase: true)))"
        case .tooManyMessages(let limit):
            "the server sent more than \(limit) TLS messages without data"
        case .connectionLost(let errno):
            "connection lost: \(errnoText(errno))"
        case .truncated:
            "connection ended without close_notify"
        case .badIdentity(let what):
            what
        case .badSettings(let what):
            "TLS settings cannot be used: \(printable(what))"
        case .notOpen:
            "the TLS connection is not open"
        }
    }

    /// Whether an alert from a server can only concern the client's certificate (RFC 8446, section 6.2).
    private static func isAboutUs(_ alert: UInt8) -> Bool { 42...46 ~= alert || alert == 48 || alert == 116 }

    /// Whether this is OpenSSL's error for bytes that are not TLS: `SSL_R_WRONG_VERSION_NUMBER`, in the lower bits of
    /// the code.
    private static func isNoTLS(_ code: UInt) -> Bool { code & 0x7F_FFFF == 267 }
}

extension CertificateFault: CustomStringConvertible {
    /// The reason, the certificate at fault and the names it has, in one line.
    public var description: String {
        "\(reason) (X509 \(code) at depth \(depth), \(printable(subject))), "
            + "expected \(printable(expected)), served \(listed(served))"
    }
}

private func listed(_ names: [String]) -> String {
    names.isEmpty ? "no name" : names.map(printable).joined(separator: ", ")
}
