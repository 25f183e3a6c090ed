/// Why a connection could not be secured, or stopped being so.
@nonexhaustive
public indirect enum TLSError: Error, Sendable, Hashable {
    /// The server's certificate is not one to trust.
    case certificateRejected(CertificateFault)
    /// The server's certificate is for other names than the one asked for.
    case nameMismatch(expected: String, served: [String])
    /// The server's certificate is one to trust, and no key in its chain is pinned.
    case keyNotPinned(KeyMismatch)
    /// The server showed no certificate.
    case noPeerCertificate
    /// The server ended the connection with this alert (RFC 8446, section 6).
    case alertReceived(number: UInt8, name: String)
    /// The server chose a protocol that was not offered (RFC 7301).
    case unexpectedProtocol(String)
    /// What the server sent is not TLS, or breaks its rules; `code` is OpenSSL's.
    case protocolFailure(reason: String, code: UInt)
    /// The server sent this many messages of TLS's own and more, such as new keys, without any data.
    case tooManyMessages(limit: Int)
    /// The transport broke.
    case connectionLost(errno: Int32)
    /// The stream ended without the alert that says it is complete.
    case truncated
    /// The host of the URL cannot be checked against a certificate.
    case badIdentity(String)
    /// The settings cannot be used: a file that cannot be read, a key that does not fit, no roots.
    case badSettings(String)
    /// The connection was used before its handshake was done, or after it was closed.
    case notOpen
}

/// What was wrong with a certificate.
public struct CertificateFault: Sendable, Hashable {
    /// OpenSSL's `X509_V_ERR_…` number.
    public let code: Int
    /// OpenSSL's words for the code.
    public let reason: String
    /// How far from the server's own certificate (0) the fault was found.
    public let depth: Int
    /// Whose certificate is at fault.
    public let subject: String
    /// The name or address the server's own certificate had to prove.
    public let expected: String
    /// The names and addresses in the server's own certificate, the first few of them.
    public let served: [String]
}

extension TLSError: CustomStringConvertible {
    /// One line for a log, with nothing in it that could break the line.
    public var description: String {
        switch self {
        case .certificateRejected(let fault):
            "certificate rejected: \(fault)"
        case .nameMismatch(let expected, let served):
            "certificate is not for \(printable(expected)) but for \(listed(served))"
        case .keyNotPinned(let mismatch):
            "\(mismatch)"
        case .noPeerCertificate:
            "the server showed no certificate"
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
            "connection lost: \(systemWords(for: errno))"
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

    /// Whether an alert of a server's can only be about the certificate that it wanted from us (RFC 8446, section 6.2).
    private static func isAboutUs(_ alert: UInt8) -> Bool { 42...46 ~= alert || alert == 48 || alert == 116 }

    /// Whether that is how OpenSSL speaks of bytes that are no TLS: `SSL_R_WRONG_VERSION_NUMBER`, in the lower bits
    /// of the code.
    private static func isNoTLS(_ code: UInt) -> Bool { code & 0x7F_FFFF == 267 }
}

extension CertificateFault: CustomStringConvertible {
    /// The reason, the certificate at fault and the names served, in one line.
    public var description: String {
        "\(reason) (X509 \(code) at depth \(depth), \(printable(subject))), "
            + "expected \(printable(expected)), served \(listed(served))"
    }
}

private func listed(_ names: [String]) -> String {
    names.isEmpty ? "no name" : names.map(printable).joined(separator: ", ")
}

/// The text with everything escaped that could break a line, hide, or reorder what follows.
func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isDeceptive) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        if isDeceptive(scalar) {
            result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}

private func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
}
