/// What a server of TLS 1.2 says after a ClientHello when the client is to encrypt its secret with the key of
/// the certificate (RFC 5246, section 7.3): ServerHello, Certificate, ServerHelloDone. No cryptography is
/// needed to come so far, so that it can name cipher suites that no library has any more.
package struct ServerFlight {
    /// The number of the cipher suite.
    package var cipherSuite: UInt16
    /// The certificates in DER, that of the server first.
    package var certificates: [[UInt8]]

    package init(cipherSuite: UInt16, certificates: [[UInt8]]) {
        (self.cipherSuite, self.certificates) = (cipherSuite, certificates)
    }

    /// The bytes, with a random number of their own.
    package var bytes: [UInt8] {
        let random = (0..<32).map { _ in UInt8.random(in: 0...255) }
        // No session to resume, no compression, no extensions.
        let hello = [3, 3] + random + [0] + Self.number(Int(cipherSuite), bytes: 2) + [0]
        let list = certificates.flatMap { Self.number($0.count, bytes: 3) + $0 }
        let messages = [
            Self.message(2, hello),
            Self.message(11, Self.number(list.count, bytes: 3) + list),
            Self.message(14, []),
        ]
        return Self.records(messages.flatMap { $0 })
    }

    /// Whether the first bytes of the client's answer are those of its key exchange, and not an alert.
    package static func isKeyExchange(_ answer: [UInt8]) -> Bool {
        answer.count > 5 && answer[0] == 22 && answer[5] == 16
    }

    private static func message(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] {
        [kind] + number(body.count, bytes: 3) + body
    }

    /// Cuts handshake messages into records, which have at most 2^14 bytes.
    private static func records(_ messages: [UInt8]) -> [UInt8] {
        stride(from: 0, to: messages.count, by: 1 << 14).flatMap { start in
            let piece = messages[start..<min(start + 1 << 14, messages.count)]
            return [22, 3, 3] + number(piece.count, bytes: 2) + piece
        }
    }

    /// A number in network order.
    private static func number(_ value: Int, bytes count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
