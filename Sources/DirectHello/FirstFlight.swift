internal import DirectCore

/// Reads what a client of TLS says first, from the bytes on their way: they may come in any pieces, and the
/// message may be cut into several records (RFC 8446, section 5.1). It changes nothing and checks nothing
/// but the form.
package struct FirstFlight {
    /// What the bytes are, as far as is known.
    package enum Verdict: Equatable, Sendable {
        /// They may be the beginning of a ClientHello.
        case needsMore
        /// They are not: their first byte is none of TLS.
        case other
        /// They begin like TLS, and are no ClientHello, or one that is too long or malformed. A server may
        /// be less strict, and find one in them.
        case unreadable
        /// They are a handshake message, and no ClientHello.
        case otherMessage
        /// They begin with this one.
        case hello(ClientHello)
    }

    private var verdict = Verdict.needsMore
    /// The number of bytes that the last call of ``add(_:)`` has used.
    package private(set) var used = 0
    /// The bytes of the record that is not complete.
    private var record: [UInt8] = []
    /// The bytes of the message, without the records' heads.
    private var message: [UInt8] = []

    /// Whether records that are none of a handshake are passed over, and the bytes of these: those of the one
    /// that is not complete, and of all.
    private let passesOver: Bool
    private var (left, passed) = (0, 0)

    /// Begins to read.
    ///
    /// - Parameter behindHello: Whether the client has sent a ClientHello. Another one may follow, behind
    ///   records that are none of a handshake in the clear.
    package init(behindHello: Bool = false) {
        passesOver = behindHello
    }

    /// Whether bytes of a handshake have come.
    package var hasBegun: Bool { !message.isEmpty || record.first == Self.handshake }

    /// Takes the next bytes, and says what they are. After a verdict they are not looked at.
    package mutating func add(_ bytes: Span<UInt8>) -> Verdict {
        guard verdict == .needsMore else { return verdict }
        used = 0
        for index in bytes.indices {
            used += 1
            guard left == 0 else {
                left -= 1
                continue
            }
            record.append(bytes[index])
            verdict = next()
            if verdict != .needsMore {
                (record, message) = ([], [])
                break
            }
        }
        return verdict
    }

    /// Looks at the record after each byte: what is no TLS is known from its first bytes.
    private mutating func next() -> Verdict {
        let isOther = record[0] != Self.handshake
        switch record.count {
        case 1:
            guard isOther else { return .needsMore }
            guard Self.recordTypes.contains(record[0]) else { return .other }
            // Some servers take alerts and the like before the handshake.
            return passesOver ? .needsMore : .unreadable
        case 2: return isOther || record[1] == 3 ? .needsMore : .unreadable
        case ..<Self.headSize: return .needsMore
        default: break
        }
        let length = Int(record[3]) << 8 | Int(record[4])
        if isOther {
            (record, left, passed) = ([], length, passed + length)
            return passed > Self.mostPassedOver ? .other : .needsMore
        }
        guard length > 0, length <= Self.longestRecord else { return .unreadable }
        guard record.count == Self.headSize + length else { return .needsMore }
        message += record[Self.headSize...]
        record = []
        guard message[0] == Self.clientHello else { return .otherMessage }
        guard message.count <= Self.longestMessage else { return .unreadable }
        guard message.count >= 4 else { return .needsMore }
        let size = Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3])
        guard size <= Self.longestMessage else { return .unreadable }
        guard message.count >= 4 + size else { return .needsMore }
        return ClientHello(body: message[4..<(4 + size)]).map { .hello($0) } ?? .unreadable
    }

    private static let handshake: UInt8 = 22
    /// From ChangeCipherSpec to Heartbeat.
    private static let recordTypes: ClosedRange<UInt8> = 20...24
    private static let clientHello: UInt8 = 1
    private static let headSize = 5
    private static let longestRecord = 1 << 14
    /// Several times what the longest of today have.
    private static let longestMessage = 1 << 15
    /// Several times the data that servers take before the handshake is complete.
    private static let mostPassedOver = 1 << 16
}

/// What a ClientHello says of where the client wants to go (RFC 8446, section 4.1.2).
package struct ClientHello: Equatable, Sendable {
    /// The server's name (RFC 6066, section 3), in lower case; `nil` if it sends none. With Encrypted
    /// Client Hello it is the public one.
    package let serverName: String?
    /// The protocols that it offers (RFC 7301).
    package let protocols: [String]
    /// Whether it has an extension of Encrypted Client Hello (RFC 9849), which may be a pretended one.
    package let hasEncryptedHello: Bool

    /// Reads the body of the message; `nil` if it does not have the form of one.
    init?(body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard reader.take(2) != nil, reader.take(32) != nil, reader.vector(lengthBytes: 1) != nil,
            reader.vector(lengthBytes: 2) != nil, reader.vector(lengthBytes: 1) != nil
        else { return nil }
        var (name, offered, isEncrypted) = (String?.none, [String](), false)
        if !reader.isAtEnd {
            guard let block = reader.vector(lengthBytes: 2), reader.isAtEnd else { return nil }
            var extensions = ByteReader(block)
            guard let all = extensions.pairs() else { return nil }
            for (number, value) in all {
                switch number {
                case 0:
                    guard name == nil, let text = Self.name(value) else { return nil }
                    name = text
                case 16:
                    guard let list = Self.list(value) else { return nil }
                    offered = list
                case 0xFE0D: isEncrypted = true
                default: break
                }
            }
        }
        (serverName, protocols, hasEncryptedHello) = (name, offered, isEncrypted)
    }

    private static func name(_ value: ArraySlice<UInt8>) -> String? {
        var reader = ByteReader(value)
        guard let list = reader.vector(lengthBytes: 2), reader.isAtEnd else { return nil }
        var names = ByteReader(list)
        guard names.number(bytes: 1) == 0, let name = names.vector(lengthBytes: 2), !name.isEmpty,
            names.isAtEnd,
            name.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private static func list(_ value: ArraySlice<UInt8>) -> [String]? {
        var reader = ByteReader(value)
        guard let list = reader.vector(lengthBytes: 2), reader.isAtEnd else { return nil }
        var (protocols, all) = (ByteReader(list), [String]())
        while !protocols.isAtEnd {
            guard let name = protocols.vector(lengthBytes: 1), !name.isEmpty else { return nil }
            all.append(String(decoding: name.map { (0x21...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self))
        }
        return all
    }
}
