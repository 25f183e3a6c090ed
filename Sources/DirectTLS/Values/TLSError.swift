public import DirectCore

/// An error in setting up or using TLS on a connection.
@nonexhaustive
public indirect enum TLSError: Error, Sendable, Hashable {
    /// The server's certificate is not trusted.
    case certificateRejected(CertificateFault)
    /// The server's certificate is for other names than the expected one.
    case nameMismatch(expected: String, served: [String])
    /// The server's certificate is trusted, but no key in its chain is pinned; see ``KeyPins``.
    case keyNotPinned(KeyMismatch)
    /// The server's certificate is trusted, but ``TLSSettings/verifier`` rejected it.
    case rejectedByVerifier(reason: String)
    /// The server's certificate is trusted, but the OCSP staple that the settings require is missing or says
    /// otherwise.
    case staple(StapledStatus)
    /// The server sent no certificate.
    case noPeerCertificate
    /// The server sent more bytes of certificates than ``TLSSettings/maximumCertificateBytes`` allows.
    case certificatesTooLarge(limit: Int)
    /// The server ended the connection with this alert (RFC 8446, section 6).
    case alertReceived(TLSAlert)
    /// The server chose a protocol that was not offered (RFC 7301).
    case unexpectedProtocol(String)
    /// The bytes from the server are not TLS, or break its rules. `reason` and `code` are OpenSSL's, for
    /// logs.
    case protocolFailure(ProtocolFailure, reason: String, code: UInt)
    /// The server sent more than this many TLS messages, such as key updates, without any data.
    case tooManyMessages(limit: Int)
    /// The transport failed.
    case connectionLost(errno: Int32)
    /// The TLS connection to this proxy failed, inside of which this one ran.
    case proxyConnection(name: String, TLSError)
    /// The stream ended without close_notify, so data may be missing.
    case truncated
    /// The server name was to be encrypted, and cannot be. Nothing was sent.
    case encryptedClientHelloUnavailable(EncryptedClientHello.Obstacle)
    /// The server did not decrypt the server name. Nothing of the request was sent.
    case encryptedClientHelloRejected(ECHPublicName, EncryptedClientHello.Rejection)
    /// The host of the URL cannot be checked against a certificate.
    case uncheckableHost(String)
    /// The settings cannot be used: a file cannot be read, a key does not match its certificate, or there are
    /// no roots.
    case badSettings(String)
    /// The passphrase does not open the client's key, or the encrypted key is damaged: nothing tells the two
    /// apart.
    case wrongPassphrase
    /// The connection was used before its handshake was complete, or after it was closed.
    case notOpen

    /// The kinds of protocol failures.
    @nonexhaustive
    public enum ProtocolFailure: Hashable, Sendable {
        /// The server does not speak TLS on this port.
        case notTLS
        /// Server and client have no version of TLS in common.
        case noCommonVersion
        /// Another violation of TLS.
        case other
    }
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
        case .rejectedByVerifier(let reason):
            "certificate rejected by the program's verifier: \(printable(reason))"
        case .staple(let status):
            "a good OCSP staple is required: \(status)"
        case .noPeerCertificate:
            "the server sent no certificate"
        case .certificatesTooLarge(let limit):
            "the server sent more than \(limit) bytes of certificates, of which each counts as \(smallestCertificate) at least"
        case .alertReceived(let alert):
            "the server sent alert \(alert)\(alert.remark)"
        case .unexpectedProtocol(let name):
            "the server chose the protocol \"\(printable(name))\", which was not offered"
        case .protocolFailure(.notTLS, let reason, let code):
            "the server does not speak TLS on this port: \(printable(reason)) (\(String(code, radix: 16, uppercase: true)))"
        case .protocolFailure(_, let reason, let code):
            "TLS failed: \(printable(reason)) (\(String(code, radix: 16, uppercase: true)))"
        case .tooManyMessages(let limit):
            "the server sent more than \(limit) TLS messages without data"
        case .connectionLost(let errno):
            "connection lost: \(errnoText(errno))"
        case .proxyConnection(let name, let error):
            "TLS to the proxy \(printable(name)): \(error)"
        case .truncated:
            "connection ended without close_notify"
        case .encryptedClientHelloUnavailable(let obstacle):
            "the server name cannot be encrypted: \(obstacle)"
        case .encryptedClientHelloRejected(let name, let rejection):
            "the server with the public name \(name) did not decrypt the client hello: \(rejection)"
        case .uncheckableHost(let what):
            what
        case .badSettings(let what):
            "TLS settings cannot be used: \(printable(what))"
        case .wrongPassphrase:
            "the passphrase does not open the client's key"
        case .notOpen:
            "the TLS connection is not open"
        }
    }
}

/// Returns the names in one line.
func listed(_ names: [String]) -> String {
    names.isEmpty ? "no name" : names.map(printable).joined(separator: ", ")
}
